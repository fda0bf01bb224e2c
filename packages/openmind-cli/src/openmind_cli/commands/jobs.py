"""`openmind index start`, `status`, `pause`, `resume`, `stop`, `history` and `worker`: indexing in the background."""

import time
from typing import TYPE_CHECKING

from openmind import OpenMind, open_memory
from openmind.domain.contract import job_object, run_object
from openmind.domain.ids import JobId
from openmind.domain.jobs import IndexJob, JobState

from openmind_cli.exit_codes import OK
from openmind_cli.parameters import HistoryLimit, Json, Switch
from openmind_cli.render.jobs import (
    job_lines,
    job_of,
    now,
    print_history,
    rows_of,
    status_object,
)
from openmind_cli.render.lines import line, note, print_lines
from openmind_cli.render.objects import print_list, print_object
from openmind_cli.terminal import is_terminal

if TYPE_CHECKING:
    from rich.table import Table

LOOK_EVERY_S = 0.5
TOLD = {
    JobState.PAUSE_REQUESTED: "will pause in a moment; `openmind index resume` lets it go on",
    JobState.PAUSED: "is paused; `openmind index resume` lets it go on",
    JobState.STOP_REQUESTED: "will stop in a moment; what it has finished is kept",
    JobState.STOPPED: "has stopped; what it had finished is kept",
    JobState.PENDING: "is about to begin",
    JobState.DISCOVERING: "is looking what has changed",
    JobState.RUNNING: "goes on",
}


RESTING = {JobState.PAUSE_REQUESTED, JobState.PAUSED}


def start(*, json: Json = False) -> int:
    """Index in the background.

    The terminal may be closed meanwhile. When a job is under way already, that one is shown. What was read can be
    found at once. One that is paused stays so; `openmind index resume` lets it go on.
    """
    with open_memory() as memory:
        before = memory.jobs.current()
        try:
            job, is_new = memory.jobs.begin()
            _print_started(job, is_new=is_new, json=json)
        except KeyboardInterrupt as interrupted:
            raise KeyboardInterrupt(_interrupted(before, memory.jobs.current())) from interrupted
    return OK


def _print_started(job: IndexJob, *, is_new: bool, json: bool) -> None:
    if json:
        print_object(job_object(job))
        return
    if is_new:
        told = "indexes in the background now"
    else:
        told = TOLD[job.state] if job.state in RESTING else "is under way already"
    print_lines([line(f"{job.id} {told}.")])
    if job.state not in RESTING:
        note("Next: `openmind index status` shows how far it is.")


def _interrupted(before: IndexJob | None, after: IndexJob | None) -> str:
    """Say what goes on although the one who asked for it was interrupted."""
    if after is None or after.state.finished or (before is not None and before.id == after.id):
        return ""
    return f"Interrupted, and {after.id} indexes in the background all the same; `openmind index stop` ends it"


def status(*, once: Switch = False, json: Json = False) -> int:
    """Show how far the background job is.

    At a terminal the table is kept up to date until the job ends, or Ctrl-C.

    Parameters
    ----------
    once
        Show it once and end.
    """
    with open_memory(create=False) as memory:
        job = job_of(memory.jobs.latest())
        missing, still_s, words = memory.missing_sources(), _still_s(memory), memory.jobs.last_words(job)
        if not json and not once and is_terminal() and _goes_on(job):
            _follow(memory)
            return OK
    if json:
        print_object(status_object(job, now(), missing=missing, still_s=still_s, words=words))
    else:
        print_lines(job_lines(rows_of(job, now(), missing=missing, still_s=still_s, words=words)))
    return OK


def pause(*, json: Json = False) -> int:
    """Let the background job rest after the file, or the page, it is at."""
    with open_memory(create=False) as memory:
        return _steered(memory.jobs.pause(), json=json)


def resume(*, json: Json = False) -> int:
    """Let a paused job go on."""
    with open_memory(create=False) as memory:
        return _steered(memory.jobs.resume(), json=json)


def stop(*, force: Switch = False, json: Json = False) -> int:
    """End the background job; what it has finished is kept, and the next one goes on from there.

    Parameters
    ----------
    force
        End its process, too, if that has given no sign of life for a minute.
    """
    with open_memory(create=False) as memory:
        return _steered(memory.jobs.end() if force else memory.jobs.stop(), json=json)


def history(*, limit: HistoryLimit = 20, json: Json = False) -> int:
    """Show what earlier runs did, the newest first.

    Parameters
    ----------
    limit
        How many; 1 to 1000.
    """
    with open_memory(create=False) as memory:
        runs = memory.jobs.history(limit=limit)
    if json:
        print_list("runs", ({"run_id": run.id, **run_object(run)} for run in runs))
    elif runs:
        print_history(runs)
    else:
        note("Nothing was indexed yet. `openmind index` reads the sources.")
    return OK


def worker(*, job_id: str) -> int:
    """Carry out a background job in this process; `openmind index start` does it for you.

    Parameters
    ----------
    job_id
        The job.
    """
    from openmind.worker import carry_out  # loads the engine

    return carry_out(JobId(job_id))


def _steered(job: IndexJob, *, json: bool) -> int:
    if json:
        print_object(job_object(job))
    else:
        print_lines([line(f"{job.id} {TOLD.get(job.state, f'has {job.state.value}')}.")])
    return OK


def _still_s(memory: OpenMind) -> float:
    run = memory.jobs.last_run()
    return 0.0 if run is None else run.still_s(now())


def _follow(memory: OpenMind) -> None:
    from rich.live import Live

    job = job_of(memory.jobs.latest())
    try:
        with Live(_table(job, memory), auto_refresh=False, vertical_overflow="visible") as live:
            while _goes_on(job):
                time.sleep(LOOK_EVERY_S)
                job = job_of(memory.jobs.latest())
                live.update(_table(job, memory), refresh=True)
    except KeyboardInterrupt:
        return  # which is how one leaves


def _goes_on(job: IndexJob | None) -> bool:
    """Whether another look may show something else: what a person has paused waits for the person."""
    return job is not None and not job.state.finished and not _waits(job)


def _waits(job: IndexJob) -> bool:
    return job.state is JobState.PAUSED and not job.error


def _table(job: IndexJob | None, memory: OpenMind) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(title=_title(job), title_justify="left", show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    missing, words = memory.missing_sources(), memory.jobs.last_words(job)
    for name, value in rows_of(job, now(), missing=missing, still_s=_still_s(memory), words=words):
        table.add_row(Text(name), Text(value))
    return table


def _title(job: IndexJob | None) -> str:
    if _goes_on(job):
        return "Indexing (Ctrl-C leaves; it goes on)"
    return "Indexing is paused" if job is not None and _waits(job) else "Indexing has ended"
