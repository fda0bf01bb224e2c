"""What a finished index run tells."""

import sys
from collections.abc import Collection, Iterable, Iterator

from openmind.domain.files import FileReason, FileStatus
from openmind.domain.jobs import FileFailure, IndexReport, IndexRun, JobState

from openmind_cli.render.amounts import between, count, duration
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import Line, Span, line, print_lines
from openmind_cli.render.unread import summary
from openmind_cli.terminal import same_eyes

SHOWN = 20
"""Files listed of each kind; the rest is one command away."""


def is_partial(report: IndexReport) -> bool:
    """Whether something that should be in memory is not, or waits for the person."""
    tally = report.run.tally
    unfinished = report.run.state is not JobState.COMPLETED
    undone = set(report.notices) - set(report.mended)
    return unfinished or tally.failed > 0 or tally.waiting_deletions > 0 or bool(undone or report.run.error)


def print_report(report: IndexReport) -> None:
    """Print the summary of a run; what was told beside the progress, to the same eyes, is not told again."""
    told = report.notices if same_eyes(sys.stdout, sys.stderr) else ()
    print_lines(report_lines(report, told=told))


def report_lines(report: IndexReport, *, told: Collection[str] = ()) -> Iterator[Line]:
    """The summary: numbers, then files by what became of them, then what a person should know and was not told."""
    tally = report.run.tally
    seconds = between(report.run.started_at, report.run.finished_at)
    took = f" in {duration(seconds)}" if seconds is not None else ""
    yield line(Span(f"{_headline(report.run)}: {count(tally.processed, 'file')}{took}", "bold"))
    yield _number("indexed", tally.indexed, f"{count(tally.chunks, 'passage')}")
    yield _number("already indexed", tally.already_indexed)
    yield _number("moved", tally.moved)
    yield _number("removed", tally.removed)
    yield _number("skipped", tally.skipped, _elsewhere(report, FileStatus.SKIPPED))
    yield _number("failed", tally.failed, _elsewhere(report, FileStatus.FAILED))
    if report.unread_kinds:
        yield line(f"{summary(report.unread_kinds)}  (`openmind status --files unread` lists them)", indent=2)
    yield from _files(report.failures, FileStatus.FAILED, "Failed", tally.failed)
    yield from _files(report.failures, FileStatus.SKIPPED, "Skipped", tally.skipped)
    yield from _files(report.failures, FileStatus.INDEXED, "Read in part")
    for notice in (notice for notice in report.notices if notice not in told):
        yield line(Span("note: ", "bold yellow"), one_line(notice))
    if report.run.error and report.run.error not in report.notices:
        yield line(Span("error: ", "bold red"), one_line(report.run.error))


def _headline(run: IndexRun) -> str:
    """One word or two; a run that had to leave something out is not done."""
    if run.state is JobState.COMPLETED:
        return "Stopped early" if run.error else "Done"
    return run.state.value.replace("_", " ").capitalize()


def _number(name: str, number: int, more: str = "") -> Line:
    told = f"  ({more})" if more and number else ""
    return line(f"{name:<16}{number:>9,}{told}", indent=2)


def _files(failures: Iterable[FileFailure], status: FileStatus, title: str, total: int = 0) -> Iterator[Line]:
    """The files of one kind, those that something can be done about first.

    `total` counts also those that the report does not list.
    """
    found = sorted((failure for failure in failures if _status(failure) is status), key=_urgency)
    if not found:
        return
    yield line(Span(f"{title}:", "bold"))
    for failure in found[:SHOWN]:
        why = failure.message or failure.code.replace("_", " ")
        yield line(one_line(f"{failure.path}: {why}"), indent=2)
    hidden = max(total, len(found)) - min(SHOWN, len(found))
    if hidden > 0:
        word = "partial" if status is FileStatus.INDEXED else status.value
        yield line(f"… and {hidden:,} more: `openmind status --files {word}` lists them all", indent=2)


def _elsewhere(report: IndexReport, status: FileStatus) -> str:
    """Where files are listed that this report does not list."""
    listed = any(_status(failure) is status for failure in report.failures)
    return "" if listed else f"`openmind status --files {status.value}` lists them"


def _status(failure: FileFailure) -> FileStatus:
    try:
        return FileReason(failure.code).status
    except ValueError:
        return FileStatus.FAILED


def _urgency(failure: FileFailure) -> tuple[int, str]:
    try:
        return FileReason(failure.code).urgency, failure.path
    except ValueError:
        return 0, failure.path
