"""Doctor, coverage and flush over real stores."""

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import attrs
import pytest
from openmind.adapters.processes import this_process
from openmind.application.maintenance import findings
from openmind.bootstrap import open_checkup
from openmind.domain.errors import ConfigError, HomeUnusable, IndexingBusy, JobActive, StoreFull, StoreReadOnly
from openmind.domain.ids import JobId, RunId
from openmind.domain.jobs import IndexJob, IndexRun, JobState
from openmind.domain.search import SearchState

MARKER = "zanzibarquartz"


@pytest.fixture
def indexed(world, memory):
    for number in range(12):
        world.write(f"{number}.txt", f"heliotrope number{number} in the garden {MARKER}")
    memory.index()
    return memory


def found(memory) -> list[str]:
    return [
        [hit.file_name for hit in memory.search(f"number{number}").hits][:1] == [f"{number}.txt"]
        for number in range(12)
    ].count(True)


def codes(memory) -> set[str]:
    return {finding.code for finding in memory.maintenance.examine().findings}


def everywhere(home: Path) -> list[str]:
    return [str(path) for path in home.rglob("*") if path.is_file() and MARKER.encode() in path.read_bytes()]


# doctor


def test_a_sound_memory_has_no_findings_and_repairing_it_does_nothing(indexed) -> None:
    checkup = indexed.maintenance.examine()

    assert checkup.findings == ()
    facts = dict(checkup.facts)
    assert facts["files"] == "12 known, 12 searchable"
    assert facts["table chunks"] == "live, 12 rows"
    assert facts["index lock"] == "free"
    assert {"SQLite", "LanceDB", "Lance", "free on disk"} <= facts.keys()
    assert indexed.maintenance.repair().done == ()


def test_rows_of_former_versions_are_told_apart_from_what_is_found(world, indexed) -> None:
    world.write("0.txt", "heliotrope, said otherwise")
    indexed.index()

    facts = dict(indexed.maintenance.examine().facts)

    assert facts["passages"] == "12"
    assert facts["table chunks"] == "live, 12 rows and 1 of former versions, until they are swept out"


def test_a_catalog_of_garbage_is_a_finding_and_nothing_begins_anew(world, indexed) -> None:
    catalog = world.home / "openmind.sqlite"
    catalog.write_bytes(b"garbage " * 64 + catalog.read_bytes()[512:])
    before = catalog.read_bytes()

    with open_checkup(world.home) as maintenance:
        checkup = maintenance.examine()
        left = maintenance.repair()

    assert [finding.code for finding in checkup.findings] == ["catalog.damaged"]
    assert "backup" in checkup.findings[0].hint
    assert "not compared" in checkup.unexamined
    assert dict(checkup.facts).keys() >= {"home", "SQLite", "free on disk"}
    assert (left.done, [finding.code for finding in left.left]) == ((), ["catalog.damaged"])
    assert catalog.read_bytes() == before


def test_a_file_where_the_passages_belong_is_left_to_its_owner_and_then_mended(world, indexed) -> None:
    folder = world.home / "lancedb"
    folder.rename(world.home.parent / "away")
    folder.write_text("somebody else's")

    checkup = indexed.maintenance.examine()
    left = indexed.maintenance.repair()
    with pytest.raises(HomeUnusable, match="is in the way: a folder"):
        indexed.jobs.start()

    assert [finding.code for finding in checkup.findings] == ["home.blocked", "table.unreadable"]
    assert [finding.repair for finding in checkup.findings] == ["", ""]
    assert [finding.code for finding in left.left] == ["home.blocked", "table.unreadable"]
    assert folder.read_text() == "somebody else's"
    folder.unlink()
    assert indexed.maintenance.repair().left == ()
    assert found(indexed) == 12


def test_coverage_names_a_disabled_source_and_says_nothing_else_of_it(world, indexed) -> None:
    [source] = indexed.sources.list()
    indexed.sources.change(source.id, enabled=False)

    [told] = indexed.maintenance.coverage()

    assert (told.path, told.enabled, told.total.files) == (source.path, False, 0)
    assert indexed.status().disabled_sources == (source.path,)


def damage_folder(world) -> None:
    shutil.rmtree(world.home / "lancedb")


