"""What happens to the stores between runs, and what the next run makes of it."""

import os
import random
import shutil

import attrs
import pytest
from openmind.adapters import spawning
from openmind.adapters.home import Home
from openmind.bootstrap import preparation
from openmind.domain.errors import CatalogDamaged
from openmind.domain.search import SearchState
from openmind.ports.catalog import Catalog
from openmind.ports.chunk_store import ChunkStore
from openmind.ports.storage import Storage


@pytest.fixture
def indexed(world, memory):
    for number in range(30):
        path = world.write(f"{number}.txt", f"heliotrope number{number} in the garden")
        os.utime(path, (1e9, 1e9))  # what was changed within two seconds is hashed again
    memory.index()
    return memory


def all_found(memory) -> bool:
    return all(
        [hit.file_name for hit in memory.search(f"number{number}").hits][:1] == [f"{number}.txt"]
        for number in range(30)
    )


def test_a_deleted_table_is_made_again_without_reading_files(world, indexed) -> None:
    shutil.rmtree(world.home / "lancedb")

    result = indexed.search("number7")
    assert result.degraded or result.state is SearchState.NOTHING_INDEXED

    report = indexed.index()

    assert report.run.tally.extracted == 0
    assert report.notices
    assert all_found(indexed)


def test_kept_text_goes_through_worker_processes_however_little_a_pipe_holds(world, monkeypatch) -> None:
    monkeypatch.setattr(spawning, "PIPE_BYTES", 4_096)
    chance = random.Random(7)
    for number in range(144):
        world.write(f"{number}.txt", f"number{number} {chance.randbytes(1_500).hex(' ', 4)}")
    Home(world.home).create()
    (world.home / "config.toml").write_text("[indexing]\nworkers = 2\n", encoding="utf-8")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        shutil.rmtree(world.home / "lancedb")
        monkeypatch.setattr(preparation, "WORKERS_PAY_OFF", 1)

        report = memory.index()

        assert report.run.tally.extracted == 0
        assert [hit.file_name for hit in memory.search("number143").hits][:1] == ["143.txt"]


def test_a_lost_manifest_is_noticed_and_what_is_missing_is_made_again(world, indexed) -> None:
    manifests = sorted((world.home / "lancedb" / "chunks.lance" / "_versions").glob("*.manifest"))
    newest = min(manifests, key=lambda path: path.name)  # Lance counts its names down
    newest.unlink()

    indexed.index()

    assert all_found(indexed)


def test_a_truncated_data_file_is_noticed_and_made_again(world, indexed) -> None:
    for path in (world.home / "lancedb" / "chunks.lance" / "data").glob("*.lance"):
        path.write_bytes(b"")

    report = indexed.index()

    assert report.notices
    assert report.run.tally.extracted == 0
    assert all_found(indexed)


def test_rows_that_nobody_knows_are_swept_after_an_unclean_end(world, indexed) -> None:
    store = indexed.storage.chunks
    catalog = indexed.storage.catalog
    with catalog.reading() as snapshot:
        [table] = snapshot.tables()
        [(generation, _, _), *_] = snapshot.live_generations()
    [row] = list(store.read_generations(table.name, [generation]))
    import attrs

    with catalog.writing() as session:
        [begun] = session.begin([table.id], 1)
    store.add(table.name, [attrs.evolve(row, generation=begun, text="half done")])

    indexed.index()

    assert begun not in {generation for generation, *_ in store.counts(table.name)}
    assert all_found(indexed)


