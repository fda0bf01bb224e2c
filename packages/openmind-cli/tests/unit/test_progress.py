"""Progress of an index run."""

import io
from collections.abc import Iterator

import pytest
from openmind.domain.events import Progress
from openmind.domain.jobs import IndexTally, JobState
from openmind_cli.render.progress import PlainProgress, progress_text, shown_progress


def an_event(indexed: int, total: int, state: JobState = JobState.RUNNING, notice: str = "") -> Progress:
    return Progress(state=state, tally=IndexTally(indexed=indexed, total=total), notice=notice)


def test_a_line_tells_count_share_rate_and_what_is_left() -> None:
    assert progress_text(an_event(300, 1_000), 5.0) == "running: 300 of 1,000 files (30 %), 60 files/s, 12 s left"


def test_nothing_is_foretold_before_anything_is_done() -> None:
    assert progress_text(an_event(0, 10), 0.0) == "running: 0 of 10 files (0 %)"
    assert progress_text(an_event(0, 0, JobState.DISCOVERING), 1.0) == "discovering"
    assert progress_text(an_event(0, 7, JobState.DISCOVERING), 1.0) == "discovering: 7 files found"


def test_while_text_is_recognised_the_page_is_told_and_no_pace_of_files() -> None:
    event = Progress(
        state=JobState.RUNNING,
        tally=IndexTally(indexed=3, total=5),
        current_file="/notes/a\n/scan.pdf, page 2 of 4",
        recognising=True,
    )

    assert progress_text(event, 9.0) == "running: 3 of 5 files (60 %), recognised scan.pdf, page 2 of 4"


def test_plain_progress_writes_a_line_every_few_seconds() -> None:
    stream = io.StringIO()
    times: Iterator[float] = iter([0.0, 1.0, 2.0, 6.0, 7.0])
    progress = PlainProgress(stream, clock=lambda: next(times))

    progress(an_event(0, 5, JobState.DISCOVERING))
    for done in (0, 10, 60, 70):
        progress(an_event(done, 100))

    assert stream.getvalue().splitlines() == [
        "discovering: 5 files found",
        "running: 0 of 100 files (0 %)",
        "running: 60 of 100 files (60 %), 12 files/s, 3.3 s left",
    ]


def test_a_notice_is_written_at_once_on_one_line() -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=lambda: 0.0)

    progress(an_event(0, 1, notice="The folder /a\n is not there."))

    assert stream.getvalue().splitlines()[0] == "The folder /a\\n is not there."


def test_a_terminal_shows_a_bar_with_the_numbers(terminal) -> None:
    with terminal() as stream, shown_progress() as progress:
        progress(an_event(0, 200))
        progress(an_event(50, 200, notice="Look [b]here[/b]"))

    shown = stream.getvalue()
    assert "50/200" in shown
    assert "25 %" in shown
    assert "Look [b]here[/b]" in shown


def test_quiet_progress_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress(quiet=True) as progress:
        progress(an_event(1, 2))

    assert capsys.readouterr() == ("", "")
