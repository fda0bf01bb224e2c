"""Background jobs: one at a glance, a table that follows one, and what earlier runs did."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from openmind.domain.contract import Object, job_object
from openmind.domain.ids import JobId
from openmind.domain.jobs import IndexJob, IndexRun, JobState, progress_of
from openmind.domain.pace import Pace, pace_of
from openmind.domain.sentences import as_sentence

from openmind_cli.render.amounts import between, count, duration, moment
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import Line, Span, line, print_columns
from openmind_cli.render.progress import vectors_text
from openmind_cli.terminal import is_terminal

WIDTH = 17
BAR_WIDTH = 30


def now() -> datetime:
    """The time."""
    return datetime.now(UTC)


def job_of(found: IndexJob | IndexRun | None) -> IndexJob | None:
    """Show a run in the foreground as the job that it has not."""
    if not isinstance(found, IndexRun):
        return found
    return IndexJob(
        id=JobId(""),
        state=found.state,
        tally=found.tally,
        current_file=found.current_file,
        error=found.error,
        started_at=found.started_at,
        completed_at=found.finished_at,
        updated_at=found.heartbeat_at,
        process=found.process,
        per_second=found.per_second,
    )


def under_way_notice(found: IndexJob | IndexRun | None) -> str:
    """Say, beside what was found, that there may soon be more; empty when nothing goes on."""
    if found is None or found.state.finished:
        return ""
    tally = found.tally
    far = f" ({tally.processed:,} of {tally.total:,} files)" if tally.total else ""
    doing = "paused" if found.state is JobState.PAUSED else "under way"
    if found.state is JobState.PAUSED and found.error:
        return f"Indexing is paused{far}: {as_sentence(found.error)}"
    if tally.total and tally.processed >= tally.total:
        made = f"vectors follow: {vectors_text(tally)}" if tally.vectors_wanted else "vectors may still be missing"
        return f"Indexing is {doing}{far}: every file is read, {made}."
    return f"Indexing is {doing}{far}: what is not read yet cannot be found yet."


def unread_notice(run: IndexRun | None) -> str:
    """Say, beside what was found, that the last run did not come to its end; empty when it did, or goes on."""
    if run is None or run.state not in {JobState.STOPPED, JobState.FAILED}:
        return ""
    tally = run.tally
    if tally.total and tally.processed >= tally.total:
        return ""
    far = f" after {tally.processed:,} of {count(tally.total, 'file')}" if tally.total else ""
    return f"The last index run ended early{far}: what it did not read cannot be found; `openmind index` goes on."


def rows_of(
    job: IndexJob | None, at: datetime, *, missing: Sequence[str] = (), still_s: float = 0.0, words: str = ""
) -> Iterator[tuple[str, str]]:
    """The rows of the table: name and value; among them the folders that are not there now.

    Args:
        job: what goes on, or was last.
        at: the time.
        missing: the folders.
        still_s: for how many seconds nothing was finished, where that is long.
        words: what its log says of one that does not begin, or hangs.
    """
    if job is None:
        yield "state", "idle: nothing was indexed yet"
        yield from _missing_rows(missing)
        return
    tally = job.tally
    in_front = "ran" if job.state.finished else "runs"
    yield "job", job.id or f"none: `openmind index` {in_front} in the foreground"
    yield "state", state_text(job, at)
    if still_s:
        yield "no progress", f"nothing was finished for {duration(still_s)}"
    if words:
        yield "its log says", one_line(words)
    if job.error:
        yield ("reason" if job.state is JobState.PAUSED else "error"), one_line(job.error)
    yield "total files", f"{tally.total:,}"
    yield "processed", f"{tally.processed:,}"
    yield "indexed", f"{tally.indexed:,}"
    yield "already indexed", f"{tally.already_indexed:,}"
    if tally.moved:
        yield "moved", f"{tally.moved:,}"
    yield "skipped", f"{tally.skipped:,}"
    yield "failed", f"{tally.failed:,}"
    if tally.removed:
        yield "removed", f"{tally.removed:,}"
    if tally.waiting_deletions:
        yield (
            "waiting",
            f"{count(tally.waiting_deletions, 'file')} gone or left out; `openmind index --accept-deletions`",
        )
    yield "passages", f"{tally.chunks:,}"
    yield "progress", progress_text(job)
    if tally.vectors_wanted:
        yield "vectors", vectors_text(tally)
    if job.state is JobState.RUNNING:  # also while there is nothing to say: a table that is followed must not jump
        yield "pace", pace_text(found) if (found := _pace(job)) else ""
        yield "current file", one_line(job.current_file)
    yield "started", moment(job.started_at)
    if job.completed_at:
        seconds = between(job.started_at, job.completed_at)
        yield "ended", moment(job.completed_at) + (f", after {duration(seconds)}" if seconds is not None else "")
    yield from _missing_rows(missing)
    if step := next_step(job, still_s=still_s):
        yield "next", step


def _missing_rows(missing: Sequence[str]) -> Iterator[tuple[str, str]]:
    for path in missing:
        yield "not there now", f"{one_line(path)}; what was read from it is kept"


def progress_text(job: IndexJob) -> str:
    """`45 %`."""
    return f"{progress_of(job.state, job.tally):.0f} %"


def next_step(job: IndexJob, *, still_s: float = 0.0) -> str:
    """What a person can do about a job that does not go on; empty when there is nothing to do."""
    begin = "`openmind index start`" if job.id else "`openmind index`"
    match job.state:
        case JobState.PAUSED if job.error:
            return "it goes on by itself when that is over; `openmind index resume` tries at once"
        case JobState.PAUSED:
            return "`openmind index resume` lets it go on, `openmind index stop` ends it"
        case JobState.FAILED | JobState.STOPPED:
            return f"{begin} goes on from there"
        case JobState.COMPLETED if job.error:
            return f"{begin} completes it, once that is mended"
        case _ if still_s:
            end = "`openmind index stop`" if job.id else "Ctrl-C in its terminal"
            return f"a large file or a slow model may take that long; else {end}, then {begin}"
        case _:
            return ""


def _pace(job: IndexJob) -> Pace | None:
    return pace_of(job.tally, job.per_second) if job.state is JobState.RUNNING else None


def pace_text(found: Pace) -> str:
    """`12.5 files/s, about 3 min left`."""
    rate = f"{found.vectors_per_s:,.1f} passages/s" if found.vectors_per_s else f"{found.files_per_s:,.1f} files/s"
    return f"{rate}, about {duration(found.seconds_left)} left"


def state_text(job: IndexJob, at: datetime) -> str:
    """`running`, and whether it seems to be stuck."""
    state = job.state.value.replace("_", " ")
    who = f" (process {job.process.pid})" if job.process and not job.state.finished else ""
    stuck = "; stuck: no sign of life for a minute, its log says where" if job.is_stuck(at) else ""
    return f"{state}{who}{stuck}"


def job_lines(rows: Iterable[tuple[str, str]]) -> Iterator[Line]:
    """The table as lines, without the rows that say nothing."""
    for name, value in rows:
        if value:
            yield line(Span(f"{name:<{WIDTH}}", "dim"), value)


def status_object(
    job: IndexJob | None, at: datetime, *, missing: Sequence[str] = (), still_s: float = 0.0, words: str = ""
) -> Object:
    """The job of the API, and what only a look at the clock tells."""
    found = _pace(job) if job else None
    return {
        **job_object(job),
        "job_id": job.id or None if job else None,
        "stuck": job is not None and job.is_stuck(at),
        "still_s": round(still_s),
        "log_says": words or None,
        "files_per_second": round(found.files_per_s, 2) if found and not found.vectors_per_s else None,
        "vectors_per_second": round(found.vectors_per_s, 2) if found and found.vectors_per_s else None,
        "seconds_left": round(found.seconds_left, 1) if found else None,
        "pid": job.process.pid if job and job.process else None,
        "missing_sources": list(missing),
    }


HISTORY_HEADS = ("began", "state", "took", "indexed", "already", "moved", "removed", "skipped", "failed", "by", "error")


def print_history(runs: Sequence[IndexRun]) -> None:
    """Print one run a row. At a terminal, columns that say nothing of any of them leave their room to the others."""
    rows = list(history_rows(runs))
    if not is_terminal():
        print_columns([HISTORY_HEADS, *rows], heads=HISTORY_HEADS, wide=("error",))
        return
    told = [at for at, cells in enumerate(zip(*rows, strict=True)) if set(cells) - {"", "0"}]
    heads = [HISTORY_HEADS[at] for at in told]
    print_columns([[row[at] for at in told] for row in rows], heads=heads, wide=("error",))


def history_rows(runs: Iterable[IndexRun]) -> Iterator[Sequence[str]]:
    """One row a run."""
    for run in runs:
        seconds = between(run.started_at, run.finished_at or run.heartbeat_at)
        tally = run.tally
        numbers = (tally.indexed, tally.already_indexed, tally.moved, tally.removed, tally.skipped, tally.failed)
        yield (
            moment(run.started_at),
            run.state.value.replace("_", " "),
            duration(seconds) if seconds is not None else "",
            *(f"{number:,}" for number in numbers),
            run.job_id or "command",
            one_line(run.error),
        )
