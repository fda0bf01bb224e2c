"""While something slow goes on, no snapshot of the catalog is open: SQLite's log would grow as long as it is."""

from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest
from openmind import open_memory
from openmind.adapters.home import Home
from openmind.domain.documents import ExtractedDocument, Segment
from openmind.plugins.manager import load_plugins
from openmind.plugins.registries import StoreRegistry
from openmind.ports.isolated_reader import ReadOutcome
from openmind.testing.fakes.models import FakeEmbeddings, FakeProvider


@attrs.define
class CountingCatalog:
    """A catalog that knows how many of its snapshots are open."""

    inner: object
    opened: list[object]

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    @contextmanager
    def reading(self):
        with self.inner.reading() as snapshot:
            self.opened.append(snapshot)
            yield snapshot
        self.opened.remove(snapshot)


@attrs.define
class Storage:
    """A storage with that catalog."""

    inner: object
    opened: list[object]

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    @property
    def catalog(self):
        return CountingCatalog(self.inner.catalog, self.opened)


@attrs.define
class SlowReader:
    """Reads instead of worker processes, and notes how many snapshots are open meanwhile."""

    opened: list[object]
    seen: list[int] = attrs.field(factory=list)

    def read(self, requests, *, while_waiting, recognised):
        for request in requests:
            self.seen.append(len(self.opened))
            document = ExtractedDocument(segments=(Segment(text=f"chrysanthemum {request.ticket}"),))
            yield ReadOutcome(ticket=request.ticket, document=document)

    def close(self) -> None:
        pass


@pytest.mark.parametrize("later", [False, True])
def test_no_snapshot_is_open_while_files_are_read_or_a_server_embeds(tmp_path: Path, later: bool) -> None:
    opened: list[object] = []
    seen: list[int] = []
    reader = SlowReader(opened)

    class SlowEmbeddings(FakeEmbeddings):
        def embed(self, texts, *, role):
            seen.append(len(opened))
            return super().embed(texts, role=role)

    home = tmp_path / "home"
    Home(home).create()
    (home / "config.toml").write_text('[provider]\nname = "fake"\n[models]\nembedding_model = "fake-embedder"\n')
    for name in ("a.pdf", "b.pdf", "c.txt", "d.txt"):
        path = tmp_path / "notes" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{name} in the garden")
    plugins, provider, stores = load_plugins(), FakeProvider(), StoreRegistry()
    provider.embeddings = SlowEmbeddings()
    plugins.providers.add("fake", lambda _: provider)
    local = plugins.stores.find("local")
    stores.add("local", lambda place: Storage(local(place), opened))

    with open_memory(home, plugins=attrs.evolve(plugins, stores=stores)) as memory:
        memory.sources.add(tmp_path / "notes")
        indexing = attrs.evolve(memory.indexing, means=attrs.evolve(memory.indexing.means, reader=lambda: reader))
        indexing.run()
        if later:
            (tmp_path / "notes" / "e.txt").write_text("one more in the garden")
            (tmp_path / "notes" / "f.pdf").write_text("and one more")
            indexing.run()

    assert len(reader.seen) == (3 if later else 2)
    assert set(reader.seen) == {0}
    assert seen
    assert set(seen) == {0}
