"""The line that tells what an answer waits for."""

import io
from contextlib import redirect_stderr, redirect_stdout

from openmind.domain.answers import AnswerStarted, AnswerText
from openmind_cli.render.waiting import waiting


def test_a_person_sees_what_is_waited_for_until_the_first_word(terminal) -> None:
    with terminal() as screen, waiting("loading acme/[chat]") as wait:
        events = wait.until_spoken([AnswerStarted(sources=()), AnswerText("Dry.")])
        next(events)
        assert "loading acme/[chat]" in screen.getvalue()
        wait.now("acme/chat reads")

        assert next(events) == AnswerText("Dry.")
        shown = screen.getvalue()

    assert "acme/chat reads" in shown
    assert screen.getvalue() == shown  # it was taken away with the first word
    assert shown.endswith("\x1b[1A\x1b[2K")


def test_a_file_gets_nothing_of_it() -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), waiting("loading") as wait:
        wait.now("reading")

    assert out.getvalue() + err.getvalue() == ""
