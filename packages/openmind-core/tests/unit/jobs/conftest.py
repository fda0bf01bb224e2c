"""A catalog with one source, and the services of jobs over processes that do not exist."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import attrs
import pytest
from openmind.application.jobs.row import JobRow
from openmind.application.jobs.service import JobService
from openmind.application.jobs.worker import JobWorker
from openmind.domain.control import RunControl
from openmind.domain.events import EventSink, Progress
from openmind.domain.ids import JobId, RunId, SourceId
from openmind.domain.jobs import IndexReport, IndexRun, IndexTally, JobState, ProcessMark
from openmind.domain.sources import Source
from openmind.testing.fakes.catalog import MemoryCatalog
from openmind.testing.fakes.jobs import FakeClock, FakeProcesses

SOURCE = Source(id=SourceId("src_000000000001"), path_bytes=b"/notes", created_at="2026-01-01T00:00:00+00:00")


@attrs.define
class World:
    """What a test plays with."""

    catalog: MemoryCatalog = attrs.field(factory=MemoryCatalog)
    clock: FakeClock = attrs.field(factory=FakeClock)
    processes: FakeProcesses = attrs.field(factory=FakeProcesses)

    def __attrs_post_init__(self) -> None:
        with self.catalog.writing() as session:
            session.add_source(SOURCE)

    def service(self) -> JobService:
        return JobService(
            catalog=self.catalog,
            launcher=self.processes,
            alive=self.processes.alive,
            end_process=self.processes.end,
            now=self.clock.now,
            sleep=self.clock.sleep,
            clock=self.clock.monotonic,
        )

    def row(self, job_id: JobId, process: ProcessMark | None = None) -> JobRow:
        """The side of a worker that has begun."""
        row = JobRow(
            catalog=self.catalog,
            job_id=job_id,
            now=self.clock.now,
            sleep=self.clock.sleep,
            clock=self.clock.monotonic,
        )
        with self.catalog.writing() as session:
            job = session.job(job_id)
            assert job is not None
            row.take(session, job, process or job.process or self.processes.appear())
        return row

    def worker(self, place: "Place", process: ProcessMark) -> JobWorker:
        @contextmanager
        def opened() -> Iterator[Place]:
            place.opened += 1
            yield place

        return JobWorker(
            catalog=self.catalog,
            workplace=opened,
            process=lambda: process,
            alive=self.processes.alive,
            now=self.clock.now,
            sleep=self.clock.sleep,
            clock=self.clock.monotonic,
        )


Step = Callable[[EventSink, RunControl], IndexReport]


@attrs.define
class Place:
    """A workplace whose passes are scripted; the last step is repeated."""

    steps: list[Step]
    answers: Callable[[], bool] = lambda: True
    opened: int = 0
    passes: int = 0

    def run(
        self,
        *,
        progress: EventSink,
        control: RunControl,
        job_id: JobId,
        leaving: Callable[[IndexReport], None] | None,
    ) -> IndexReport:
        self.passes += 1
        return self.steps[min(self.passes, len(self.steps)) - 1](progress, control)

    def provider_answers(self) -> bool:
        return self.answers()


def report(state: JobState = JobState.COMPLETED, *, error: str = "", done: int = 3) -> IndexReport:
    run = IndexRun(
        id=RunId("run_000000000001"), started_at="", state=state, error=error, tally=IndexTally(indexed=done, total=3)
    )
    return IndexReport(run=run)


def progress(state: JobState, *, done: int = 0, file: str = "") -> Progress:
    return Progress(state=state, tally=IndexTally(indexed=done, total=3), current_file=file)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def script() -> "Script":
    return Script()


class Script:
    """Makes the steps of a `Place`."""

    report = staticmethod(report)
    progress = staticmethod(progress)
    place = Place

    @staticmethod
    def ends(state: JobState = JobState.COMPLETED, *, error: str = "") -> Step:
        return lambda _progress, _control: report(state, error=error)

    @staticmethod
    def raises(failure: BaseException) -> Step:
        def step(_progress: EventSink, _control: RunControl) -> IndexReport:
            raise failure

        return step
