"""Runs and jobs: one pass over the sources, and the background job that makes it."""

from datetime import datetime
from enum import StrEnum

import attrs
from attrs import field, frozen

from openmind.domain.ids import JobId, RunId


class JobState(StrEnum):
    """Where a job is in its life; `idle` is shown when there is none."""

    PENDING = "pending"
    DISCOVERING = "discovering"
    RUNNING = "running"
    PAUSE_REQUESTED = "pause_requested"
    PAUSED = "paused"
    STOP_REQUESTED = "stop_requested"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"

    @property
    def finished(self) -> bool:
        return self in {JobState.STOPPED, JobState.COMPLETED, JobState.FAILED}


@frozen(kw_only=True)
class ProcessMark:
    """Names one process beyond doubt, also after its number was given away again."""

    pid: int
    started_at: float
    """Seconds; from the boot where the system tells that, else by the clock."""
    boot_id: str


@frozen(kw_only=True)
class FileFailure:
    """A file that is not, or not wholly, searchable."""

    path: str
    code: str
    """A `FileReason`."""
    message: str


@frozen(kw_only=True)
class IndexTally:
    """What a run has done so far; every file it looked at is in exactly one of the first five."""

    indexed: int = 0
    already_indexed: int = 0
    skipped: int = 0
    failed: int = 0
    moved: int = 0
    removed: int = 0
    waiting_deletions: int = 0
    """Files that are gone but whose memory is kept until a person confirms."""
    chunks: int = 0
    total: int = 0
    """Files that the run found; grows when files appear meanwhile."""
    extracted: int = 0
    embedded: int = 0
    """Passages that were given to the embedder."""
    hashed: int = 0
    vectors_wanted: int = 0
    """Passages that were found by words only, and are to get vectors once every file is read."""
    vectors_made: int = 0
    """How many of them have theirs."""

    @property
    def processed(self) -> int:
        return self.indexed + self.already_indexed + self.skipped + self.failed + self.moved

    @property
    def progress(self) -> float:
        """Percent, 0–100."""
        return min(100.0, 100.0 * self.processed / self.total) if self.total else 100.0


def continued(before: IndexTally, now: IndexTally) -> IndexTally:
    """Add up two passes of one job: what the former read is not told as something that was known already.

    Of vectors, the latest pass that counted them knows how many are left, also when a table was discarded with those
    it had; a pass that was lost before it could count, as without its embedder, leaves the former count as it is.
    """
    wanted = max(before.vectors_wanted, now.vectors_wanted)
    made = wanted - now.vectors_wanted + now.vectors_made if now.vectors_wanted else before.vectors_made
    ours = min(now.already_indexed, before.indexed + before.moved)
    read = min(before.indexed, ours)
    return attrs.evolve(
        now,
        indexed=now.indexed + read,
        moved=now.moved + ours - read,
        already_indexed=now.already_indexed - ours,
        removed=before.removed + now.removed,
        chunks=before.chunks + now.chunks,
        extracted=before.extracted + now.extracted,
        embedded=before.embedded + now.embedded,
        hashed=before.hashed + now.hashed,
        vectors_wanted=wanted,
        vectors_made=made,
    )


def progress_of(state: JobState, tally: IndexTally) -> float:
    """Percent, 0–100, of a run; one that has found nothing has made no progress unless there was nothing to find."""
    return tally.progress if tally.total or state is JobState.COMPLETED else 0.0


@frozen(kw_only=True)
class IndexRun:
    """One pass over the sources."""

    id: RunId
    started_at: str
    finished_at: str = ""
    state: JobState = JobState.RUNNING
    process: ProcessMark | None = None
    heartbeat_at: str = ""
    tally: IndexTally = IndexTally()
    current_file: str = ""
    error: str = ""
    per_second: float = 0.0
    """Files, or once every file is read passages, since it began or went on; 0.0 while that is not known."""
    job_id: JobId | None = None
    progressed_at: str = ""
    """When what it has done last grew, or it went on after a pause; ISO 8601, UTC."""

    def still_s(self, now: datetime) -> float:
        """For how many seconds it has finished nothing, where that is long; else 0.0. One that rests wants to."""
        if self.state.finished or self.state is JobState.PAUSED or not self.progressed_at:
            return 0.0
        passed = (now - datetime.fromisoformat(self.progressed_at)).total_seconds()
        return passed if passed >= STILL_S else 0.0


@frozen(kw_only=True)
class IndexJob:
    """A background job: an intention that a worker process carries out."""

    id: JobId
    state: JobState
    tally: IndexTally = IndexTally()
    current_file: str = ""
    error: str = ""
    started_at: str = ""
    completed_at: str = ""
    updated_at: str = ""
    """When its worker last gave a sign of life, or was woken; ISO 8601, UTC."""
    process: ProcessMark | None = None
    per_second: float = 0.0
    """See `IndexRun`."""

    def is_stuck(self, now: datetime) -> bool:
        """Whether its worker should have given a sign of life long ago. One that rests gives none."""
        if self.state.finished or self.state is JobState.PAUSED or not self.updated_at:
            return False
        return (now - datetime.fromisoformat(self.updated_at)).total_seconds() > STUCK_S


def latest_of(job: IndexJob | None, run: IndexRun | None) -> IndexJob | IndexRun | None:
    """Which of the last job and the last run tells what goes on, else what began last. A job tells of its own runs."""
    if run is None or (job is not None and not job.state.finished):
        return job
    if not run.state.finished:
        return run
    in_the_foreground = run.job_id is None
    return run if in_the_foreground and (job is None or run.started_at > job.started_at) else job


def as_its_job_ended(run: IndexRun | None, job: IndexJob | None) -> IndexRun | None:
    """A run as a person sees it: one that did without its provider is not over while its job waits to make another.

    A job that fails or is stopped meanwhile says how that ended.
    """
    if run is None or job is None or run.job_id != job.id or not run.error:
        return run
    if run.state is not JobState.COMPLETED or job.state not in {JobState.FAILED, JobState.STOPPED}:
        return run
    ended = job.completed_at or run.finished_at
    return attrs.evolve(run, state=job.state, error=job.error or run.error, finished_at=ended)


@frozen(kw_only=True)
class IndexReport:
    """What a finished run tells."""

    run: IndexRun
    failures: tuple[FileFailure, ...] = field(default=())
    """The first `MAX_REPORTED` files that are not searchable."""
    failures_total: int = 0
    notices: tuple[str, ...] = ()
    """Sentences for the person: a folder is missing, deletions wait, vectors are missing."""
    mended: tuple[str, ...] = ()
    """Those of the notices that tell what was put right or only took long: they leave nothing undone."""
    unread_kinds: dict[str, int] = field(factory=dict)
    """Files in the sources of kinds that nothing reads, by kind, most files first; no tally counts them."""
    needs_person: bool = False
    """Whether what the error of the run tells cannot be over by itself, as where a token is missing."""


RUN_DIED = "The process that indexed ended without a word: it was ended by force, or had no room to write down why."
"""What is told of a run that did not tell itself how it ended."""
STUCK_S = 60
"""A worker that is silent for longer than this has most likely hung."""
STILL_S = 300
"""A run that has finished nothing for longer than this is at something uncommonly large, or will never go on."""
MAX_REPORTED = 1_000
"""A report lists at most this many files; `status --files` pages through all of them."""
