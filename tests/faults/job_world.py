"""The world of the harness, indexed by background jobs: each run is a worker that carries out a job."""

from collections.abc import Iterator
from contextlib import contextmanager

import attrs
from harness import Step, World, hurry
from openmind import OpenMind
from openmind.adapters.processes import this_process
from openmind.bootstrap import open_worker
from openmind.domain.ids import JobId
from openmind.domain.jobs import IndexJob, JobState, ProcessMark


class Here:
    """A launcher for tests: this process is the worker."""

    def launch(self, job_id: JobId) -> ProcessMark:
        return this_process()

    def last_words(self, _: JobId) -> str:
        return ""


def begin(memory: OpenMind) -> IndexJob:
    """Start a job whose worker is this process."""
    return attrs.evolve(memory.jobs, launcher=Here()).start()


@attrs.define
class JobWorld(World):
    """Runs are jobs. One whose worker was killed must be told as failed, and the next start must go on from there."""

    def index(self, step: Step | None = None) -> None:
        hurry()
        with self.begun() as job, open_worker(self.home, plugins=self.plugins(step)) as worker:
            worker.carry_out(job.id)

    @contextmanager
    def begun(self) -> Iterator[IndexJob]:
        with self.memory() as memory:
            if not memory.sources.list():
                memory.sources.add(self.notes)
            before = memory.jobs.current()
            if before is not None and not before.state.finished:
                raise AssertionError(f"a job whose worker was killed is still {before.state}")
            job = begin(memory)
            if before is not None and before.id == job.id:
                raise AssertionError("a job that ended was started again")
        yield job

    def check(self) -> None:
        super().check()
        with self.memory() as memory:
            job = memory.jobs.current()
            assert job is not None
            told = (job.state, job.error, job.tally.processed, job.tally.progress)
            assert told == (JobState.COMPLETED, "", len(self.pages), 100.0), told
            runs = memory.jobs.history(limit=1_000)
            assert all(run.state.finished for run in runs)
