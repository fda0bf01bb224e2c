"""The row of a job, as its worker reads and writes it."""

from collections.abc import Callable
from datetime import datetime

import attrs
from attrs import define, field

from openmind.domain.control import Wish
from openmind.domain.errors import OpenMindError
from openmind.domain.events import Progress
from openmind.domain.ids import JobId
from openmind.domain.job_states import JobAction, next_state
from openmind.domain.jobs import IndexJob, IndexReport, IndexTally, JobState, ProcessMark, continued
from openmind.ports.catalog import Catalog, CatalogWriter

LOOK_EVERY_S = 0.1
"""How often a worker looks whether it is to pause or stop."""
WRITE_EVERY_S = 0.5
"""How often it writes how far it is."""
BEAT_EVERY_S = 5.0
"""How often it gives a sign of life when nothing else is to be written."""
ENTERS = {
    JobState.DISCOVERING: JobAction.DISCOVER,
    JobState.RUNNING: JobAction.RUN,
    JobState.PAUSED: JobAction.REST,
}
"""What the state of a run does to its job."""


@define(kw_only=True)
class JobRow:
    """The worker's side of a job: also the `RunControl` and the `EventSink` of its run. Serves one thread."""

    catalog: Catalog
    job_id: JobId
    now: Callable[[], datetime]
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    beaten: Callable[[], None] = lambda: None
    """Called at most every `BEAT_EVERY_S`, also while the job rests."""
    _beaten_at: float = field(default=float("-inf"), init=False)
    _looked_at: float = field(default=float("-inf"), init=False)
    _written_at: float = field(default=float("-inf"), init=False)
    _wish: Wish = field(default=Wish.GO, init=False)
    _progress: Progress | None = field(default=None, init=False)
    _earlier: IndexTally = field(default=IndexTally(), init=False)
    """What the passes before this one have done."""
    _compares: bool = field(default=False, init=False)
    """Whether a further pass still looks what has changed: its counts say nothing yet."""
    _told: JobState | None = field(default=None, init=False)
    _seen: JobState | None = field(default=None, init=False)

    def take(self, session: CatalogWriter, job: IndexJob, process: ProcessMark) -> JobState:
        """Begin to work on a job, as part of a transaction; returns its state."""
        state = next_state(job.state, JobAction.DISCOVER)
        taken = attrs.evolve(job, process=process, state=state, updated_at=self.now().isoformat())
        if not state.finished:
            session.change_job(taken, expected=job.state)
        return state

    def look(self) -> Wish:
        """Read what is wanted now. A job that is finished, or whose row was deleted, is to stop."""
        at = self.clock()
        if at - self._beaten_at >= BEAT_EVERY_S:
            self._beaten_at = at
            self.beaten()
        with self.catalog.reading() as snapshot:
            job = snapshot.job(self.job_id)
        self._seen = None if job is None else job.state
        if job is None or job.state is JobState.STOP_REQUESTED or job.state.finished:
            return Wish.STOP
        return Wish.PAUSE if job.state in {JobState.PAUSE_REQUESTED, JobState.PAUSED} else Wish.GO

    def look_up(self) -> Wish:
        """`look` for one that rests: a pause after a resume that came too quickly to be seen is granted at once."""
        wish = self.look()
        if self._seen is JobState.PAUSE_REQUESTED:
            self.act(JobAction.REST)
        return wish

    def wish(self) -> Wish:
        """See `RunControl`; reads the row at most every `LOOK_EVERY_S`, and gives signs of life."""
        at = self.clock()
        if at - self._looked_at >= LOOK_EVERY_S:
            self._looked_at = at
            self._wish = self.look()
            if at - self._written_at >= BEAT_EVERY_S:
                self._write()
        return self._wish

    def rest(self) -> None:
        """See `RunControl`."""
        self.act(JobAction.REST)
        while self.look_up() is Wish.PAUSE:
            self.sleep(LOOK_EVERY_S)
        self._looked_at = float("-inf")

    def begin_pass(self) -> None:
        """Take what was told so far for the work of earlier passes; a job makes another one after a loss."""
        self._earlier = self._told_so_far()
        self._compares = self._progress is not None
        self._progress = None

    def progress(self, progress: Progress) -> None:
        """See `EventSink`; writes at most every `WRITE_EVERY_S`, or when the state changes."""
        self._progress = progress
        self._compares = self._compares and progress.state is not JobState.RUNNING
        if progress.state is not self._told or self.clock() - self._written_at >= WRITE_EVERY_S:
            self._told = progress.state
            self._write(ENTERS.get(progress.state))

    def act(self, action: JobAction, *, error: str = "") -> None:
        """Change the state, if the action has an effect in it."""
        self._write(action, error=error)

    def go_on(self, reason: str) -> None:
        """Resume a job that rests for a reason, unless a person has made the pause their own."""
        with self.catalog.writing() as session:
            job = session.job(self.job_id)
            if job is not None and job.state is JobState.PAUSED and job.error == reason:
                resumed = next_state(job.state, JobAction.RESUME)
                self._save(session, job, attrs.evolve(job, state=resumed, error=""))

    def end(self, report: IndexReport) -> JobState:
        """Finish as the run did; returns the state. What another process decided meanwhile stays."""
        with self.catalog.writing() as session:
            job = session.job(self.job_id)
            if job is None:
                return JobState.STOPPED
            state = next_state(job.state, JobAction.COMPLETE)
            if not state.finished:
                state = JobState.STOPPED
            error = job.error if job.state.finished else report.run.error
            compared = report.run.state is JobState.COMPLETED or not self._compares
            tally = continued(self._earlier, report.run.tally) if compared else self._earlier
            if report.run.state is JobState.COMPLETED and not error and not report.run.tally.vectors_wanted:
                tally = attrs.evolve(tally, vectors_made=tally.vectors_wanted)  # it found none that are missing
            ended = attrs.evolve(job, state=state, tally=tally, error=error, current_file="", per_second=0.0)
            self._save(session, job, ended)
        return state

    def fail(self, reason: str) -> None:
        """Finish with a reason, if that can be written; otherwise others see that this process is gone."""
        try:
            with self.catalog.writing() as session:
                job = session.job(self.job_id)
                if job is not None and not job.state.finished:
                    state = next_state(job.state, JobAction.FAIL)
                    self._save(session, job, attrs.evolve(job, state=state, error=reason, current_file=""))
        except OpenMindError:
            return

    def _write(self, action: JobAction | None = None, *, error: str = "") -> None:
        self._written_at = self.clock()
        with self.catalog.writing() as session:
            job = session.job(self.job_id)
            if job is None or job.state.finished:
                return
            changed = job if action is None else attrs.evolve(job, state=next_state(job.state, action))
            if error:
                changed = attrs.evolve(changed, error=error)
            if self._progress is not None:
                changed = attrs.evolve(
                    changed,
                    tally=self._told_so_far(),
                    current_file=self._progress.current_file,
                    per_second=self._progress.per_second,
                )
            self._save(session, job, changed)

    def _told_so_far(self) -> IndexTally:
        if self._progress is None or self._compares:
            return self._earlier
        return continued(self._earlier, self._progress.tally)

    def _save(self, session: CatalogWriter, before: IndexJob, after: IndexJob) -> None:
        at = self.now().isoformat()
        ended = after.state.finished and not before.state.finished
        after = attrs.evolve(after, updated_at=at, completed_at=at if ended else after.completed_at)
        session.change_job(after, expected=before.state)
