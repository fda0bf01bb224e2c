"""Faults that befall background jobs: each ends in a state that can be believed, and the next start makes it good."""

import ctypes
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import attrs
import psutil
import pytest
from openmind import OpenMind, open_memory
from openmind.adapters.processes import mark_of, this_process
from openmind.application.jobs.worker import JobWorker
from openmind.bootstrap import open_worker
from openmind.bootstrap.services import utc_now
from openmind.domain.errors import JobActive, JobNotFound, OpenMindError
from openmind.domain.ids import JobId, new_job_id
from openmind.domain.jobs import IndexJob, IndexReport, IndexRun, JobState, ProcessMark

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="faults are made with the means of Linux")
PATIENCE_S = 240
WRITES_S = 1.0
"""For this long another program goes on writing the catalog, beside a job that wants to start."""
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


class Here:
    """A launcher for tests: this process is the worker."""

    def launch(self, _: JobId) -> ProcessMark:
        return this_process()

    def last_words(self, _: JobId) -> str:
        return ""


@attrs.define
class Elsewhere:
    """A launcher that lets a fault happen in the worker's process, before it begins or in the midst of its work."""

    home: Path
    fault: Callable[[], object] | None = None
    patch: str = ""
    """Python that the worker runs first."""
    process: subprocess.Popen[bytes] | None = None

    def launch(self, job_id: JobId) -> ProcessMark:
        program = f"import sys\n{self.patch}\nfrom openmind.worker import main\nsys.exit(main(sys.argv[1:]))"
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, "--job-id", job_id],
            env={**os.environ, "OPENMIND_HOME": str(self.home)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=self.fault,
        )
        return mark_of(self.process.pid)

    def last_words(self, _: JobId) -> str:
        return ""

    def ended(self) -> str:
        """Wait for the end; what it told."""
        assert self.process is not None
        return self.process.communicate(timeout=PATIENCE_S)[1].decode()


@attrs.define
class Place:
    """A home over a folder of notes, with the built-in embedder."""

    home: Path
    notes: Path

    def write(self, count: int, *, words: int = 40) -> None:
        for number in range(count):
            text = " ".join(f"w{number}x{word}" for word in range(words))
            (self.notes / f"{number}.txt").write_text(f"heliotrope {text}")

    def memory(self):
        return open_memory(self.home)

    def start(self, memory: OpenMind, launcher: object = None) -> IndexJob:
        return attrs.evolve(memory.jobs, launcher=launcher or Here()).start()

    def work(self, memory: OpenMind) -> IndexJob:
        """Start a job and carry it out in this process."""
        job = self.start(memory)
        with open_worker(self.home) as worker, suppress(OpenMindError):
            worker.carry_out(job.id)
        done = memory.jobs.current()
        assert done is not None
        return done


@pytest.fixture
def place(tmp_path: Path) -> Place:
    notes = tmp_path / "notes"
    notes.mkdir()
    place = Place(tmp_path / "home", notes)
    place.write(5)
    with place.memory() as memory:
        memory.sources.add(notes)
    return place


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def found(memory: OpenMind) -> list[str]:
    return sorted(hit.file_name for hit in memory.search("heliotrope", limit=50).hits)


def rows(memory: OpenMind) -> list[object]:
    with memory.storage.catalog.reading() as snapshot:
        table = snapshot.live_table()
    assert table is not None
    return list(memory.storage.chunks.counts(table.name))


def test_a_full_disk_fails_the_job_with_its_reason_and_the_next_start_goes_on(place: Place) -> None:
    place.write(250, words=200)
    with place.memory() as memory:
        small = Elsewhere(place.home, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)))
        place.start(memory, small)
        told = small.ended()
        failed = memory.jobs.current()
        assert "Traceback" not in told
        assert failed.state is JobState.FAILED
        assert "full" in failed.error or "space" in failed.error, failed.error

        assert place.work(memory).state is JobState.COMPLETED
        assert memory.status().indexed_files == 250


def test_a_home_that_may_not_be_written_any_more_ends_the_job_and_stays_searchable(place: Place) -> None:
    with place.memory() as memory:
        assert place.work(memory).state is JobState.COMPLETED
        before = found(memory)
        (place.notes / "0.txt").write_text("heliotrope, changed")

        def may_not_write() -> None:  # so that modes count for this process, whoever runs the tests
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)
            for folder in (place.home / "lancedb" / "chunks.lance" / "data", place.home / "lancedb"):
                folder.chmod(0o500)

        refused = Elsewhere(place.home, may_not_write)
        place.start(memory, refused)
        told = refused.ended()
        failed = memory.jobs.current()
        assert "Traceback" not in told
        assert (failed.state, bool(failed.error)) == (JobState.FAILED, True)
        assert found(memory) == before

        for folder in (place.home / "lancedb" / "chunks.lance" / "data", place.home / "lancedb"):
            folder.chmod(0o700)
        assert place.work(memory).state is JobState.COMPLETED
        assert found(memory) == before


