"""Jobs: indexing in the background, by a process that outlives the one that asked for it."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

import attrs
from attrs import frozen

from openmind.domain.errors import IndexingBusy, JobActive, JobError, JobNotFound, OpenMindError, StoreError
from openmind.domain.ids import JobId, new_job_id
from openmind.domain.job_states import JobAction, next_state
from openmind.domain.jobs import RUN_DIED, IndexJob, IndexRun, JobState, ProcessMark, latest_of
from openmind.domain.journal import SILENCE, Journal
from openmind.domain.sources import require_readable
from openmind.ports.catalog import Catalog, CatalogReader, CatalogWriter
from openmind.ports.job_launcher import JobLauncher

PENDING_S = 30
"""A worker that has not begun after this long never will."""
STOPPING_S = 10.0
"""How long a start waits for a job that was asked to stop."""
ENDING_S = 5.0
"""How long a process that was ended by force is waited for."""
LOOK_EVERY_S = 0.1
"""How often a job that was asked to stop is looked at."""
LOOK = "`openmind index status` shows how far it is"
NEVER_BEGAN = "Its worker never began."


@frozen(kw_only=True)
class JobService:
    """Starts, watches and steers background jobs. One is unfinished at most."""

    catalog: Catalog
    launcher: JobLauncher
    alive: Callable[[ProcessMark], bool]
    end_process: Callable[[ProcessMark], None]
    """Ends a process by force, if it still runs."""
    now: Callable[[], datetime]
    check_home: Callable[[], None] = lambda: None
    """Raises where nothing could be written into the home: a job would fail as soon as it begins."""
    journal: Journal = SILENCE
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def start(self) -> IndexJob:
        """Start a job; the unfinished one is returned when there is one. One that is about to stop is waited for.

        Raises:
            NoSources: there is nothing to index.
            JobActive: a job was asked to stop and does not.
            IndexingBusy: a command indexes in the foreground.
            JobError: the worker could not be started.
            HomeUnusable: something is in the way of what it would write.
        """
        return self.begin()[0]

    def begin(self) -> tuple[IndexJob, bool]:
        """`start`, and whether it was this call that made the job: several may start at the same moment."""
        self.check_home()
        before = self.current()
        if before is not None and before.state is JobState.STOP_REQUESTED:
            self.halt(within_s=STOPPING_S)
        with self.catalog.writing() as session:
            active = self._settled(session)
            if active is not None:
                return active, False
            require_readable(session.sources())
            self._refuse_beside_run(session)
            # Launched within the transaction, so that no row is without its process, wherever the starter is killed;
            # a worker whose row was never committed finds no job, for its first step waits for this transaction.
            job, refusal = self._launched(new_job_id())
            session.add_job(job)
        if refusal is not None:
            self.journal.note("job.not_started", job=job.id, code=refusal.code)
            raise refusal
        self.journal.note("job.started", job=job.id, worker=job.process.pid if job.process else None)
        return job, True

    def current(self) -> IndexJob | None:
        """The job that was made last, as it really is; None before the first."""
        with self.catalog.reading() as snapshot:
            job = snapshot.latest_job()
        return None if job is None else self.as_it_is(job)

    def as_it_is(self, job: IndexJob) -> IndexJob:
        """The job that was made last, as it really is: one whose worker has died is noted as failed."""
        believable = self._believable(job)
        if believable is job:
            return job
        try:
            with self.catalog.writing() as session:
                self._settled(session)
                return session.job(job.id) or believable
        except StoreError:  # where nothing can be written, the truth can still be told
            return believable

    def latest(self) -> IndexJob | IndexRun | None:
        """What goes on, else what began last: a run in the foreground has no job. None before the first."""
        return latest_of(self.current(), self.last_run())

    def last_words(self, job: IndexJob | None) -> str:
        """What stands last in the log of a job that has not begun, or seems to hang: maybe for whom it waits.

        Empty for every other job, and where its log says nothing.
        """
        if job is None or not job.id or job.state.finished:
            return ""
        run = self.last_run()
        is_still = run is not None and run.job_id == job.id and bool(run.still_s(self.now()))
        return self.launcher.last_words(job.id) if job.state is JobState.PENDING or self._hangs(job) or is_still else ""

    def last_run(self) -> IndexRun | None:
        """The run that began last, as it really is; None before the first."""
        return next(iter(self.history(limit=1)), None)

    def history(self, *, limit: int = 20) -> tuple[IndexRun, ...]:
        """Runs as they really are, the newest first, in the background or not."""
        with self.catalog.reading() as snapshot:
            return tuple(map(self.believable_run, snapshot.runs(limit=limit)))

    def busy(self) -> bool:
        """Whether anything is being indexed now, in the background or by a command."""
        job = self.current()
        if job is not None and not job.state.finished:
            return True
        return any(not run.state.finished for run in self.history(limit=1))

    def pause(self) -> IndexJob:
        """Ask the unfinished job to pause; one that waits for its provider then waits for the person, too.

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

    def end(self) -> IndexJob:
        """Stop the unfinished job; a worker that gives no sign of life any more is ended by force.

        Raises:
            JobNotFound: none is unfinished.
            JobError: the process may not be ended.
        """
        hangs = self._hangs(self.current())
        job = self.stop()
        if not hangs or job.process is None:
            return job
        self.end_process(job.process)
        self.journal.note("job.ended", job=job.id, worker=job.process.pid)
        deadline = self.clock() + ENDING_S
        while self.alive(job.process) and self.clock() < deadline:
            self.sleep(LOOK_EVERY_S)
        return self.as_it_is(job)

    def halt(self, *, within_s: float) -> IndexJob | None:
        """Stop the unfinished job and wait for its end; None when there is none.

        Raises:
            JobActive: it did not stop in that time; it stays asked to.
        """
        hangs = self._hangs(self.current())
        try:
            job = self.stop()
        except JobNotFound:
            return None
        deadline = self.clock() + within_s
        while not job.state.finished:
            if self.clock() >= deadline:
                raise JobActive(
                    f"The indexing job {job.id} was asked to stop and has not stopped within {within_s:g} s",
                    hint=f"Its process {job.process.pid} hangs; `openmind index stop --force` ends it."
                    if hangs and job.process
                    else "Try again in a moment; `openmind index status --once` shows how far it is.",
                )
            self.sleep(LOOK_EVERY_S)
            job = self.current() or job
        return job

    def refuse_beside_job(self) -> None:
        """Refuse what only one process may do, while a job is unfinished.

        Raises:
            IndexingBusy: there is one; the message names its process.
        """
        job = self.current()
        if job is None or job.state.finished:
            return
        who = f"the process {job.process.pid}" if job.process else "a process that is being started"
        state = "is paused and holds the memory" if job.state is JobState.PAUSED else "is indexing this memory"
        way_out = "`openmind index resume` lets it go on" if job.state is JobState.PAUSED else LOOK
        raise IndexingBusy(
            f"{who} {state} (background job {job.id})", hint=f"{way_out}; `openmind index stop` ends it."
        )

    def refuse_while_indexing(self, session: CatalogWriter) -> None:
        """Refuse, as part of a transaction, what nobody may do while files are indexed, in the background or not.

        Raises:
            JobActive: a job is unfinished.
            IndexingBusy: a command indexes in the foreground.
        """
        job = self._settled(session)
        if job is not None:
            paused = job.state is JobState.PAUSED
            state = "is paused" if paused else "is under way"
            way_out = "Let it go on: `openmind index resume`" if paused else "Wait until that is done"
            raise JobActive(
                f"A source cannot be removed while the background job {job.id} {state}",
                hint=f"{way_out}, or stop it: `openmind index stop`, or `--stop-job` with the removal.",
            )
        self._refuse_beside_run(session)

    def believable_run(self, run: IndexRun) -> IndexRun:
        """A run as it is: one whose process has died failed, whatever its row says."""
        if run.state.finished or run.process is None or self.alive(run.process):
            return run
        return attrs.evolve(run, state=JobState.FAILED, error=RUN_DIED)

    def _refuse_beside_run(self, session: CatalogReader) -> None:
        process = self._in_the_foreground(session)
        if process is not None:
            raise IndexingBusy(
                f"the process {process.pid} is indexing this memory",
                hint="Wait until it is done, or end it with Ctrl-C; `openmind status` shows how far it is.",
            )

    def _in_the_foreground(self, session: CatalogReader) -> ProcessMark | None:
        """The process that indexes without a job."""
        for run in map(self.believable_run, session.runs(limit=1)):
            if not run.state.finished:
                return run.process
        return None

    def _hangs(self, job: IndexJob | None) -> bool:
        return job is not None and job.is_stuck(self.now())

    def _ask(self, action: JobAction) -> IndexJob:
        with self.catalog.writing() as session:
            job = self._settled(session)
            if job is None:
                raise self._nothing_to_ask(session)
            state = next_state(job.state, action)
            if action is JobAction.PAUSE or state is not job.state:
                job = attrs.evolve(job, error="")  # a pause is the person's from now on, not the provider's
            # A wish is no sign of life of a worker; one that rested has given none for as long as it did.
            at = self.now().isoformat() if job.state is JobState.PAUSED else job.updated_at
            saved = self._saved(session, job, state, updated_at=at)
            if (
                state.finished and job.state is JobState.PENDING
            ):  # its worker has not begun, and may hang before it does
                self._end_quietly(job.process)
        self.journal.note("job.asked", job=job.id, action=action.value, state=state.value)
        return saved

    def _nothing_to_ask(self, session: CatalogReader) -> JobNotFound:
        process = self._in_the_foreground(session)
        if process is None:
            return JobNotFound("No indexing job is under way", hint="Start one: `openmind index start`.")
        return JobNotFound(
            f"The process {process.pid} indexes in the foreground, which is no background job",
            hint="Ctrl-C in its terminal ends it; what it has finished is kept.",
        )

    def _launched(self, job_id: JobId) -> tuple[IndexJob, OpenMindError | None]:
        """A job with its worker, or one that failed because none could be started, and why."""
        at = self.now().isoformat()
        job = IndexJob(id=job_id, state=JobState.PENDING, started_at=at, updated_at=at)
        try:
            return attrs.evolve(job, process=self.launcher.launch(job_id)), None
        except OpenMindError as error:
            return attrs.evolve(job, state=JobState.FAILED, error=error.message, completed_at=at), error

    def _saved(self, session: CatalogWriter, job: IndexJob, state: JobState, *, updated_at: str = "") -> IndexJob:
        at = self.now().isoformat()
        ended = state.finished and not job.state.finished
        changed = attrs.evolve(
            job, state=state, updated_at=updated_at or at, completed_at=at if ended else job.completed_at
        )
        session.change_job(changed, expected=job.state)
        return changed

    def _settled(self, session: CatalogWriter) -> IndexJob | None:
        """The unfinished job, after one whose worker died was marked failed."""
        job = session.latest_job()
        if job is None or job.state.finished:
            return None
        believable = self._believable(job)
        if believable is job:
            return job
        session.change_job(believable, expected=job.state)
        self._end_quietly(job.process)  # if there is one, it hangs before its first word, and would for ever
        self.journal.note("job.given_up", job=job.id, state=believable.state.value)
        return None

    def _believable(self, job: IndexJob) -> IndexJob:
        """The job as it is: one that nobody works on failed, whatever its row says."""
        if job.state.finished:
            return job
        if job.process is not None and not self.alive(job.process):
            words = self.launcher.last_words(job.id) if job.state is JobState.PENDING else ""
            return self._lost(job, f"{NEVER_BEGAN} {words}" if words else RUN_DIED)
        # Also one whose worker hangs before its first word: a worker that comes late finds its job finished.
        begun = job.process is not None and job.state is not JobState.PENDING
        return (
            job
            if begun or self._is_fresh(job)
            else self._lost(job, f"{NEVER_BEGAN} {self.launcher.last_words(job.id)}".strip())
        )

    def _end_quietly(self, process: ProcessMark | None) -> None:
        if process is None:
            return
        try:
            self.end_process(process)
        except JobError as error:  # it is somebody else's, and harms nobody: its job is over
            self.journal.note("job.not_ended", worker=process.pid, code=error.code)

    def _is_fresh(self, job: IndexJob) -> bool:
        """Whether a job was made a moment ago; one from the future was made before the clock was set back."""
        if not job.started_at:
            return False
        return abs(self.now() - datetime.fromisoformat(job.started_at)) <= timedelta(seconds=PENDING_S)

    def _lost(self, job: IndexJob, reason: str) -> IndexJob:
        if job.state is JobState.STOP_REQUESTED:
            state, reason = JobState.STOPPED, ""  # it ended, which is what was asked for
        else:
            state = JobState.FAILED
        last = job.updated_at or job.started_at  # nobody worked when this was noticed, perhaps days later
        return attrs.evolve(job, state=state, error=reason, completed_at=last, current_file="")