def damage_manifest(world) -> None:
    manifests = sorted((world.home / "lancedb" / "chunks.lance" / "_versions").glob("*.manifest"))
    for newer in manifests[:-1]:  # Lance counts their names down: the first version, without a row, is left
        newer.unlink()


def damage_data(world) -> None:
    for path in (world.home / "lancedb" / "chunks.lance" / "data").glob("*.lance"):
        path.write_bytes(b"")


@pytest.mark.parametrize("damage", [damage_folder, damage_manifest, damage_data])
def test_lost_passages_are_made_again_without_reading_a_file(world, indexed, damage) -> None:
    damage(world)
    world.notes.rename(world.notes.with_name("unplugged"))
    assert codes(indexed)

    repair = indexed.maintenance.repair()

    assert repair.done
    assert repair.left == ()
    assert found(indexed) == 12
    assert indexed.maintenance.repair().done == ()
    world.notes.with_name("unplugged").rename(world.notes)
    again = indexed.index().run.tally
    assert (again.already_indexed, again.extracted, again.embedded) == (12, 0, 0)


def test_a_lost_table_of_a_server_s_vectors_is_made_again_with_them(world) -> None:
    embedder = world.use()
    world.write("a.txt", "heliotrope in the garden")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        damage_folder(world)

        memory.maintenance.repair()

        assert len(embedder.embedded) == 2
        assert memory.status().missing_vectors == 0
        assert not memory.search("heliotrope").degraded


def test_orphans_and_what_was_begun_are_deleted(world, indexed) -> None:
    store, catalog = indexed.storage.chunks, indexed.storage.catalog
    with catalog.reading() as snapshot:
        [(generation, _, _), *_] = snapshot.live_generations()
        [table] = snapshot.tables()
    [row] = store.read_generations("chunks", [generation])
    with catalog.writing() as session:
        begun, orphan = session.begin([table.id], 2)
    with closing(sqlite3.connect(world.home / "openmind.sqlite")) as connection, connection:
        connection.execute("DELETE FROM intents WHERE generation = ?", (orphan,))
    store.add("chunks", [attrs.evolve(row, generation=begun), attrs.evolve(row, generation=orphan)])
    store.create("chunks_7", dimension=4)
    store.create("mine", dimension=4)
    assert codes(indexed) == {"table.orphans", "generations.begun", "table.unknown"}

    repair = indexed.maintenance.repair()

    assert repair.left == ()
    assert store.tables() == ("chunks", "mine")
    assert {generation for generation, *_ in store.counts("chunks")}.isdisjoint({begun, orphan})


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
def test_the_home_is_closed_to_others_and_leftovers_go(world, indexed) -> None:
    world.home.chmod(0o755)
    leftover = world.home / "tmp" / "worker-dead"
    leftover.mkdir(0o700)
    (leftover / "page.png").write_text(MARKER)
    assert codes(indexed) == {"home.open", "home.leftovers"}

    assert indexed.maintenance.repair().left == ()

    assert all(path.stat().st_mode & 0o077 == 0 for path in (world.home, *world.home.rglob("*")))
    assert not leftover.exists()


def test_what_only_a_person_can_mend_is_told_with_what_to_do(world) -> None:
    embedder = world.use()
    world.write("a.txt", "heliotrope")
    with world.memory() as memory:
        memory.sources.add(world.notes)
        memory.index()
        world.provider.reachable = False
        assert embedder.calls

        [finding] = memory.maintenance.examine().findings

        assert finding.code == "provider.unreachable"
        assert finding.repair == ""
        assert finding.hint


def test_a_damaged_catalog_is_told(world, indexed) -> None:
    path = world.home / "openmind.sqlite"
    content = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'texts'").fetchone()[0]
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    content = bytearray(path.read_bytes())
    content[(root - 1) * size : root * size] = b"\x5a" * size
    path.write_bytes(content)

    assert "catalog.damaged" in codes(indexed)


def test_while_something_is_indexed_the_stores_are_left_alone(indexed) -> None:
    with indexed.storage.index_lock():
        checkup = indexed.maintenance.examine()

        assert checkup.findings == ()
        assert not checkup.is_sound
        assert checkup.needs_attention
        assert checkup.unexamined.startswith("The stores were not compared")
        assert str(os.getpid()) in dict(checkup.facts)["index lock"]
        with pytest.raises(IndexingBusy):
            indexed.maintenance.repair()


