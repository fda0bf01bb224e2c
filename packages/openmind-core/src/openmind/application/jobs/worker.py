"""The worker of a background job: carries it out, and keeps its row true all the while."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from typing import Protocol

from attrs import frozen

from openmind.application.jobs.row import JobRow
from openmind.application.memory import OpenMind
from openmind.application.patience import patiently
from openmind.domain.control import RunControl, Wish
from openmind.domain.errors import IndexingBusy, JobActive, JobNotFound, OpenMindError
from openmind.domain.events import EventSink
from openmind.domain.ids import JobId
from openmind.domain.job_states import JobAction
from openmind.domain.jobs import IndexReport, JobState, ProcessMark
from openmind.domain.sentences import as_sentence
from openmind.ports.catalog import Catalog

LOOK_EVERY_S = 0.2
ASK_PROVIDER_AFTER_S = 5.0
"""How long after the loss of its provider a job asks whether it is back; then twice as long each time, up to"""
ASK_PROVIDER_EVERY_S = 60.0
"""until something was embedded again: a server may answer, and its model fail all the same, each time it is loaded."""
LOCK_S = 10.0
"""How long a job waits for somebody who holds the index lock for a moment, as the removal of a source does."""

BROKE_DOWN = "The worker broke down; its log says why."
WAS_ENDED = "The worker was told to end by the system. What it had finished is kept; the next start goes on from there."


class Workplace(Protocol):
    """A memory as one configuration made it, as far as a worker needs it."""

    def run(
        self,
        *,
        progress: EventSink,
        control: RunControl,
        job_id: JobId,
        leaving: Callable[[IndexReport], None] | None,
    ) -> IndexReport:
        """Make one pass; see `IndexService.run`."""
        ...

    def provider_answers(self) -> bool:
        """Whether the configured provider is within reach."""
        ...


@frozen
class MemoryAtWork:
    """An open memory as a `Workplace`."""

    memory: OpenMind

    def run(
        self,
        *,
        progress: EventSink,
        control: RunControl,
        job_id: JobId,
        leaving: Callable[[IndexReport], None] | None,
    ) -> IndexReport:
        return self.memory.indexing.run(progress=progress, control=control, job_id=job_id, leaving=leaving)

    def provider_answers(self) -> bool:
        return self.memory.models.health().reachable


class _NotNow(Exception):
    """The person wants something else meanwhile."""


@frozen(kw_only=True)
class JobWorker:
    """Carries out one job, in the process that was started for it."""

    catalog: Catalog
    workplace: Callable[[], AbstractContextManager[Workplace]]
    """Opens the memory with the configuration of that moment; for each pass anew."""
    process: Callable[[], ProcessMark]
    alive: Callable[[ProcessMark], bool]
    now: Callable[[], datetime]
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    beaten: Callable[[], None] = lambda: None
    """Called with every sign of life."""
    leave: Callable[[], None] | None = None
    """Ends the process at once, when a job is stopped while the store is in the midst of something long."""

    def carry_out(self, job_id: JobId) -> JobState:
        """Index until the job is completed or stopped; returns how it ended.

        Raises:
            JobNotFound: there is no such job, or it ended long ago.
            JobActive: another process works on it.
            OpenMindError: the run failed; the job says so.
        """
        row = JobRow(
            catalog=self.catalog,
            job_id=job_id,
            now=self.now,
            sleep=self.sleep,
            clock=self.clock,
            beaten=self.beaten,
        )
        state = self._take(row)
        if state.finished:
            return state
        try:
            return self._work(row)
        except OpenMindError as error:
            row.fail(f"{as_sentence(error.message)} {error.hint}".strip())
            raise
        except KeyboardInterrupt:
            row.fail(WAS_ENDED)
            raise
        except BaseException:
            row.fail(BROKE_DOWN)
            raise

    def _take(self, row: JobRow) -> JobState:
        """Take the job; one that was stopped before anybody began is simply over."""
        own = self.process()
        with self.catalog.writing() as session:
            job = session.job(row.job_id)
            if job is None or (job.state.finished and job.state is not JobState.STOPPED):
                raise JobNotFound(f"There is no unfinished job {row.job_id}", hint="Start one: `openmind index start`.")
            if job.process is not None and job.process.pid != own.pid and self.alive(job.process):
                raise JobActive(
                    f"The process {job.process.pid} works on the job {row.job_id} already",
                    hint="See: `openmind index status`.",
                )
            return row.take(session, job, own)

    def _work(self, row: JobRow) -> JobState:
        pause = ASK_PROVIDER_AFTER_S
        while True:
            with self.workplace() as place:
                report = self._pass(place, row)
            unserved = report.run.state is JobState.COMPLETED and report.run.error and not report.needs_person
            if report.run.tally.embedded:
                pause = ASK_PROVIDER_AFTER_S
            waited = self._wait_for_provider(row, report.run.error, pause) if unserved else None
            if waited is None:
                return row.end(report)
            pause = waited

    def _pass(self, place: Workplace, row: JobRow) -> IndexReport:
        row.begin_pass()
        deadline = self.clock() + LOCK_S
        leaving = None if self.leave is None else partial(_leave, row, self.leave)
        while True:
            try:
                return place.run(progress=row.progress, control=row, job_id=row.job_id, leaving=leaving)
            except IndexingBusy:
                if self.clock() >= deadline or row.look() is Wish.STOP:
                    raise
                self.sleep(LOOK_EVERY_S)

    def _wait_for_provider(self, row: JobRow, reason: str, pause: float) -> float | None:
        """Rest until the provider answers, or a person lets the job go on.

        Returns:
            How long to wait the next time if nothing comes of this; None when the job is to stop instead.
        """
        row.act(JobAction.WAIT, error=reason)
        ask_at = self.clock() + pause
        while True:
            wish = row.look_up()
            if wish is not Wish.PAUSE:
                return pause if wish is Wish.GO else None
            if self.clock() >= ask_at:
                if self._provider_answers(row):
                    row.go_on(reason)
                pause = min(2 * pause, ASK_PROVIDER_EVERY_S)
                ask_at = self.clock() + pause
            else:
                self.sleep(LOOK_EVERY_S)

    def _provider_answers(self, row: JobRow) -> bool:
        """Ask the provider that is configured by now; a wish that is heard meanwhile comes first."""

        def heed() -> None:
            if row.look() is not Wish.PAUSE:
                raise _NotNow

        try:
            with self.workplace() as place:
                return patiently(place.provider_answers, while_waiting=heed)
        except (_NotNow, OpenMindError):
            return False


def _leave(row: JobRow, leave: Callable[[], None], report: IndexReport) -> None:
    """End the job, then the process: the index lock goes with it, so nobody writes beside what the store still does."""
    row.end(report)
    leave()
