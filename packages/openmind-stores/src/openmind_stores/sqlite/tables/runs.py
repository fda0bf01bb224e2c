"""Runs and jobs in the catalog. Their columns have the documented names, which differ from those of the tally."""

from datetime import datetime
from typing import Final

from openmind.domain.ids import JobId, RunId
from openmind.domain.jobs import IndexJob, IndexRun, IndexTally, JobState, ProcessMark

from openmind_stores.sqlite.connection import Row
from openmind_stores.sqlite.records import REAL, TEXT, WHOLE, Form, Session, or_null, shapes
from openmind_stores.sqlite.values import text

# Both selects begin with the tally in the order of `_tally` and go on with the process.
_SELECT_RUN: Final = """
SELECT files_seen, files_indexed, already_indexed, files_skipped, errors, moved, removed, waiting_deletions, chunks,
    extracted, embedded, hashed, vectors_wanted, vectors_made, pid, process_started_at, boot_id,
    id, started_at, COALESCE(finished_at, ''), state, heartbeat_at, current_file, error, per_second, job_id,
    progressed_at
FROM index_runs
"""
_RUNS: Final = f"{_SELECT_RUN} ORDER BY rowid DESC LIMIT ?"
_RUN: Final = f"{_SELECT_RUN} WHERE id = ?"
_NEW_RUN: Final = "INSERT INTO index_runs (id, started_at) VALUES (?, '') ON CONFLICT (id) DO NOTHING"
_SAVE_RUN: Final = """
UPDATE index_runs SET
    files_seen = ?, files_indexed = ?, already_indexed = ?, files_skipped = ?, errors = ?, moved = ?, removed = ?,
    waiting_deletions = ?, chunks = ?, extracted = ?, embedded = ?, hashed = ?, vectors_wanted = ?,
    vectors_made = ?,
    pid = ?, process_started_at = ?, boot_id = ?,
    started_at = ?, finished_at = ?, state = ?, heartbeat_at = ?, current_file = ?, error = ?,
    per_second = ?, job_id = ?, progressed_at = ?
WHERE id = ?
"""
_SELECT_JOB: Final = """
SELECT total_files, indexed_files, already_indexed_files, skipped_files, failed_files, moved, removed,
    waiting_deletions, total_chunks, extracted, embedded, hashed, vectors_wanted, vectors_made,
    pid, process_started_at, boot_id,
    id, status, COALESCE(current_file, ''), COALESCE(error, ''), COALESCE(started_at, ''),
    COALESCE(completed_at, ''), COALESCE(updated_at, ''), per_second
FROM index_jobs
"""
_JOB: Final = f"{_SELECT_JOB} WHERE id = ?"
_JOBS: Final = f"{_SELECT_JOB} ORDER BY rowid DESC LIMIT ?"
_NEW_JOB: Final = "INSERT INTO index_jobs (id, status) VALUES (?, ?)"
_CHANGE_JOB: Final = """
UPDATE index_jobs SET
    total_files = ?, indexed_files = ?, already_indexed_files = ?, skipped_files = ?, failed_files = ?, moved = ?,
    removed = ?, waiting_deletions = ?, total_chunks = ?, extracted = ?, embedded = ?, hashed = ?, vectors_wanted = ?,
    vectors_made = ?,
    pid = ?, process_started_at = ?, boot_id = ?,
    processed_files = ?, status = ?, current_file = ?, error = ?, started_at = ?, completed_at = ?, updated_at = ?,
    per_second = ?
WHERE id = ? AND status = ?
"""


def _tally(row: Row) -> IndexTally:
    total, indexed, already, skipped, failed, moved, removed, waiting, chunks = row[:9]
    extracted, embedded, hashed, wanted, made = row[9:14]
    return IndexTally(
        total=total,
        indexed=indexed,
        already_indexed=already,
        skipped=skipped,
        failed=failed,
        moved=moved,
        removed=removed,
        waiting_deletions=waiting,
        chunks=chunks,
        extracted=extracted,
        embedded=embedded,
        hashed=hashed,
        vectors_wanted=wanted,
        vectors_made=made,
    )


def _process(row: Row) -> ProcessMark | None:
    pid, started_at, boot_id = row[14:17]
    if pid is None:
        return None
    if started_at is None or boot_id is None:
        raise ValueError(pid)
    return ProcessMark(pid=pid, started_at=started_at, boot_id=boot_id)