def test_a_paused_job_leaves_the_stores_unexamined_and_is_told_to_be_paused(indexed, tmp_path) -> None:
    with indexed.storage.catalog.writing() as session:
        session.add_job(
            IndexJob(
                id="job_0123456789ab",
                state=JobState.PAUSED,
                started_at="2026-01-01T00:00:00+00:00",
                process=this_process(),
            )
        )

    checkup = indexed.maintenance.examine()

    assert not checkup.is_sound
    assert not checkup.needs_attention
    assert "is paused" in checkup.unexamined
    for refused in (indexed.maintenance.repair, lambda: indexed.maintenance.export(tmp_path / "a.zip")):
        with pytest.raises(IndexingBusy, match="is paused") as told:
            refused()
        assert "`openmind index resume`" in told.value.hint


def test_a_file_where_a_folder_of_the_home_belongs_is_told(world, indexed) -> None:
    shutil.rmtree(world.home / "tmp")
    (world.home / "tmp").write_text("mine")

    assert "home.blocked" in codes(indexed)


@pytest.mark.parametrize("name", ["index.lock", "catalog.lock"])
def test_a_folder_where_a_lock_belongs_is_told_with_all_the_rest_and_no_job_begins(world, indexed, name: str) -> None:
    lock = world.home / name
    lock.unlink(missing_ok=True)
    lock.mkdir()

    checkup = indexed.maintenance.examine()
    left = indexed.maintenance.repair().left
    with pytest.raises(HomeUnusable, match="is in the way: a file") as refused:
        indexed.jobs.start()

    assert [finding.code for finding in checkup.findings] == ["home.blocked"]
    assert str(lock) in checkup.findings[0].message
    assert dict(checkup.facts)["files"] == "12 known, 12 searchable"
    assert [finding.code for finding in left] == ["home.blocked"]
    assert "Move it away" in refused.value.hint
    lock.rmdir()
    assert indexed.maintenance.examine().findings == ()


def test_settings_that_cannot_be_used_are_told_with_all_the_rest_and_repair_waits_for_them(world, indexed) -> None:
    (world.home / "config.toml").write_text("this is no TOML", encoding="utf-8")
    (world.home / "tmp").rmdir()
    (world.home / "tmp").write_text("mine")

    with open_checkup(world.home) as maintenance:
        checkup = maintenance.examine()
        with pytest.raises(ConfigError):
            maintenance.repair()

    assert [finding.code for finding in checkup.findings] == ["home.blocked", "config.invalid"]
    assert "config.toml" in checkup.findings[1].message
    assert dict(checkup.facts)["files"] == "12 known, 12 searchable"


def test_indexing_that_lives_and_finishes_nothing_is_a_finding() -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    run = IndexRun(id=RunId("run_1"), started_at=began.isoformat(), progressed_at=began.isoformat(), job_id=JobId("j"))

    [found] = findings.of_jobs(None, run, began + timedelta(minutes=7))

    assert found.code == "job.still"
    assert "nothing for 7 minutes" in found.message
    assert "`openmind index stop`" in found.hint
    assert list(findings.of_jobs(None, run, began + timedelta(minutes=1))) == []


@attrs.frozen
class Unwritable:
    """A storage on a disk that can only be read."""

    storage: object

    def __getattr__(self, name: str) -> object:
        return getattr(self.storage, name)

    def index_lock(self) -> None:
        raise StoreReadOnly("the home may not be written")


def test_a_home_that_cannot_be_written_is_told(indexed) -> None:
    doctor = attrs.evolve(indexed.maintenance.doctor, storage=Unwritable(indexed.storage))

    assert {finding.code for finding in doctor.examine().findings} == {"home.read_only"}


# coverage


def test_coverage_says_of_every_file_whether_it_can_be_found(world, memory) -> None:
    world.write("good.txt", "heliotrope")
    world.write("old.txt", "chrysanthemum")
    gone = world.write("gone.txt", "begonia")
    world.write("empty.txt", "")
    memory.index()
    world.write("old.txt", "chrysanthemum on the balcony")
    gone.unlink()
    world.write("new.txt", "zinnia")
    world.write("film.mkv", "x" * 1000)

    [coverage] = memory.maintenance.coverage()

    assert (coverage.searchable.files, coverage.searchable.size_bytes) == (1, len("heliotrope"))
    assert (coverage.stale.files, coverage.new.files, coverage.gone.files) == (1, 1, 1)
    assert {name: amount.files for name, amount in coverage.unreadable.items()} == {"empty": 1, "unsupported": 1}
    assert coverage.unreadable["unsupported"].size_bytes == 1000
    assert coverage.total.files == 5


