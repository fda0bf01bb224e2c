"""Text that a person removed leaves the disk, whatever happens to the process that takes it off."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest
from openmind import OpenMind
from openmind.application.indexing.batch import OpenBatch
from openmind.application.indexing.discovery import waiting_key
from openmind.application.recovering import sweeping
from openmind.domain.control import Wish
from openmind.domain.errors import NoSources, StoreFull
from openmind.domain.ids import SourceId
from openmind.domain.search import SearchState
from openmind.domain.unread import unread_key
from openmind.testing.fakes.jobs import FakeProcesses
from openmind_cli.main import main
from openmind_stores.lance.chunk_store import LanceChunkStore
from openmind_stores.lance.engine import Caches, Dataset
from openmind_stores.sqlite.catalog import SqliteCatalog

MARKER = "zanzibarquartz"
KILLED_RUN = """
import os, sys
from openmind import open_memory
from openmind.domain.control import Wish

class Killer:
    asked = 0
    def wish(self):
        self.asked += 1
        if self.asked == 5:
            os._exit(9)
        return Wish.GO

with open_memory(sys.argv[1]) as memory:
    memory.indexing.run(control=Killer())
"""
"""A run that ends after its fifth look at what is wanted of it, and tells nobody."""


class Killed(BaseException):
    """A process ends between two steps."""


class Controlled:
    """A control that does something between two files."""

    def __init__(self, act: Callable[[], None], *, at: int = 1) -> None:
        self.act, self.at, self.asked = act, at, 0

    def wish(self) -> Wish:
        self.asked += 1
        if self.asked == self.at:
            self.act()
        return Wish.GO

    def rest(self) -> None:
        """Never called."""


def traces(home: Path) -> list[str]:
    """Name the files under the home that hold the marker, or have it in their name."""
    files = [path for path in home.rglob("*") if path.is_file()]
    marker = MARKER.encode()
    return [str(path.relative_to(home)) for path in files if marker in path.read_bytes() or marker in os.fsencode(path)]


def left_on_disk(home: Path) -> list[str]:
    """Name what may still tell of the marker: indexes are packed, so no file may lie there that is not in use."""
    table = home / "lancedb" / "chunks.lance"
    data = Dataset.open(table, Caches())
    held = [str(path) for columns in data.scan(["path", "text"]) for path in columns["path"] if MARKER in str(columns)]
    files = {table / "data" / file.path for part in data.native.get_fragments() for file in part.data_files()}
    in_use = files | {table / "_indices" / segment for segment in data.index_segments()}
    strangers = {*table.glob("data/*"), *table.glob("_indices/*")} - in_use
    return [*traces(home), *held, *(str(path.relative_to(home)) for path in strangers)]


@contextmanager
def killed_at(step: str) -> Iterator[None]:
    def die(*_: object, **__: object) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LanceChunkStore, step, die)
        with pytest.raises(Killed):
            yield


def removing(rival: OpenMind, source_id: SourceId) -> None:
    """Remove a source in the moment in which a run begins that nobody sees yet."""
    attrs.evolve(rival.sources, refuse_while_indexing=lambda _: None).remove(source_id)


def five_minutes_pass(memory, monkeypatch) -> None:
    """Let versions of tables be old enough to go, and all that waits for that be due."""
    monkeypatch.setattr(sweeping, "VERSION_AGE_S", 0.0)
    with memory.storage.catalog.writing() as session:
        due = session.setting(sweeping.CLEAN_AFTER)
        assert due is not None, "the run that noticed a deletion notes when it is old"
        session.set_setting(sweeping.CLEAN_AFTER, " ".join(str(float(each) - 301) for each in due.split()))


@pytest.fixture
def other(tmp_path: Path, memory):
    """A second source, with one file that holds the marker."""
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "a.txt").write_text(f"{MARKER} in the garden")
    return memory.sources.add(folder)


@pytest.fixture
def without_readers(monkeypatch) -> None:
    """Nobody reads an old version, so that it need not be kept."""
    monkeypatch.setattr(sweeping, "VERSION_AGE_S", 0.0)


def fill(world, count: int = 6) -> None:
    for number in range(count):
        world.write(f"s{number}.txt", f"heliotrope number {number}")


@pytest.mark.parametrize("step", ["purge", "clean"])
def test_a_run_that_is_killed_while_it_takes_a_deleted_file_off_the_disk_leaves_that_to_the_next(
    world, memory, without_readers, step
) -> None:
    fill(world)
    path = world.write("a.txt", f"{MARKER} in the garden")
    memory.index()
    path.unlink()
    with killed_at(step):
        memory.index()
    assert traces(world.home)

    memory.index()

    assert left_on_disk(world.home) == []


@pytest.mark.parametrize("step", ["delete", "purge", "clean"])
def test_a_removal_that_is_killed_is_carried_to_its_end_by_the_next_run(world, memory, other, step) -> None:
    fill(world)
    memory.index()
    with killed_at(step):
        memory.sources.remove(other.id)
    assert traces(world.home)

    memory.index()

    assert left_on_disk(world.home) == []


@pytest.mark.parametrize("others", [0, 6])
def test_the_indexes_forget_a_source_that_had_files_of_the_table_to_itself(world, memory, tmp_path, others) -> None:
    fill(world, others)
    memory.index()
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / f"{MARKER}.txt").write_text(f"{MARKER} in the garden")
    source = memory.sources.add(folder)
    memory.index()

    memory.sources.remove(source.id)

    assert left_on_disk(world.home) == []
    assert len(memory.search("heliotrope", limit=50).hits) == others


def test_what_a_deleted_file_held_before_it_was_edited_goes_too(world, memory, without_readers) -> None:
    fill(world)
    path = world.write("a.txt", f"{MARKER} in the garden")
    memory.index()
    world.write("a.txt", "nothing of it any more here")
    memory.index()
    path.unlink()

    memory.index()

    assert left_on_disk(world.home) == []


def renamed_before(world, path: Path, index: Callable[[], object]) -> None:
    path.rename(world.notes / "c.txt").rename(world.notes / "d.txt")
    index()
    (world.notes / "d.txt").unlink()


def beside_an_edit(world, path: Path, index: Callable[[], object]) -> None:
    world.write("s0.txt", "heliotrope, edited")
    path.unlink()


def beside_a_move(world, path: Path, index: Callable[[], object]) -> None:
    (world.notes / "s0.txt").rename(world.notes / "moved.txt")
    path.unlink()


@pytest.mark.parametrize("delete", [renamed_before, beside_an_edit, beside_a_move])
def test_the_first_run_five_minutes_after_a_deletion_was_noticed_takes_it_off_the_disk_whatever_else_changed(
    world, memory, monkeypatch, delete
) -> None:
    fill(world)
    path = world.write("a.txt", f"{MARKER} in the garden")
    memory.index()
    delete(world, path, memory.index)
    memory.index()
    assert traces(world.home)

    five_minutes_pass(memory, monkeypatch)
    memory.index()

    assert left_on_disk(world.home) == []


def test_deletions_of_later_runs_do_not_put_off_when_earlier_ones_leave_the_disk(world, memory, monkeypatch) -> None:
    fill(world)
    path = world.write("a.txt", f"{MARKER} in the garden")
    memory.index()
    path.unlink()
    memory.index()
    five_minutes_pass(memory, monkeypatch)
    with memory.storage.catalog.writing() as session:  # as a run leaves it that forgot another file a moment ago
        session.set_setting(sweeping.CLEAN_AFTER, f"{session.setting(sweeping.CLEAN_AFTER)} {time.time() + 3_600}")

    memory.index()

    assert left_on_disk(world.home) == []
    with memory.storage.catalog.reading() as snapshot:
        assert len(str(snapshot.setting(sweeping.CLEAN_AFTER)).split()) == 1


def test_remembered_numbers_that_are_none_hinder_nobody_and_are_counted_anew(world, memory) -> None:
    fill(world)
    memory.index()
    [first, *_] = memory.sources.list()
    with memory.storage.catalog.writing() as session:
        for name in (sweeping.CLEAN_AFTER, waiting_key(first.id), unread_key(first.id)):
            session.set_setting(name, "nonsense")

    before = memory.status()
    memory.index()

    assert (before.waiting_deletions, before.unread_kinds) == (0, {})
    with memory.storage.catalog.reading() as snapshot:
        assert snapshot.setting(sweeping.CLEAN_AFTER) is None, "what is no time has come"
        assert snapshot.setting(waiting_key(first.id)) is None
        assert snapshot.setting(unread_key(first.id)) is None


def test_what_a_file_of_a_removed_source_held_before_it_was_edited_goes_at_once(world, memory, other) -> None:
    fill(world)
    memory.index()
    Path(other.path, "a.txt").write_text("nothing of it any more here")
    memory.index()

    memory.sources.remove(other.id)

    assert left_on_disk(world.home) == []


def test_an_interrupted_removal_tells_the_person_and_whatever_is_done_to_a_source_goes_on_with_it(
    world, memory, other, tmp_path, monkeypatch, capsys
) -> None:
    fill(world)
    memory.index()
    monkeypatch.setenv("OPENMIND_HOME", str(world.home))

    def press(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LanceChunkStore, "purge", press)
        code = main(["source", "remove", other.id])

    out, err = capsys.readouterr()
    assert code == 130
    assert out.startswith(f"Forgot {other.path}: 1 file")
    assert "Interrupted: text of a folder that was removed is still on the disk" in err
    assert "`openmind index`" in err
    assert memory.status().removal_unfinished
    assert traces(world.home)

    processes = FakeProcesses()
    third = tmp_path / "third"
    third.mkdir()
    sources = attrs.evolve(memory.sources, sweep_elsewhere=processes.launch_sweep)
    added = sources.add(third)
    sources.change(added.id, code=True)
    assert processes.sweeps == 2
    sources.sweep()  # what such a process does

    assert left_on_disk(world.home) == []
    assert not memory.status().removal_unfinished
    sources.change(added.id, code=False)
    assert processes.sweeps == 2


def test_a_run_takes_a_source_off_the_disk_that_was_removed_meanwhile(world, memory, other) -> None:
    fill(world)
    memory.index()
    world.write("fresh.txt", "heliotrope again")

    def remove() -> None:
        with world.memory() as rival:
            removing(rival, other.id)

    memory.indexing.run(control=Controlled(remove))

    assert left_on_disk(world.home) == []


def test_text_that_was_read_after_its_source_was_removed_is_gone_after_the_next_attempt(
    world, memory, monkeypatch
) -> None:
    [source] = memory.sources.list()
    world.write("a.txt", f"{MARKER} in the garden")
    commit = OpenBatch.commit

    def remove_first(batch: OpenBatch) -> None:
        with world.memory() as rival:
            removing(rival, source.id)
        commit(batch)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(OpenBatch, "commit", remove_first)
        with pytest.raises(KeyboardInterrupt):
            memory.index()

    with pytest.raises(NoSources):
        memory.index()

    assert left_on_disk(world.home) == []
    with sqlite3.connect(world.home / "openmind.sqlite") as catalog:
        assert catalog.execute("SELECT count(*) FROM texts").fetchone() == (0,)
    catalog.close()


def test_the_names_that_a_killed_run_had_planned_go_with_their_source(world, memory) -> None:
    [source] = memory.sources.list()
    for number in range(5):
        world.write(f"{MARKER}{number}.txt", f"number {number}")
    killed = subprocess.run([sys.executable, "-c", KILLED_RUN, str(world.home)], check=False)
    assert killed.returncode == 9
    assert traces(world.home)

    memory.sources.remove(source.id)

    assert left_on_disk(world.home) == []
    with memory.storage.catalog.reading() as snapshot:
        assert snapshot.runs(limit=1)[0].state.finished


def test_a_removal_on_a_full_disk_says_what_was_removed_and_leaves_the_rest_to_the_next_run(
    world, memory, other, monkeypatch
) -> None:
    fill(world)
    memory.index()

    def full(*_: object, **__: object) -> None:
        raise StoreFull("no space")

    with monkeypatch.context() as patch:
        patch.setattr(LanceChunkStore, "delete", full)
        assert memory.sources.remove(other.id).files_removed == 1

    memory.index()

    assert left_on_disk(world.home) == []


@pytest.mark.parametrize("alone", [True, False])
def test_a_removal_on_a_disk_that_is_full_to_the_last_byte_makes_its_own_room(
    world, memory, other, monkeypatch, alone
) -> None:
    if alone:
        [notes] = [source for source in memory.sources.list() if source.id != other.id]
        memory.sources.remove(notes.id)
    fill(world)
    memory.index()
    refusals = iter([True])
    remove = SqliteCatalog.writing

    def full_at_first(catalog: SqliteCatalog):
        if next(refusals, False):
            raise StoreFull("no space", hint="none")
        return remove(catalog)

    with monkeypatch.context() as patch:
        patch.setattr(SqliteCatalog, "writing", full_at_first)
        assert memory.sources.remove(other.id).files_removed == 1

    assert left_on_disk(world.home) == []
    assert len(memory.search("heliotrope", limit=50).hits) == (0 if alone else 6)


def test_a_removal_without_any_room_says_what_gives_some(memory, other, monkeypatch) -> None:
    memory.index()

    def full(_: SqliteCatalog) -> None:
        raise StoreFull("no space", hint="none")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteCatalog, "writing", full)
        for remove in (memory.sources.remove, memory.sources.dismiss):
            with pytest.raises(StoreFull) as told:
                remove(other.id)
            assert "openmind flush" in told.value.hint

    assert memory.search(MARKER).state is SearchState.OK


def test_an_idle_run_takes_deleted_text_off_the_disk_once_nobody_reads_it_any_more(world, memory, monkeypatch) -> None:
    fill(world)
    path = world.write("a.txt", f"{MARKER} in the garden")
    memory.index()
    path.unlink()
    memory.index()
    memory.index()
    assert traces(world.home)  # a reader may still have the version open that holds it

    five_minutes_pass(memory, monkeypatch)
    memory.index()

    assert left_on_disk(world.home) == []


def test_versions_that_only_take_room_wait_for_the_next_run_that_writes(
    world, memory, monkeypatch, without_readers
) -> None:
    world.write("a.txt", "heliotrope")
    memory.index()
    cleaned: list[str] = []
    monkeypatch.setattr(LanceChunkStore, "clean", lambda _, table, older_than_s: cleaned.append(table))

    memory.index()
    assert cleaned == []

    world.write("b.txt", "quartz")
    memory.index()
    assert cleaned == ["chunks"]
