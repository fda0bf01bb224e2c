"""Jobs: indexing in the background, by a process that outlives the one that asked for it."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

import attrs
from attrs import define, field, frozen

from openmind.application.indexing import IndexService
from openmind.domain.control import Wish
from openmind.domain.errors import JobNotFound, OpenMindError
from openmind.domain.events import Progress
from openmind.domain.ids import JobId, new_job_id
from openmind.domain.job_states import JobAction, next_state
from openmind.domain.jobs import IndexJob, IndexReport, JobState, ProcessMark
from openmind.ports.catalog import Catalog, CatalogWriter
from openmind.ports.job_launcher import JobLauncher

PENDING_S = 30
"""A worker that has not begun after this long never will."""
LOOK_EVERY_S = 0.2
"""How often a worker looks whether it is to pause or stop."""
ASK_PROVIDER_EVERY_S = 5.0
"""How often a job that waits for its provider asks whether it is back."""


@frozen(kw_only=True)
class JobService:
    """Starts, watches and steers background jobs. One is unfinished at most."""

    catalog: Catalog
    launcher: JobLauncher
    alive: Callable[[ProcessMark], bool]
    now: Callable[[], datetime]

    def start(self) -> IndexJob:
        """Start a job; the unfinished one is returned when there is one.

        Raises:
            JobError: the worker could not be started.
        """
        with self.catalog.writing() as session:
            active = self._settled(session)
            if active is not None:
                return active
            at = self.now().isoformat()
            job = IndexJob(id=new_job_id(), state=JobState.PENDING, started_at=at, updated_at=at)
            session.add_job(job)
        try:
            mark = self.launcher.launch(job.id)
        except OpenMindError as error:
            self._act(job.id, JobAction.FAIL, error=error.message)
            raise
        return self._note_process(job, mark)

    def current(self) -> IndexJob | None:
        """The job that was made last, as it really is; None before the first."""
        with self.catalog.reading() as snapshot:
            job = snapshot.latest_job()
        if job is None or self._believable(job) is job:
            return job
        with self.catalog.writing() as session:
            self._settled(session)
            return session.job(job.id)

    def busy(self) -> bool:
        """Whether anything is being indexed now, in the background or by a command."""
        job = self.current()
        if job is not None and not job.state.finished:
            return True
        with self.catalog.reading() as snapshot:
            runs = snapshot.runs(limit=1)
        return any(not run.state.finished and run.process is not None and self.alive(run.process) for run in runs)

    def pause(self) -> IndexJob:
        """Ask the unfinished job to pause.

        Raises:
            JobNotFound: none is unfinished.
        """
        return self._ask(JobAction.PAUSE)

    def resume(self) -> IndexJob:
        """Let the paused job go on.

        Raises:
            JobNotFound: none is unfinished.
        """
        return self._ask(JobAction.RESUME)

    def stop(self) -> IndexJob:
        """Ask the unfinished job to stop.

        Raises:
            JobNotFound: none is unfinished.
        """
        return self._ask(JobAction.STOP)

    def _ask(self, action: JobAction) -> IndexJob:
        with self.catalog.writing() as session:
            job = self._settled(session)
            if job is None:
                raise JobNotFound("No indexing job is under way", hint="Start one: openmind index start")
            return self._changed(session, job, action)

    def _act(self, job_id: JobId, action: JobAction, *, error: str = "") -> IndexJob | None:
        with self.catalog.writing() as session:
            job = session.job(job_id)
            return None if job is None else self._changed(session, attrs.evolve(job, error=error), action)

    def _changed(self, session: CatalogWriter, job: IndexJob, action: JobAction) -> IndexJob:
        state = next_state(job.state, action)
        at = self.now().isoformat()
        changed = attrs.evolve(job, state=state, updated_at=at, completed_at=at if state.finished else job.completed_at)
        session.change_job(changed, expected=job.state)
        return changed

    def _note_process(self, job: IndexJob, mark: ProcessMark) -> IndexJob:
        """The worker may have gone on meanwhile; its own word about the state wins."""
        with self.catalog.writing() as session:
            latest = session.job(job.id) or job
            noted = attrs.evolve(latest, process=latest.process or mark)
            session.change_job(noted, expected=latest.state)
        return noted

    def _settled(self, session: CatalogWriter) -> IndexJob | None:
        """The unfinished job, after one whose worker died was marked failed."""
        job = session.latest_job()
        if job is None or job.state.finished:
            return None
        believable = self._believable(job)
        if believable is job:
            return job
        session.change_job(believable, expected=job.state)
        return None

    def _believable(self, job: IndexJob) -> IndexJob:
        if job.state.finished:
            return job
        if job.process is None:
            waited = self.now() - datetime.fromisoformat(job.updated_at)
            if job.state is not JobState.PENDING or waited <= timedelta(seconds=PENDING_S):
                return job
            reason = "Its worker never began."
        elif self.alive(job.process):
            return job
        else:
            reason = "Its worker ended without a word; the next start goes on where it was."
        at = self.now().isoformat()
        return attrs.evolve(job, state=JobState.FAILED, error=reason, updated_at=at, completed_at=at, current_file="")


@frozen(kw_only=True)
class JobWorker:
    """Carries out one job, in the process that was started for it."""

    catalog: Catalog
    indexing: IndexService
    process: Callable[[], ProcessMark]
    provider_answers: Callable[[], bool]
    now: Callable[[], datetime]
    sleep: Callable[[float], None] = time.sleep

    def carry_out(self, job_id: JobId) -> JobState:
        """Index, and keep the job's row true all the while.

        Raises:
            JobNotFound: there is no such job, or it is finished.
            OpenMindError: the run failed; the job says so.
        """
        row = JobRow(catalog=self.catalog, job_id=job_id, now=self.now, sleep=self.sleep)
        row.begin(self.process())
        try:
            while True:
                report = self.indexing.run(progress=row.progress, control=row, job_id=job_id)
                if report.run.state is not JobState.COMPLETED or not report.run.error:
                    return row.end(report)
                if not self._wait_for_provider(row, report.run.error):
                    return row.end(report)
        except OpenMindError as error:
            row.fail(error.message)
            raise
        except BaseException:
            row.fail("The worker broke down; its log says why.")
            raise

    def _wait_for_provider(self, row: "JobRow", reason: str) -> bool:
        """Rest until the provider answers; False when the job is to stop instead."""
        row.act(JobAction.REST, error=reason)
        while row.look() is not Wish.STOP:
            if row.state() is not JobState.PAUSED:
                return True  # a person let it go on
            self.sleep(ASK_PROVIDER_EVERY_S)
            if self.provider_answers():
                row.act(JobAction.RESUME)
                return True
        return False


@define(kw_only=True)
class JobRow:
    """The row of a job, as its worker reads and writes it. Also the `RunControl` of its run."""

    catalog: Catalog
    job_id: JobId
    now: Callable[[], datetime]
    sleep: Callable[[float], None]
    clock: Callable[[], float] = time.monotonic
    _looked_at: float = field(default=float("-inf"), init=False)
    _wish: Wish = field(default=Wish.GO, init=False)

    def begin(self, process: ProcessMark) -> None:
        """Take the job."""
        with self.catalog.writing() as session:
            job = session.job(self.job_id)
            if job is None or job.state.finished:
                raise JobNotFound(f"There is no unfinished job {self.job_id}", hint="Start one: openmind index start")
            session.change_job(
                attrs.evolve(job, process=process, state=next_state(job.state, JobAction.DISCOVER)), expected=job.state
            )

    def state(self) -> JobState:
        """The state in the row now; a job whose row was deleted counts as stopped."""
        with self.catalog.reading() as snapshot:
            job = snapshot.job(self.job_id)
        return JobState.STOPPED if job is None else job.state

    def wish(self) -> Wish:
        """See `RunControl`; reads the row at most every `LOOK_EVERY_S`."""
        at = self.clock()
        if at - self._looked_at >= LOOK_EVERY_S:
            self._looked_at = at
            self._wish = self.look()
        return self._wish

    def look(self) -> Wish:
        """Read what is wanted now."""
        state = self.state()
        if state is JobState.STOP_REQUESTED or state.finished:
            return Wish.STOP
        return Wish.PAUSE if state in {JobState.PAUSE_REQUESTED, JobState.PAUSED} else Wish.GO

    def rest(self) -> None:
        """See `RunControl`."""
        self.act(JobAction.REST)
        while self.look() is Wish.PAUSE:
            self.sleep(LOOK_EVERY_S)
        self._looked_at = float("-inf")

    def progress(self, progress: Progress) -> None:
        """Write how far the run is; see `EventSink`."""
        with self.catalog.writing() as session:
            job = session.job(self.job_id)
            if job is None or job.state.finished:
                return
            state = job.state
            if progress.state is JobState.RUNNING:
                state = next_state(state, JobAction.RUN)
            session.change_job(
                attrs.evolve(
                    job,
                    state=state,
                    tally=progress.tally,
                    current_file=progress.current_file,
                    updated_at=self.now().isoformat(),
                ),
                expected=job.state,
            )

    def act(self, action: JobAction, *, error: str = "") -> None:
        """Change the state."""
        with self.catalog.writing() as session:
            job = session.job(self.job_id)
            if job is not None:
                at = self.now().isoformat()
                session.change_job(
                    attrs.evolve(job, state=next_state(job.state, action), error=error, updated_at=at),
                    expected=job.state,
                )

    def end(self, report: IndexReport) -> JobState:
        """Finish as the run did."""
        with self.catalog.writing() as session:
            job = session.job(self.job_id)
            if job is None:
                return JobState.STOPPED
            at = self.now().isoformat()
            state = next_state(job.state, JobAction.COMPLETE)
            session.change_job(
                attrs.evolve(
                    job,
                    state=state if state.finished else JobState.STOPPED,
                    tally=report.run.tally,
                    error=report.run.error,
                    current_file="",
                    updated_at=at,
                    completed_at=at,
                ),
                expected=job.state,
            )
            return state

    def fail(self, reason: str) -> None:
        """Finish with a reason."""
        self.act(JobAction.FAIL, error=reason)