def test_the_coverage_of_a_missing_folder_is_what_is_remembered(world, memory) -> None:
    world.write("good.txt", "heliotrope")
    memory.index()
    world.notes.rename(world.notes.with_name("unplugged"))

    [coverage] = memory.maintenance.coverage()

    assert not coverage.present
    assert (coverage.gone.files, coverage.total.files) == (1, 0)


# flush


def test_a_flush_forgets_everything_but_the_sources_and_the_configuration(world, indexed) -> None:
    (world.home / "logs" / "openmind.log").write_text("{}\n")
    (world.home / "logs" / "diary.txt").write_text("mine")
    (world.home / "config.toml").write_text("[indexing]\nworkers = 1\n")
    plan = indexed.maintenance.plan_flush()
    assert (plan.sources, plan.files, plan.indexed_files, plan.runs, plan.jobs) == (1, 12, 12, 1, 0)
    assert everywhere(world.home)

    assert indexed.maintenance.flush(plan)

    assert [path.name for path in (world.home / "logs").iterdir()] == ["diary.txt"]
    assert everywhere(world.home) == []
    assert indexed.search("heliotrope").state is SearchState.NOTHING_INDEXED
    assert len(indexed.sources.list()) == 1
    assert indexed.status().last_run is None
    assert (world.home / "config.toml").exists()
    assert indexed.index().run.tally.indexed == 12
    assert found(indexed) == 12


def test_a_flush_may_forget_the_sources_too(indexed) -> None:
    indexed.maintenance.flush(indexed.maintenance.plan_flush(include_sources=True))

    assert indexed.sources.list() == ()


def test_planning_a_flush_changes_nothing(world, indexed) -> None:
    indexed.maintenance.plan_flush(include_sources=True)

    assert found(indexed) == 12


@attrs.frozen
class Full:
    """A storage whose catalog has no room to write as long as there are passages."""

    storage: object

    def __getattr__(self, name: str) -> object:
        return getattr(self.storage, name)

    @property
    def catalog(self) -> "Full":
        return Full(self.storage.catalog) if self.storage.chunks.tables() else self.storage.catalog

    def writing(self) -> None:
        raise StoreFull("there is no space left")


def test_a_flush_of_a_full_disk_makes_its_own_room(world, indexed) -> None:
    flushing = attrs.evolve(indexed.maintenance.flushing, storage=Full(indexed.storage))

    assert flushing.flush(flushing.plan())

    assert everywhere(world.home) == []
    assert indexed.status().files == 0


def test_a_job_that_does_not_stop_keeps_the_memory(world, indexed) -> None:
    from openmind.adapters.processes import this_process

    at = indexed.jobs.now().isoformat()
    job = IndexJob(id="job_1", state=JobState.RUNNING, started_at=at, updated_at=at, process=this_process())
    with indexed.storage.catalog.writing() as session:
        session.add_job(job)
    plan = indexed.maintenance.plan_flush()
    assert plan.active_job == job

    with pytest.raises(JobActive):
        indexed.maintenance.flush(plan, wait_s=0.3)

    assert found(indexed) == 12
    assert indexed.jobs.current().state is JobState.STOP_REQUESTED


def test_a_run_in_the_foreground_keeps_the_memory(indexed) -> None:
    with indexed.storage.index_lock(), pytest.raises(IndexingBusy):
        indexed.maintenance.flush(indexed.maintenance.plan_flush(), wait_s=0.2)

    assert found(indexed) == 12


def test_a_flush_that_is_killed_halfway_forgets_all_the_same(world, indexed, monkeypatch) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    plan = indexed.maintenance.plan_flush()
    monkeypatch.setattr(type(indexed.storage.chunks), "drop", die)
    with pytest.raises(KeyboardInterrupt):
        indexed.maintenance.flush(plan)
    monkeypatch.undo()

    assert indexed.search("heliotrope").state is SearchState.NOTHING_INDEXED
    indexed.maintenance.flush(plan)
    assert everywhere(world.home) == []
