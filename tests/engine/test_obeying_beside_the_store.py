"""Wishes that are heard while the store is in the midst of something long, which nobody can interrupt."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from types import SimpleNamespace

import attrs
import psutil
import pytest
from openmind.adapters.processes import is_alive, mark_of, this_process
from openmind.application.jobs.worker import JobWorker, MemoryAtWork
from openmind.bootstrap.services import utc_now
from openmind.domain.control import Wish
from openmind.domain.errors import IndexingBusy
from openmind.domain.jobs import JobState

PATIENCE_S = 120
FILES = 3
WORKER_THAT_HANGS = """
import sys, threading
from openmind.worker import main
from openmind_stores.lance.chunk_store import LanceChunkStore

LanceChunkStore.fold = lambda *_: threading.Event().wait()
sys.exit(main(["--job-id", sys.argv[1]]))
"""


@attrs.define
class Passages:
    """A chunk store in which folding rows into the text index hangs, until it is set free."""

    inner: object
    begun: threading.Event = attrs.field(factory=threading.Event)
    free: threading.Event = attrs.field(factory=threading.Event)
    folded: int = 0

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    def fold(self, table: str) -> None:
        self.begun.set()
        self.free.wait(PATIENCE_S)
        self.inner.fold(table)
        self.folded += 1


@attrs.define
class Storage:
    """A storage with other passages."""

    inner: object
    chunks: Passages

    def __getattr__(self, name: str):
        return getattr(self.inner, name)


@attrs.define
class Hanging:
    """A memory whose store hangs while a batch is committed, and the worker of its background jobs."""

    memory: object
    passages: Passages
    left: Callable[[], None] = lambda: None
    worker: threading.Thread | None = None

    def start(self) -> None:
        """Start a job, and go on once the store hangs."""

        class Here:
            def launch(self, _):
                return this_process()

            def last_words(self, _):
                return ""

        job = attrs.evolve(self.memory.jobs, launcher=Here()).start()
        self.worker = threading.Thread(target=self._worker().carry_out, args=(job.id,), daemon=True)
        self.worker.start()
        assert self.passages.begun.wait(PATIENCE_S)

    def ended(self) -> JobState:
        self.worker.join(PATIENCE_S)
        assert not self.worker.is_alive()
        return self.memory.jobs.current().state

    def becomes(self, state: JobState) -> None:
        until(lambda: self.memory.jobs.current().state is state)

    def run(self, **given):
        means = attrs.evolve(self.memory.indexing.means, storage=Storage(self.memory.storage, self.passages))
        return attrs.evolve(self.memory.indexing, means=means).run(**given)

    def _worker(self) -> JobWorker:
        @contextmanager
        def workplace():
            yield MemoryAtWork(SimpleNamespace(indexing=self, models=self.memory.models))

        return JobWorker(
            catalog=self.memory.storage.catalog,
            workplace=workplace,
            process=this_process,
            alive=is_alive,
            now=utc_now,
            leave=lambda: self.left(),
        )


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def hanging(world, memory):
    for number in range(FILES):
        world.write(f"{number}.txt", f"heliotrope number{number}")
    hanging = Hanging(memory, Passages(memory.storage.chunks))
    yield hanging
    hanging.passages.free.set()
    if hanging.worker is not None:
        hanging.worker.join(PATIENCE_S)


def test_a_pause_is_granted_while_the_store_folds_and_what_it_folds_can_be_found_during_the_pause(hanging) -> None:
    hanging.start()
    hanging.memory.jobs.pause()
    hanging.becomes(JobState.PAUSED)
    assert hanging.memory.status().indexed_files == 0

    hanging.passages.free.set()
    until(lambda: hanging.memory.status().indexed_files == FILES)
    assert hanging.memory.jobs.current().state is JobState.PAUSED
    assert hanging.worker.is_alive()

    hanging.memory.jobs.resume()
    assert hanging.ended() is JobState.COMPLETED


def test_a_pause_that_is_taken_back_while_the_store_folds_lets_the_job_go_on(hanging) -> None:
    hanging.start()
    hanging.memory.jobs.pause()
    hanging.becomes(JobState.PAUSED)
    hanging.memory.jobs.resume()
    hanging.passages.free.set()

    assert hanging.ended() is JobState.COMPLETED
    assert hanging.memory.status().indexed_files == FILES


@pytest.mark.parametrize("paused", [False, True])
def test_a_stop_ends_the_job_while_the_store_folds_and_nobody_else_may_write(hanging, paused: bool) -> None:
    seen = []

    def left() -> None:
        seen.append(hanging.memory.jobs.current().state)
        with pytest.raises(IndexingBusy), hanging.memory.storage.index_lock():
            pass
        seen.append(hanging.passages.folded)
        hanging.passages.free.set()

    hanging.left = left
    hanging.start()
    if paused:
        hanging.memory.jobs.pause()
        hanging.becomes(JobState.PAUSED)
    hanging.memory.jobs.stop()

    assert hanging.ended() is JobState.STOPPED
    assert seen == [JobState.STOPPED, 0]
    assert hanging.memory.status().indexed_files == 0
    assert hanging.memory.search("heliotrope").hits == ()


def test_what_a_stop_left_behind_is_made_again_by_the_next_start_without_reading_it_again(hanging) -> None:
    hanging.left = hanging.passages.free.set
    hanging.start()
    hanging.memory.jobs.stop()
    assert hanging.ended() is JobState.STOPPED

    hanging.start()

    assert hanging.ended() is JobState.COMPLETED
    assert hanging.memory.jobs.current().tally.extracted == 0
    assert len(hanging.memory.search("heliotrope").hits) == FILES
    assert set(hanging.memory.storage.chunks.health().unindexed_rows.values()) == {0}


def test_a_stop_where_the_process_goes_on_waits_for_the_store_and_keeps_all(hanging) -> None:
    class Stop:
        """Wants to stop as soon as the store hangs, and sets it free when that was heard often enough."""

        heard = 0

        def wish(self) -> Wish:
            if not hanging.passages.begun.is_set():
                return Wish.GO
            self.heard += 1
            if self.heard == 6:
                hanging.passages.free.set()
            return Wish.STOP

        def rest(self) -> None:
            raise AssertionError("nobody wants a pause")

    hanging.run(control=Stop())

    assert hanging.passages.folded == 1
    assert hanging.memory.status().indexed_files == FILES


def test_an_interruption_does_not_give_the_lock_back_before_the_store_is_done(hanging) -> None:
    class Interrupted:
        def wish(self) -> Wish:
            if hanging.passages.begun.is_set():
                threading.Timer(0.3, hanging.passages.free.set).start()
                raise KeyboardInterrupt
            return Wish.GO

        def rest(self) -> None:
            raise AssertionError("nobody wants a pause")

    with pytest.raises(KeyboardInterrupt):
        hanging.run(control=Interrupted())

    assert hanging.passages.folded == 1
    assert hanging.memory.index().run.state is JobState.COMPLETED
    assert hanging.memory.status().indexed_files == FILES


def test_the_process_of_a_stopped_job_ends_with_its_helpers_while_the_store_hangs(world, memory) -> None:
    for number in range(FILES):
        world.write(f"{number}.txt", f"heliotrope number{number}")
    launched = []

    class Launcher:
        def launch(self, job_id):
            command = [sys.executable, "-c", WORKER_THAT_HANGS, job_id]
            environment = {**os.environ, "OPENMIND_HOME": str(world.home)}
            launched.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
            return mark_of(launched[0].pid)

        def last_words(self, _):
            return ""

    attrs.evolve(memory.jobs, launcher=Launcher()).start()
    until(lambda: begun(memory))
    helpers = psutil.Process(launched[0].pid).children(recursive=True)
    memory.jobs.stop()
    until(lambda: memory.jobs.current().state is JobState.STOPPED)
    told, _ = launched[0].communicate(timeout=PATIENCE_S)

    assert launched[0].returncode == 0
    assert "the next start reads those files again" in told
    assert psutil.wait_procs(helpers, timeout=PATIENCE_S)[1] == []
    assert memory.index().run.state is JobState.COMPLETED
    assert memory.status().indexed_files == FILES


def begun(memory) -> bool:
    with memory.storage.catalog.reading() as snapshot:
        return bool(snapshot.intents())
