"""Plugins that misbehave while they are used: the file, or the request, fails; the memory is as it was."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from openmind import open_memory
from openmind.adapters.home import Home
from openmind.adapters.toml_config import ConfigFile
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import PluginError, UsageError
from openmind.domain.models import EmbedderIdentity, EmbeddingRole
from openmind.domain.vectors import Vectors
from openmind.plugins.manager import Plugins, load_plugins
from openmind.ports.extractor import Blob, ExtractorInfo
from openmind.ports.storage import Storage
from openmind.testing.fakes.models import FakeEmbeddings, FakeProvider


class Scripted:
    def __init__(self, script: Callable[[], Iterator[object]]) -> None:
        self.script = script

    def extract(self, blob: Blob) -> Iterator[object]:
        yield from self.script()


def raising(error: BaseException) -> Iterator[object]:
    yield Segment(text="before")
    raise error


WAYS: dict[str, Callable[[], Iterator[object]]] = {
    "raises": lambda: raising(RuntimeError("boom")),
    "exits": lambda: raising(SystemExit(3)),
    "panics": lambda: raising(BaseException("panicked")),
    "recurses": lambda: raising(RecursionError("too deep")),
    "runs out of memory": lambda: raising(MemoryError()),
    "yields text": lambda: iter(["just text"]),
    "yields nothing": lambda: iter([]),
    "yields None": lambda: iter([None]),
    "a segment of no text": lambda: iter([Segment(text=None)]),  # type: ignore[arg-type]
    "a segment of bytes": lambda: iter([Segment(text=b"bytes")]),  # type: ignore[arg-type]
    "a kind of its own": lambda: iter([Segment(text="a", kind="nonsense")]),
    "half a character": lambda: iter([Segment(text="half \ud800 a character")]),
    "nulls": lambda: iter([Segment(text="null \x00 null")]),
    "a place of words": lambda: iter([Segment(text="a", locator=(Place(kind="page", start="one"),))]),  # type: ignore[arg-type]
    "a place before the file": lambda: iter([Segment(text="a", locator=(Place(kind="lines", start=-5),))]),
    "a place beyond all files": lambda: iter([Segment(text="a", locator=(Place(kind="lines", start=10**30),))]),
    "a locator of text": lambda: iter([Segment(text="a", locator="page 1")]),  # type: ignore[arg-type]
    "metadata that is no JSON": lambda: iter([Segment(text="a"), DocumentFacts(metadata={"a": {1, 2}})]),
    "metadata of NaN": lambda: iter([Segment(text="a"), DocumentFacts(metadata={"a": float("nan")})]),
    "a title of numbers": lambda: iter([Segment(text="a"), DocumentFacts(title=7)]),  # type: ignore[arg-type]
    "a reason of its own": lambda: iter([Segment(text="a"), DocumentFacts(reason="because")]),  # type: ignore[arg-type]
}


def with_extractor(script: Callable[[], Iterator[object]]) -> Plugins:
    plugins = load_plugins()
    info = ExtractorInfo(name="odd", version=1, extensions=frozenset({".odd"}), isolated=False)
    plugins.extractors.add(info, lambda tools: Scripted(script))  # type: ignore[arg-type, return-value]
    return plugins


@pytest.mark.parametrize("way", WAYS)
def test_an_extractor_that_misbehaves_costs_its_file_alone(way: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text("The heron stands in the pond.")
    (notes / "b.odd").write_text("odd")
    (notes / "c.txt").write_text("The otter swims in the river.")

    with open_memory(tmp_path / "home", plugins=with_extractor(WAYS[way])) as memory:
        memory.sources.add(str(notes))
        tally = memory.index().run.tally

        assert tally.indexed + tally.skipped + tally.failed == 3
        assert memory.search("heron").hits[0].file_name == "a.txt"
        assert memory.search("otter").hits[0].file_name == "c.txt"
        assert memory.status().files == 3
        assert memory.index().run.tally.indexed == 0


def test_a_storage_that_cannot_be_made_names_its_package(tmp_path: Path) -> None:
    def panics(home: Path) -> Storage:
        raise BaseException("no attic")

    plugins = load_plugins()
    plugins.stores.let_in("attic", "openmind-attic")
    plugins.stores.add("attic", panics)
    home = tmp_path / "home"
    Home.at(home).create()
    ConfigFile(home / "config.toml").update({("storage", "name"): "attic"})

    told = "store “attic” of openmind-attic cannot be opened: BaseException: no attic"
    with pytest.raises(PluginError, match=told), open_memory(home, plugins=plugins):
        pass


def test_an_extractor_of_another_package_runs_where_it_can_be_ended_whatever_it_says(tmp_path: Path) -> None:
    plugins = with_extractor(lambda: iter([]))
    plugins.extractors.let_in("acme", "openmind-acme")
    hasty = ExtractorInfo(name="hasty", version=1, extensions=frozenset({".hasty"}), isolated=False)
    plugins.extractors.add(hasty, lambda tools: Scripted(lambda: iter([])))  # type: ignore[arg-type, return-value]

    with open_memory(tmp_path / "home", plugins=plugins) as memory:
        isolated = {info.name: info.isolated for info in memory.indexing.means.formats.by_extension.values()}

    assert isolated["hasty"]
    assert not isolated["odd"]  # this program's own
    assert not isolated["markdown"]


IDENTITY = EmbedderIdentity(provider="acme", model="m", dimension=8)


class Wrong(FakeEmbeddings):
    """Gives as many vectors as it is told to, of numbers that are none."""

    def embed(self, texts: Sequence[str], *, role: EmbeddingRole) -> Vectors:
        super().embed(texts, role=role)
        return Vectors.from_rows([[float("nan")] * self.identity.dimension] * len(texts), self.identity.dimension)


@pytest.mark.parametrize("in_process", [True, False])
def test_a_provider_that_gives_nonsense_leaves_words_and_says_why(tmp_path: Path, in_process: bool) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text("The heron stands in the pond.")
    plugins = load_plugins()
    embeddings = Wrong(identity=IDENTITY, in_process=in_process)
    plugins.providers.let_in("acme", "openmind-acme")
    plugins.providers.add("acme", lambda _: FakeProvider(embeddings=embeddings))
    home = tmp_path / "home"
    with open_memory(home):
        pass
    (home / "config.toml").write_text('[provider]\nname = "acme"\n[models]\nembedding_model = "m"\n')

    with open_memory(home, plugins=plugins) as memory:
        memory.sources.add(str(notes))
        report = memory.index()

        assert any("openmind-acme is broken" in notice for notice in report.notices), report
        assert not any("follow with the next `openmind index`" in notice for notice in report.notices)
        assert "Update that package" in report.run.error
        found = memory.search("heron")
        assert [hit.file_name for hit in found.hits] == ["a.txt"]
        assert found.degraded


class Faceless(FakeEmbeddings):
    """Does not say what it is, or what it takes, as long as its package is broken."""

    broken = True

    @property
    def identity(self) -> EmbedderIdentity:
        if self.broken:
            raise KeyError("model")
        return IDENTITY

    @identity.setter
    def identity(self, value: EmbedderIdentity) -> None:
        pass


class Narrow(FakeEmbeddings):
    """Takes no text at all, as long as its package is broken."""

    broken = True

    @property
    def max_input_chars(self) -> int:
        return -1 if self.broken else 1_000

    @max_input_chars.setter
    def max_input_chars(self, value: int) -> None:
        pass


@pytest.mark.parametrize("kind", [Faceless, Narrow])
def test_a_search_says_that_a_broken_provider_is_not_in_use_until_it_is_mended(
    tmp_path: Path, kind: type[Faceless] | type[Narrow]
) -> None:
    notes, home = tmp_path / "notes", tmp_path / "home"
    notes.mkdir()
    (notes / "a.txt").write_text("The heron stands in the pond.")
    plugins, embeddings = load_plugins(), kind(identity=IDENTITY)
    plugins.providers.let_in("acme", "openmind-acme")
    plugins.providers.add("acme", lambda _: FakeProvider(embeddings=embeddings))
    with open_memory(home):
        pass
    (home / "config.toml").write_text('[provider]\nname = "acme"\n[models]\nembedding_model = "m"\n')

    with open_memory(home, plugins=plugins) as memory:
        memory.sources.add(str(notes))
        report = memory.index()
        found = memory.search("heron")

        assert [hit.file_name for hit in found.hits] == ["a.txt"]
        assert found.degraded
        assert "the provider “acme” of the package openmind-acme is broken" in found.degraded_reason.replace(
            "The", "the"
        )
        assert "Update that package, or choose another provider: `openmind setup`." in found.degraded_reason
        assert report.needs_person  # a job that waited would wait for the code that it has loaded

        embeddings.broken = False
        memory.index()

        assert not memory.search("heron").degraded


def test_an_embedder_of_another_package_that_runs_in_process_makes_its_own_vectors(tmp_path: Path) -> None:
    """Even where its dimension is that of the embedder that comes with OpenMind."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text("The heron stands in the pond.")
    own = FakeEmbeddings(identity=EmbedderIdentity(provider="own", model="m", dimension=256), in_process=True)

    with open_memory(tmp_path / "home", embedder=own) as memory:
        memory.sources.add(str(notes))
        memory.index()

        assert own.embedded == ["The heron stands in the pond."]
        [hit] = memory.search("The heron stands in the pond.").hits
        assert hit.explanation is not None
        assert hit.explanation.cosine == pytest.approx(1, abs=1e-3)


