"""Progress of an index run."""

import io
import re
import threading
from collections.abc import Iterator

import attrs
import pytest
from openmind.domain.events import Progress
from openmind.domain.jobs import IndexTally, JobState
from openmind_cli.render.current_file import CurrentFile
from openmind_cli.render.progress import PlainProgress, called_every, progress_text, shown_progress


def an_event(
    indexed: int, total: int, state: JobState = JobState.RUNNING, *, rate: float = 0.0, notice: str = ""
) -> Progress:
    return Progress(state=state, tally=IndexTally(indexed=indexed, total=total), per_second=rate, notice=notice)


def test_a_line_tells_count_share_rate_and_what_is_left() -> None:
    assert progress_text(an_event(300, 1_000, rate=60.0)) == "running: 300 of 1,000 files (30 %), 60 files/s, 12 s left"


@pytest.mark.parametrize(
    ("rate", "told"),
    [(12.4, "12 files/s, 4.0 s left"), (1.04, "1.0 files/s, 48 s left"), (0.25, "4.0 s a file, 3 min 20 s left")],
)
def test_the_pace_is_told_as_one_would_say_it_and_not_at_all_when_the_run_is_over(rate: float, told: str) -> None:
    assert progress_text(an_event(50, 100, rate=rate)) == f"running: 50 of 100 files (50 %), {told}"
    assert progress_text(an_event(50, 100, JobState.COMPLETED, rate=rate)) == "completed: 50 of 100 files (50 %)"


def test_nothing_is_foretold_before_anything_is_done() -> None:
    assert progress_text(an_event(0, 10)) == "running: 0 of 10 files (0 %)"
    assert progress_text(an_event(0, 0, JobState.DISCOVERING)) == "discovering"
    assert progress_text(an_event(0, 7, JobState.DISCOVERING)) == "discovering: 7 files found"


def at(path: str, *, page: int = 0, pages: int = 0, recognising: bool = False) -> Progress:
    return Progress(
        state=JobState.RUNNING,
        tally=IndexTally(indexed=3, total=5),
        current_file=path,
        recognising=recognising,
        page=page,
        pages=pages,
    )


def words(current: CurrentFile, event: Progress, now: float) -> str:
    current.see(event, now)
    return current.words(now)


def test_while_text_is_recognised_the_page_is_told_and_the_time_that_its_file_will_take() -> None:
    current, path = CurrentFile(), "/notes/a\n/scan.pdf"

    told = [words(current, at(path, page=page, pages=300, recognising=True), 6.0 * page) for page in (1, 2, 3)]

    assert told == [
        "recognising scan.pdf, page 1 of 300",
        "recognising scan.pdf, page 2 of 300, 29 min 54 s left for it",
        "recognising scan.pdf, page 3 of 300, 29 min 48 s left for it",
    ]
    assert current.words(20.0) == "recognising scan.pdf, page 3 of 300, 29 min 46 s left for it", "it goes on"
    line = progress_text(at(path, recognising=True), told[0])
    assert line == "running: 3 of 5 files (60 %), recognising scan.pdf, page 1 of 300"


def test_pages_that_were_recognised_before_promise_no_haste() -> None:
    current = CurrentFile()

    told = [words(current, at("/s.pdf", page=page, pages=9, recognising=True), 1.0) for page in (1, 2)]

    assert told == ["recognising s.pdf, page 1 of 9", "recognising s.pdf, page 2 of 9"]
    assert current.words(13.0) == "recognising s.pdf, page 2 of 9 for 12 s"


def test_the_last_page_and_a_picture_tell_how_long_they_take() -> None:
    current = CurrentFile()
    for page in (1, 2):
        current.see(at("/s.pdf", page=page, pages=2, recognising=True), 10.0 * page)

    assert current.words(21.0) == "recognising s.pdf, page 2 of 2, 9.0 s left for it"
    assert current.words(38.0) == "recognising s.pdf, page 2 of 2 for 18 s"
    current.see(at("/p.png", recognising=True), 40.0)
    assert current.words(41.0) == "recognising p.png"
    assert current.words(47.0) == "recognising p.png for 7.0 s"


