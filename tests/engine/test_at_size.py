"""A memory of twelve thousand passages, half way into another embedder, with unfolded rows and garbage in its tables.

Small fixtures hide what goes wrong here: pages, portions, segments, ranges of dead generations.
"""

import re
import zlib
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest
from openmind import open_memory
from openmind.adapters.home import Home
from openmind.domain.control import Wish
from openmind.domain.errors import StoreError
from openmind.domain.index import TableState
from openmind.domain.models import EmbedderIdentity
from openmind.domain.vectors import Vectors
from openmind.plugins.manager import load_plugins
from openmind.plugins.registries import StoreRegistry
from openmind.testing.fakes.models import FakeEmbeddings, FakeProvider

FILES, LINES = 300, 42
EDITED = range(0, FILES, 5)


class Cheap(FakeEmbeddings):
    """A server's embedder that costs next to nothing."""

    def embed(self, texts: Sequence[str], *, role: str) -> Vectors:
        return Vectors.from_rows(map(self._vector, texts), self.identity.dimension)

    def _vector(self, text: str) -> list[float]:
        bits = zlib.crc32(text.encode())
        row = [1.0 + (bits >> at & 1) for at in range(self.identity.dimension)]
        length = sum(each * each for each in row) ** 0.5
        return [each / length for each in row]


@attrs.define
class BrokenFold:
    """A chunk store whose folds fail once it is told so: rows are then written and stay outside the index."""

    inner: object
    breaks: list[bool]

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    def fold(self, table: str) -> None:
        if self.breaks:
            raise StoreError("the disk went away")
        self.inner.fold(table)


@attrs.define
class Storage:
    """A storage with that chunk store."""

    inner: object
    breaks: list[bool]

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    @property
    def chunks(self):
        return BrokenFold(self.inner.chunks, self.breaks)


@attrs.define
class StopAfter:
    """A control that wants a stop once the filling table holds so many passages."""

    memory: object
    rows: int

    def wish(self) -> Wish:
        with self.memory.storage.catalog.reading() as snapshot:
            filling = [table for table in snapshot.tables() if table.state is TableState.FILLING]
            held = sum(rows for _, _, rows in snapshot.filled_generations(filling[0].id)) if filling else 0
        return Wish.STOP if held >= self.rows else Wish.GO

    def rest(self) -> None:
        raise AssertionError("nobody pauses")


def text(file: int, version: int = 0) -> str:
    """Paragraphs that are a passage each, of few words, which cost little."""
    filler = " ".join([75 * letter for letter in "abcdefghijk"])
    return "\n\n".join(f"only{file}x{line} v{version} everywhere {filler}." for line in range(LINES))


@attrs.define
class World:
    """The home and its folder."""

    base: Path
    breaks: list[bool] = attrs.field(factory=list)
    versions: dict[int, int] = attrs.field(factory=dict)

    def write(self, file: int, version: int) -> None:
        self.versions[file] = version
        path = self.base / "notes" / f"folder-{file % 7}" / f"{file}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(file, version))

    @contextmanager
    def memory(self, model: str, dimension: int):
        home = self.base / "home"
        Home(home).create()
        (home / "config.toml").write_text(f'[provider]\nname = "fake"\n[models]\nembedding_model = "{model}"\n')
        plugins, provider, stores = load_plugins(), FakeProvider(), StoreRegistry()
        identity = EmbedderIdentity(provider="fake", model=model, dimension=dimension)
        provider.embeddings = Cheap(identity=identity)
        plugins.providers.add("fake", lambda _: provider)
        local = plugins.stores.find("local")
        stores.add("local", lambda place: Storage(local(place), self.breaks))
        with open_memory(home, plugins=attrs.evolve(plugins, stores=stores)) as memory:
            yield memory


def seen(memory, file: int, line: int) -> set[tuple[str, str]]:
    """The file names, and the versions, of the passages that hold a line's own word."""
    own = f"only{file}x{line}"
    hits = memory.search(own, limit=50, per_file=0).hits
    return {(hit.file_name, version) for hit in hits for version in re.findall(rf"\b{own} (v\d)", hit.text)}


def wrong(memory, versions: dict[int, int]) -> list[object]:
    """What is not found as it should be, of a sample of all lines."""
    asked = [(file, (file * 5) % LINES) for file in range(0, FILES, 12)] + [(file, LINES - 1) for file in EDITED[::10]]
    return [
        (file, line, found)
        for file, line in asked
        if (found := seen(memory, file, line)) != {(f"{file}.txt", f"v{versions[file]}")}
    ]


@pytest.mark.timeout(1_900)
def test_nothing_is_lost_doubled_or_mixed_in_a_memory_that_is_large_and_in_disorder(tmp_path: Path) -> None:
    world = World(tmp_path)
    for file in range(FILES):
        world.write(file, 0)
    with world.memory("first", 8) as memory:
        memory.sources.add(tmp_path / "notes")
        memory.index()
        assert memory.status().indexed_chunks == FILES * LINES >= 12_000
    before = dict(world.versions)

    with world.memory("second", 12) as memory:
        memory.index(control=StopAfter(memory, FILES * LINES // 2))
        for file in EDITED:
            world.write(file, 1)
        world.breaks.append(True)
        with pytest.raises(StoreError, match="disk went away"):
            memory.index()

        with memory.storage.catalog.reading() as snapshot:
            states = [table.state for table in snapshot.tables()]
            garbage = snapshot.garbage(died_before=float("inf"), limit=10_000)
        health = memory.storage.chunks.health()
        assert states == [TableState.LIVE, TableState.FILLING]
        assert len(garbage) >= len(EDITED)
        assert health.unindexed_rows["chunks"] > 0
        assert wrong(memory, before) == []

        world.breaks.clear()
        memory.index()

    with world.memory("second", 12) as memory:
        assert wrong(memory, world.versions) == []
        assert not memory.search("only7x7").degraded
        folder = str(tmp_path / "notes" / "folder-3")
        narrowed = memory.search("everywhere", folder=folder, limit=50, per_file=1)
        assert len(narrowed.hits) == len(range(3, FILES, 7))
        with memory.storage.catalog.reading() as snapshot:
            [live] = snapshot.tables()
            expected = list(snapshot.live_generations())
            dead = {entry.generation for entry in snapshot.garbage(died_before=float("inf"), limit=10_000)}
        rows = [each for each in memory.storage.chunks.counts(live.name) if each[0] not in dead]
        assert rows == expected
        assert sum(count for *_, count in rows) == FILES * LINES