def test_what_a_missing_extractor_read_stays_until_a_person_leaves_the_file_out(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text("The heron stands in the pond.")
    for name in ("b.odd", "c.odd", "d.odd"):
        (notes / name).write_text(name)
    home = tmp_path / "home"
    with open_memory(home, plugins=with_extractor(lambda: iter([Segment(text="a bittern booms")]))) as memory:
        memory.sources.add(str(notes))
        assert memory.index().run.tally.indexed == 4

    (notes / "c.odd").unlink()
    (notes / ".openmindignore").write_text("d.odd")
    with open_memory(home) as memory:  # the plugin was uninstalled, blocked or broken
        report = memory.index()

        assert (report.run.tally.removed, report.run.tally.already_indexed, report.run.tally.total) == (2, 2, 2)
        told = f"1 file of {notes} was read by the extractor “odd”, which is missing, blocked or broken now"
        assert any(notice.startswith(told) for notice in report.notices), report.notices
        assert [hit.file_name for hit in memory.search("bittern").hits] == ["b.odd"]


def test_files_that_seem_gone_and_are_there_are_kept_however_many_and_the_others_are_forgotten(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("openmind.application.indexing.plan.PAGE", 2)
    notes = tmp_path / "notes"
    names = ["a.txt", "b.odd", "c.odd", "d/e.odd", "d/f.txt", "d/g.odd", "d/h.odd", "z.txt"]
    for name in names:
        (notes / name).parent.mkdir(exist_ok=True, parents=True)
        (notes / name).write_text(name)
    home = tmp_path / "home"
    with open_memory(home, plugins=with_extractor(lambda: iter([Segment(text="a bittern booms")]))) as memory:
        memory.sources.add(str(notes))
        memory.index()

    for name in ("a.txt", "d/f.txt", "d/g.odd"):
        (notes / name).unlink()
    with open_memory(home) as memory:
        report = memory.index()

        assert (report.run.tally.removed, report.run.tally.already_indexed) == (3, 5)
        assert [file.path_bytes for file in memory.documents.list()] == [
            os.fsencode(notes / name) for name in ("b.odd", "c.odd", "d/e.odd", "d/h.odd", "z.txt")
        ]


def test_an_own_embedder_with_the_name_of_an_installed_provider_is_told_to_take_another(tmp_path: Path) -> None:
    own = FakeEmbeddings(identity=EmbedderIdentity(provider="lmstudio", model="mine", dimension=64))

    with pytest.raises(UsageError, match="“lmstudio”, which is the name of a provider of openmind-lmstudio") as caught:
        open_memory(tmp_path / "home", embedder=own).__enter__()

    assert "another name" in caught.value.hint


def test_the_same_plugins_may_serve_with_an_own_embedder_again(tmp_path: Path) -> None:
    plugins, own = load_plugins(), FakeEmbeddings()

    for _ in range(2):
        with open_memory(tmp_path / "home", plugins=plugins, embedder=own) as memory:
            assert memory.models.configured_name == own.identity.provider


class Unclosable:
    """Storage that works, and raises when it was closed."""

    def __init__(self, inner: Storage) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def close(self) -> None:
        self._inner.close()
        raise RuntimeError("the door is stuck")


def test_storage_that_cannot_be_closed_costs_no_result_and_stands_in_the_log(tmp_path: Path) -> None:
    home, notes = tmp_path / "home", tmp_path / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text("The heron stands in the pond.")
    with open_memory(home):
        pass
    (home / "config.toml").write_text('[storage]\nname = "acme"\n')
    plugins = load_plugins()
    plugins.stores.let_in("acme", "openmind-acme")
    local = plugins.stores.find("local")
    plugins.stores.add("acme", lambda home: Unclosable(local(home)))

    with open_memory(home, plugins=plugins) as memory:
        memory.sources.add(str(notes))
        memory.index()
        found = memory.search("heron")

    assert [hit.file_name for hit in found.hits] == ["a.txt"]
    assert (
        '"storage.not_closed", "store": "acme", "raised": "RuntimeError"'
        in (home / "logs" / "openmind.log").read_text()
    )