def test_a_file_is_named_when_it_takes_long_and_no_longer_when_it_is_done() -> None:
    current = CurrentFile()

    told = [
        words(current, at(path), now)
        for path, now in (("/a.pdf", 0.0), ("/a.pdf", 4.0), ("/a.pdf", 12.0), ("/b.pdf", 13.0))
    ]

    assert told == ["", "", "reading a.pdf for 12 s", ""]


def test_a_long_name_loses_its_middle_and_keeps_its_end() -> None:
    told = words(CurrentFile(), at("/" + "long " * 60 + "end.pdf", page=2, pages=4, recognising=True), 1.0)

    assert told.endswith("end.pdf, page 2 of 4")
    assert len(told) <= 78
    assert "…" in told


@pytest.mark.parametrize(
    ("event", "ends"),
    [
        (an_event(123_456, 987_654, JobState.PAUSE_REQUESTED), ["123,456/987,654  12 %"]),
        (
            at("/" + "long " * 60 + "end.pdf", page=2, pages=4, recognising=True),
            ["3/5  60 %", "end.pdf, page 2 of 4"],
        ),
    ],
)
def test_at_eighty_columns_no_line_of_the_bar_is_wrapped(
    terminal, monkeypatch: pytest.MonkeyPatch, event: Progress, ends: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")

    with terminal() as stream, shown_progress() as progress:
        progress(event)

    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue()).replace("\r", "\n").splitlines()
    last = [line.strip() for line in lines if line.strip()][-len(ends) :]
    assert [end in line for end, line in zip(ends, last, strict=True)] == [True] * len(ends)
    assert event.state.value.replace("_", " ") in last[0]
    assert max(map(len, lines)) <= 80


def test_plain_progress_writes_a_line_every_few_seconds() -> None:
    stream = io.StringIO()
    times: Iterator[float] = iter([0.0, 1.0, 2.0, 6.0, 7.0])
    progress = PlainProgress(stream, clock=lambda: next(times))

    progress(an_event(0, 5, JobState.DISCOVERING))
    for done in (0, 10, 60, 70):
        progress(an_event(done, 100, rate=12.0 * bool(done)))

    assert stream.getvalue().splitlines() == [
        "discovering: 5 files found",
        "running: 0 of 100 files (0 %)",
        "running: 60 of 100 files (60 %), 12 files/s, 3.3 s left",
    ]


def test_the_seconds_of_a_file_go_on_while_nothing_is_told() -> None:
    stream = io.StringIO()
    times: Iterator[float] = iter([0.0, 0.5, 4.0, 9.0, 15.0, 16.0])
    progress = PlainProgress(stream, clock=lambda: next(times))
    progress.go_on()

    progress(an_event(0, 2))
    progress(attrs.evolve(an_event(0, 2), current_file="/notes/big.txt"))
    for _ in range(4):
        progress.go_on()

    assert stream.getvalue().splitlines() == [
        "running: 0 of 2 files (0 %)",
        "running: 0 of 2 files (0 %), reading big.txt for 8.5 s",
        "running: 0 of 2 files (0 %), reading big.txt for 14 s",
    ]


def test_a_thread_looks_every_few_seconds_until_the_work_ends() -> None:
    looked = threading.Event()

    with called_every(0.001, looked.set):
        assert looked.wait(60)

    assert not [thread for thread in threading.enumerate() if thread.name == "progress"]


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


@pytest.mark.parametrize(("made", "told"), [(0, ", 1 passage without vectors"), (1, "")])
def test_a_run_that_ended_says_what_is_without_vectors(made: int, told: str) -> None:
    tally = IndexTally(total=5, indexed=5, vectors_wanted=1, vectors_made=made)

    assert progress_text(Progress(state=JobState.COMPLETED, tally=tally)) == f"completed: every file is read{told}"