def test_a_catalog_that_somebody_else_writes_delays_a_start_and_no_look(place: Place) -> None:
    with place.memory() as memory:
        assert place.work(memory).state is JobState.COMPLETED
        other = sqlite3.connect(place.home / "openmind.sqlite", isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")

        assert memory.jobs.current().state is JobState.COMPLETED
        assert memory.status().indexed_files == 5
        assert len(memory.jobs.history()) == 1
        assert len(found(memory)) == 5

        release = threading.Timer(WRITES_S, lambda: other.execute("ROLLBACK"))
        release.start()
        assert place.work(memory).state is JobState.COMPLETED

        release.join()
        other.close()


@pytest.mark.parametrize("days", [-1, 1])
def test_a_clock_that_jumps_neither_ends_a_job_nor_keeps_a_dead_one_alive(place: Place, days: int) -> None:
    with place.memory() as memory:
        job = place.start(memory)
        later = attrs.evolve(memory.jobs, now=lambda: utc_now() + timedelta(days=days))
        with memory.storage.catalog.writing() as session:
            running = attrs.evolve(session.job(job.id), state=JobState.RUNNING)
            session.change_job(running, expected=JobState.PENDING)

        assert later.current().state is JobState.RUNNING
        assert attrs.evolve(later, alive=lambda _: False).current().state is JobState.FAILED


def test_of_two_workers_of_one_job_exactly_one_works(place: Place) -> None:
    marks = [attrs.evolve(this_process(), pid=pid) for pid in (1, 2)]
    with place.memory() as memory:
        for _ in range(25):
            job = IndexJob(id=new_job_id(), state=JobState.PENDING, started_at=utc_now().isoformat())
            with memory.storage.catalog.writing() as session:
                session.add_job(job)
            worked, kept_out = [], []
            both = threading.Barrier(2)

            class Bench:
                def run(self, *, progress, control, job_id, leaving, mine=worked):
                    mine.append(job_id)
                    return IndexReport(run=IndexRun(id="run_x", started_at="", state=JobState.COMPLETED))

                def provider_answers(self) -> bool:
                    return True

            def carry_out(mark: ProcessMark, job_id: JobId = job.id, both=both, kept_out=kept_out) -> None:
                worker = JobWorker(
                    catalog=memory.storage.catalog,
                    workplace=contextmanager(lambda: iter([Bench()])),
                    process=lambda: mark,
                    alive=lambda _: True,
                    now=utc_now,
                )
                both.wait()
                try:
                    worker.carry_out(job_id)
                except (JobActive, JobNotFound):
                    kept_out.append(mark)

            threads = [threading.Thread(target=carry_out, args=(mark,)) for mark in marks]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert (len(worked), len(kept_out)) == (1, 1)


STORE_THAT_HANGS = """
import threading
from openmind_stores.lance.chunk_store import LanceChunkStore

LanceChunkStore.fold = lambda *_: threading.Event().wait()
"""


def test_a_worker_that_is_killed_leaves_no_helper_and_no_lock(place: Place) -> None:
    place.write(350)  # enough that files are prepared in processes of their own
    for number in range(20):
        (place.notes / f"{number}.html").write_text(f"<p>heliotrope {number}</p>")
    with place.memory() as memory:
        launcher = Elsewhere(place.home, patch=STORE_THAT_HANGS)
        place.start(memory, launcher)
        worker = psutil.Process(launcher.process.pid)
        until(lambda: worker.children(recursive=True))
        helpers = worker.children(recursive=True)

        worker.kill()
        launcher.ended()

        assert memory.jobs.current().state is JobState.FAILED
        with memory.storage.index_lock():
            pass
        until(lambda: not any(helper.is_running() for helper in helpers))
        assert place.work(memory).state is JobState.COMPLETED
        assert memory.status().indexed_files == 370


ANSWERS_THAT_WAIT = """
import time
from pathlib import Path
from openmind.adapters.worker_process import WorkerProcess

receive, asked, go_on = WorkerProcess.receive, Path({asked!r}), Path({go_on!r})

def receive_later(process):
    asked.touch()
    while not go_on.exists():
        time.sleep(0.01)
    return receive(process)

WorkerProcess.receive = receive_later
"""
"""Nobody takes what a reader answers, until the test says so."""


def test_a_process_that_reads_and_is_killed_costs_its_file_and_no_other(place: Place, tmp_path: Path) -> None:
    for number in range(30):
        (place.notes / f"{number}.html").write_text("<p>heliotrope</p>" + f"<p>w{number} " * 3_000)
    with place.memory() as memory:
        asked, go_on = tmp_path / "asked", tmp_path / "go-on"
        launcher = Elsewhere(place.home, patch=ANSWERS_THAT_WAIT.format(asked=str(asked), go_on=str(go_on)))
        place.start(memory, launcher)
        until(asked.exists)  # formats are taken apart there; plain text is read by the worker itself

        readers = psutil.Process(launcher.process.pid).children()
        for reader in readers:
            reader.kill()
        go_on.touch()

        assert readers
        assert "Traceback" not in launcher.ended()
        ended = memory.jobs.current()
        assert ended.state is JobState.COMPLETED
        assert ended.tally.processed == ended.tally.total == 35
        assert ended.tally.failed <= len(readers)

        assert place.work(memory).state is JobState.COMPLETED
        assert memory.maintenance.examine().findings == ()


@pytest.mark.parametrize("lost", ["data file emptied", "data file cut short", "newest manifest gone"])
def test_what_a_power_cut_took_from_the_passages_is_made_again_without_reading_a_file(place: Place, lost: str) -> None:
    with place.memory() as memory:
        assert place.work(memory).state is JobState.COMPLETED
        before = found(memory)
    table = place.home / "lancedb" / "chunks.lance"
    if lost == "newest manifest gone":
        min((table / "_versions").glob("*.manifest"), key=lambda path: path.name).unlink()  # names count down
    else:
        newest = max((table / "data").glob("*.lance"), key=lambda path: path.stat().st_mtime_ns)
        whole = newest.read_bytes()
        newest.write_bytes(whole[: len(whole) // 2] if lost == "data file cut short" else b"")

    with place.memory() as memory:
        again = place.work(memory)

        assert (again.state, again.tally.extracted) == (JobState.COMPLETED, 0)
        assert found(memory) == before
        assert memory.maintenance.examine().findings == ()


def test_a_home_whose_migration_is_killed_is_brought_up_to_date_by_the_next_job(place: Place) -> None:
    with place.memory() as memory:
        assert place.work(memory).state is JobState.COMPLETED
        before = found(memory)
    catalog = place.home / "openmind.sqlite"
    older = sqlite3.connect(catalog)
    for column in ("vectors_wanted", "vectors_made", "per_second"):
        older.execute(f"ALTER TABLE index_jobs DROP COLUMN {column}")
    for column in ("vectors_wanted", "vectors_made", "per_second"):
        older.execute(f"ALTER TABLE index_runs DROP COLUMN {column}")
    older.execute("ALTER TABLE index_runs DROP COLUMN progressed_at")
    older.execute("ALTER TABLE files DROP COLUMN ctime_ns")
    older.execute("ALTER TABLE garbage DROP COLUMN file_id")
    older.execute("PRAGMA user_version = 2")
    older.commit()
    older.close()

    for step in (4, 6):  # within the transaction of the migration
        killed = subprocess.run([sys.executable, "-c", KILLED_MIGRATION, str(place.home), str(step)], check=False)
        assert killed.returncode == -signal.SIGKILL
        with closing(sqlite3.connect(catalog)) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (2,)

    with place.memory() as memory:
        assert place.work(memory).state is JobState.COMPLETED
        assert found(memory) == before


KILLED_MIGRATION = """
import os, signal, sys
from pathlib import Path
from openmind_stores.sqlite import migration
from openmind_stores.sqlite.catalog import SqliteCatalog

run, altered = migration.Link.run, 0

def counted(link, sql, parameters=()):
    global altered
    altered += sql.startswith("ALTER TABLE")
    if altered == int(sys.argv[2]) - 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(link, sql, parameters)

migration.Link.run = counted
SqliteCatalog(Path(sys.argv[1])).initialise(written_by=lambda: "0.1.0")
"""


def test_the_same_job_again_leaves_the_same_rows(place: Place) -> None:
    with place.memory() as memory:
        assert place.work(memory).state is JobState.COMPLETED
        before = rows(memory)

        again = place.work(memory)

        assert (again.tally.already_indexed, again.tally.indexed) == (5, 0)
        assert rows(memory) == before


def test_a_source_that_is_away_loses_nothing(place: Place) -> None:
    with place.memory() as memory:
        assert place.work(memory).state is JobState.COMPLETED
        before = found(memory)
        place.notes.rename(place.notes.with_name("unplugged"))

        away = place.work(memory)

        assert (away.state, away.tally.removed) == (JobState.COMPLETED, 0)
        assert found(memory) == before


def test_a_table_that_was_deleted_is_made_again_by_the_next_job(place: Place) -> None:
    with place.memory() as memory:
        assert place.work(memory).state is JobState.COMPLETED
        before = found(memory)
    shutil.rmtree(place.home / "lancedb")

    with place.memory() as memory:
        assert place.work(memory).state is JobState.COMPLETED
        assert found(memory) == before
        assert memory.maintenance.examine().findings == ()