def _columns(tally: IndexTally, process: ProcessMark | None) -> tuple[object, ...]:
    """Map tally and process to columns, in the order in which they are read."""
    counts = (
        tally.total,
        tally.indexed,
        tally.already_indexed,
        tally.skipped,
        tally.failed,
        tally.moved,
        tally.removed,
        tally.waiting_deletions,
        tally.chunks,
        tally.extracted,
        tally.embedded,
        tally.hashed,
        tally.vectors_wanted,
        tally.vectors_made,
    )
    mark = (None, None, None) if process is None else (process.pid, process.started_at, process.boot_id)
    return (*counts, *mark)


def _run(row: Row) -> IndexRun:
    id, started_at, finished_at, state, heartbeat_at, current_file, error, per_second, job_id, progressed_at = row[17:]
    if not JobState(state).finished:
        _check_moment(progressed_at)
    return IndexRun(
        id=id,
        started_at=started_at,
        finished_at=finished_at,
        state=JobState(state),
        process=_process(row),
        heartbeat_at=heartbeat_at,
        tally=_tally(row),
        current_file=current_file,
        error=error,
        per_second=per_second,
        job_id=job_id,
        progressed_at=progressed_at,
    )


def _job(row: Row) -> IndexJob:
    id, status, current_file, error, started_at, completed_at, updated_at, per_second = row[17:]
    state = JobState(status)
    if not state.finished:
        _check_moment(started_at)
        _check_moment(updated_at)
    return IndexJob(
        id=id,
        state=state,
        tally=_tally(row),
        current_file=current_file,
        error=error,
        started_at=started_at,
        completed_at=completed_at,
        updated_at=updated_at,
        per_second=per_second,
        process=_process(row),
    )


def _check_moment(text: str) -> None:
    """Refuse a time that will be reckoned with; there may be none yet.

    Raises:
        ValueError: it is none, or nobody knows in which zone.
    """
    if text and datetime.fromisoformat(text).tzinfo is None:
        raise ValueError(text)


_COUNTED: Final = (*(14 * (WHOLE,)), or_null(WHOLE), or_null(REAL), or_null(TEXT))
"""Tally and process."""
RUNS: Final = Form(
    table="index_runs",
    every=_SELECT_RUN,
    shapes=shapes(*_COUNTED, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, REAL, or_null(TEXT), TEXT),
    make=_run,
)
JOBS: Final = Form(
    table="index_jobs",
    every=_SELECT_JOB,
    shapes=shapes(*_COUNTED, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, REAL),
    make=_job,
)


class RunReading(Session):
    """Looks runs and jobs up."""

    def run(self, run_id: RunId) -> IndexRun | None:
        return self.one(RUNS, _RUN, (run_id,))

    def runs(self, *, limit: int = 20) -> tuple[IndexRun, ...]:
        return self.all(RUNS, _RUNS, (limit,))

    def job(self, job_id: JobId) -> IndexJob | None:
        return self.one(JOBS, _JOB, (job_id,))

    def jobs(self, *, limit: int = 20) -> tuple[IndexJob, ...]:
        return self.all(JOBS, _JOBS, (limit,))

    def latest_job(self) -> IndexJob | None:
        return next(iter(self.jobs(limit=1)), None)


class RunWriting(RunReading):
    """Saves runs and jobs."""

    def save_run(self, run: IndexRun) -> None:
        told = (
            run.started_at,
            run.finished_at,
            run.state.value,
            run.heartbeat_at,
            text(run.current_file),
            text(run.error),
            run.per_second,
            run.job_id,
            run.progressed_at,
        )
        self.link.run(_NEW_RUN, (run.id,))
        self.link.run(_SAVE_RUN, (*_columns(run.tally, run.process), *told, run.id))

    def add_job(self, job: IndexJob) -> None:
        self.link.run(_NEW_JOB, (job.id, job.state.value))
        self.change_job(job, expected=job.state)

    def change_job(self, job: IndexJob, *, expected: JobState) -> bool:
        told = (
            job.tally.processed,
            job.state.value,
            text(job.current_file),
            text(job.error),
            job.started_at,
            job.completed_at,
            job.updated_at,
            job.per_second,
        )
        changed = self.link.run(_CHANGE_JOB, (*_columns(job.tally, job.process), *told, job.id, expected.value))
        return changed == 1