def test_a_clean_run_after_a_clean_run_looks_at_no_row(world, indexed, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the rows were counted")

    monkeypatch.setattr(type(indexed.storage.chunks), "counts", refuse)

    assert indexed.index().notices == ()


def test_lost_passages_come_back_while_the_folder_is_away(world, indexed) -> None:
    world.notes.rename(world.notes.with_name("unplugged"))
    shutil.rmtree(world.home / "lancedb")

    report = indexed.index()

    assert all_found(indexed)
    assert report.run.tally.hashed == 0


# Damage that no manifest tells of


def lance_files(world, pattern: str) -> list:
    found = [path for path in (world.home / "lancedb" / "chunks.lance").glob(pattern) if path.is_file()]
    assert found
    return found


def cut(path) -> None:
    path.write_bytes(path.read_bytes()[:20])


def blank(path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


DAMAGE = {
    "the folder of indexes is lost": lambda world: shutil.rmtree(world.home / "lancedb" / "chunks.lance" / "_indices"),
    "the postings are cut short": lambda world: [cut(path) for path in lance_files(world, "_indices/*/part_0_inv*")],
    "the postings are blank": lambda world: [blank(path) for path in lance_files(world, "_indices/*/part_0_inv*")],
    "an index of a filter is lost": lambda world: [path.unlink() for path in lance_files(world, "_indices/*/page_*")],
    "the rows are blank": lambda world: [blank(path) for path in lance_files(world, "data/*")],
    "the rows are cut short": lambda world: [cut(path) for path in lance_files(world, "data/*")],
    "the rows are lost": lambda world: [path.unlink() for path in lance_files(world, "data/*")],
}
SENTENCES = {
    "",
    "Found by meaning only: the index of words is damaged; the next `openmind index` mends it.",
    "Found by words only: the index of vectors is damaged; the next `openmind index` mends it.",
    "Nothing can be found: the index is damaged; the next `openmind index` mends it.",
    "The index cannot be read; `openmind index` makes it again from the kept text, or says what is in its way.",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_every_damage_is_told_by_status_and_mended_by_the_next_run_without_reading_files(
    world, indexed, damage: str
) -> None:
    before = [hit.path for number in range(30) for hit in indexed.search(f"number{number}").hits]
    assert indexed.status().rebuilding == ""
    DAMAGE[damage](world)

    with world.memory() as memory:  # another process, which has nothing in memory
        assert memory.status().rebuilding == "The index is damaged; the next `openmind index` mends it."
        assert memory.search("number7").degraded_reason in SENTENCES
        report = memory.index()
        assert report.notices
        assert report.run.tally.hashed == report.run.tally.extracted == 0
        assert memory.status().rebuilding == ""

    with world.memory() as memory:
        assert all_found(memory)
        assert not memory.search("number7").degraded
        assert [hit.path for number in range(30) for hit in memory.search(f"number{number}").hits] == before
        assert memory.index().notices == ()


@attrs.define
class Watched:
    """A storage that counts how often its index is looked at."""

    storage: Storage
    looks: int = 0

    @property
    def catalog(self) -> Catalog:
        return self.storage.catalog

    @property
    def chunks(self) -> ChunkStore:
        self.looks += 1
        return self.storage.chunks

    def size_bytes(self) -> int:
        return 0


def test_status_looks_at_the_files_of_the_index_only_while_nobody_writes_them(world, indexed) -> None:
    world.write("new.txt", "a heliotrope that is new")
    storage = Watched(indexed.storage)
    watching = attrs.evolve(indexed, storage=storage)
    seen = []

    def look(_: object) -> None:
        before = storage.looks
        seen.append((watching.status().indexing_state is not None, storage.looks - before))

    indexed.index(progress=look)
    look(None)

    assert set(seen) == {(True, 0), (False, 1)}


def test_a_search_that_meets_damage_which_left_no_trace_makes_the_next_run_look_closely(world, indexed) -> None:
    for path in lance_files(world, "_indices/*/part_0_inv*"):
        stat = path.stat()
        blank(path)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    with world.memory() as memory:
        assert memory.status().rebuilding == ""
        assert memory.search("number7").degraded
        assert memory.status().rebuilding != ""
        assert memory.index().notices == ("Parts of the index were damaged and have been made anew.",)

    with world.memory() as memory:
        assert all_found(memory)
        assert not memory.search("number7").degraded
        assert memory.index().notices == ()


def scramble(memory) -> None:
    """Store rows that the engine reads and that nobody understands, as a bad disk or a bad program may leave them."""
    with memory.storage.catalog.reading() as snapshot:
        [table] = snapshot.tables()
        generations = [generation for generation, *_ in snapshot.live_generations()]
    chunks = memory.storage.chunks
    rows = [attrs.evolve(row, metadata="{not json") for row in chunks.read_generations(table.name, generations)]
    chunks.delete(table.name, generations)
    chunks.add(table.name, rows)
    chunks.fold(table.name)


@pytest.mark.parametrize("mend", [lambda memory: memory.index(), lambda memory: memory.maintenance.repair()])
def test_passages_that_make_no_sense_are_made_again_from_the_kept_text(world, indexed, mend) -> None:
    scramble(indexed)
    assert indexed.search("number7").hits == ()

    mend(indexed)

    assert all_found(indexed)
    assert indexed.maintenance.examine().findings == ()
    assert indexed.maintenance.repair().done == ()


def test_what_was_moved_aside_does_not_outlive_the_run_or_the_removal_that_follows(world, indexed) -> None:
    world.write("secret.txt", "the word chartreuse is only here")
    indexed.index()
    for path in lance_files(world, "data/*"):
        blank(path)
    [source] = indexed.sources.list()

    indexed.sources.remove(source.id)

    assert list((world.home / "lancedb").glob("*.broken-*")) == []
    assert not any(b"chartreuse" in path.read_bytes() for path in world.home.rglob("*") if path.is_file())


def test_a_damaged_catalog_is_not_taken_for_a_damaged_index(world, indexed) -> None:
    catalog = world.home / "openmind.sqlite"
    with catalog.open("r+b") as file:
        file.seek(4_096)
        file.write(b"\x5a" * (catalog.stat().st_size - 4_096))

    for ask in (lambda: indexed.search("number7"), lambda: indexed.ask("number7"), indexed.index):
        with pytest.raises(CatalogDamaged, match="is damaged"):
            ask()


@pytest.mark.parametrize("lost", ["rows of a commit", "the newest versions"])
def test_a_server_embeds_nothing_again_whose_vector_can_still_be_read(world, memory, lost: str) -> None:
    embedder = world.use()
    table = world.home / "lancedb" / "chunks.lance"
    for first in (0, 15):
        former = set(table.glob("_versions/*.manifest"))
        for number in range(first, first + 15):
            os.utime(world.write(f"{number}.txt", f"heliotrope number{number} in the garden"), (1e9, 1e9))
        with world.memory() as opened:
            opened.index()
    embedder.embedded.clear()
    if lost == "rows of a commit":
        max((table / "data").glob("*.lance"), key=lambda path: path.stat().st_mtime_ns).write_bytes(b"")
    else:
        for manifest in set(table.glob("_versions/*.manifest")) - former:
            manifest.unlink()

    with world.memory() as opened:
        report = opened.index()

        assert report.notices
        assert sorted(embedder.embedded) == sorted(
            f"heliotrope number{number} in the garden" for number in range(15, 30) if lost == "rows of a commit"
        )
        assert all_found(opened)
        with opened.storage.catalog.reading() as snapshot:
            assert not snapshot.counts().missing_vectors


def test_removing_another_source_from_a_damaged_index_keeps_what_was_saved_of_the_rest(world, memory, tmp_path) -> None:
    embedder = world.use()
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.txt").write_text("quite something else")
    table = world.home / "lancedb" / "chunks.lance"
    with world.memory() as opened:
        extra = opened.sources.add(other)
        opened.index()
        former = set(table.glob("_versions/*.manifest"))
        os.utime(world.write("a.txt", "heliotrope in the garden"), (1e9, 1e9))
        opened.index()
    embedder.embedded.clear()
    for manifest in set(table.glob("_versions/*.manifest")) - former:
        manifest.unlink()

    with world.memory() as opened:
        opened.sources.remove(extra.id)
    with world.memory() as opened:
        report = opened.index()

        assert embedder.embedded == []
        assert report.run.tally.extracted == 0
        assert [hit.file_name for hit in opened.search("heliotrope").hits] == ["a.txt"]


def test_what_a_killed_writer_left_goes_with_the_next_run_although_that_has_nothing_to_write(world, indexed) -> None:
    left = world.home / "lancedb" / "chunks.lance" / "data" / ".tmpAbCdEf"
    left.write_bytes(b"words of a file that was deleted meanwhile")

    report = indexed.index()

    assert report.notices == ()
    assert not left.exists()
