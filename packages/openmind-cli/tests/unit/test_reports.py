"""The summary of an index run."""

import attrs
import pytest
from openmind.domain.ids import RunId
from openmind.domain.jobs import FileFailure, IndexReport, IndexRun, IndexTally, JobState
from openmind_cli.render.reports import SHOWN, is_partial, report_lines


def a_report(
    tally: IndexTally,
    *failures: FileFailure,
    state: JobState = JobState.COMPLETED,
    notices: tuple[str, ...] = (),
    mended: tuple[str, ...] = (),
) -> IndexReport:
    run = IndexRun(
        id=RunId("run_1"),
        started_at="2026-01-02T03:04:05+00:00",
        finished_at="2026-01-02T03:05:10+00:00",
        state=state,
        tally=tally,
    )
    return IndexReport(run=run, failures=failures, failures_total=len(failures), notices=notices, mended=mended)


def shown(report: IndexReport) -> list[str]:
    return [line.plain for line in report_lines(report)]


def test_the_summary_tells_the_numbers_apart() -> None:
    tally = IndexTally(indexed=1_200, already_indexed=2, skipped=3, failed=4, moved=5, removed=6, chunks=9_000)

    assert shown(a_report(tally))[:7] == [
        "Done: 1,214 files in 1 min 05 s",
        "  indexed             1,200  (9,000 passages)",
        "  already indexed         2",
        "  moved                   5",
        "  removed                 6",
        "  skipped                 3  (`openmind status --files skipped` lists them)",
        "  failed                  4  (`openmind status --files failed` lists them)",
    ]


def test_a_run_that_lost_its_server_is_not_called_done() -> None:
    report = a_report(IndexTally(indexed=2))
    report = attrs.evolve(report, run=attrs.evolve(report.run, error="The server does not answer"))

    lines = shown(report)

    assert lines[0] == "Stopped early: 2 files in 1 min 05 s"
    assert lines[-1] == "error: The server does not answer"


def test_failed_skipped_and_partly_read_files_are_listed_with_reasons() -> None:
    report = a_report(
        IndexTally(failed=1, skipped=1, indexed=1),
        FileFailure(path="/a.pdf", code="damaged", message="The file is damaged."),
        FileFailure(path="/b.bin", code="too_big", message=""),
        FileFailure(path="/c\n.pdf", code="partial", message="Page 3 could not be read."),
    )

    lines = shown(report)

    assert lines[lines.index("Failed:") + 1] == "  /a.pdf: The file is damaged."
    assert lines[lines.index("Skipped:") + 1] == "  /b.bin: too big"
    assert lines[lines.index("Read in part:") + 1] == "  /c\\n.pdf: Page 3 could not be read."


def test_kinds_that_something_can_be_done_about_are_named_first_and_links_in_words() -> None:
    kinds = {f".o{n}": 100 for n in range(8)} | {"link": 2, ".doc": 3, "pipe": 1}

    lines = shown(attrs.evolve(a_report(IndexTally(indexed=1)), unread_kinds=kinds))

    assert any("806 files of kinds that are not read: 3 .doc, 2 links, 100 .o0, " in line for line in lines)


def test_one_line_counts_the_files_of_kinds_that_are_not_read() -> None:
    kinds = {".jpg": 1_200, ".doc": 7} | {f".k{n}": 1 for n in range(8)}

    lines = shown(attrs.evolve(a_report(IndexTally(indexed=1)), unread_kinds=kinds))

    [line] = [line for line in lines if "kinds that are not read" in line]
    assert line.startswith(
        "  1,215 files of kinds that are not read: 7 .doc, 1,200 .jpg, 1 .k0, 1 .k1, 1 .k2, 1 .k3, 4 others"
    )
    assert "--files unread" in line
    assert not any("kinds that are not read" in line for line in shown(a_report(IndexTally(indexed=1))))


def test_a_long_list_is_cut_and_says_where_the_rest_is() -> None:
    failures = [FileFailure(path=f"/{n}", code="empty", message="") for n in range(SHOWN + 5)]

    lines = shown(a_report(IndexTally(skipped=5_000), *failures))

    assert sum(line.startswith("  /") for line in lines) == SHOWN
    assert lines[-1] == f"  … and {5_000 - SHOWN:,} more: `openmind status --files skipped` lists them all"


@pytest.mark.parametrize(
    ("report", "partial"),
    [
        (a_report(IndexTally(indexed=3, total=3)), False),
        (a_report(IndexTally(indexed=3, skipped=2, total=5)), False),
        (a_report(IndexTally(failed=1, total=1)), True),
        (a_report(IndexTally(waiting_deletions=1)), True),
        (a_report(IndexTally(), state=JobState.STOPPED), True),
        (a_report(IndexTally(), notices=("The folder /mnt/usb is not there.",)), True),
        (a_report(IndexTally(), notices=("It was made again.",), mended=("It was made again.",)), False),
        (
            a_report(IndexTally(), notices=("It was made again.", "A folder is gone."), mended=("It was made again.",)),
            True,
        ),
    ],
)
def test_a_run_is_partial_when_something_is_missing_or_waits(report: IndexReport, partial: bool) -> None:
    assert is_partial(report) is partial
