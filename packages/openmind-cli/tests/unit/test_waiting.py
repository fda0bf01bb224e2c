"""The line that tells what an answer waits for."""

import io
import itertools
from contextlib import redirect_stderr, redirect_stdout

from openmind.domain.answers import AnswerProgress, AnswerStarted, AnswerText
from openmind_cli.render.waiting import waiting


def test_a_person_sees_what_is_waited_for_until_the_first_word(terminal) -> None:
    with terminal() as screen, waiting("loading acme/[chat]") as wait:
        told = [
            AnswerStarted(sources=(), model="acme/[chat]"),
            AnswerProgress("loading", 0.25),
            AnswerProgress("reading", 0.5),
        ]
        events = wait.until_spoken([*told, AnswerText("Dry.")], "acme/[chat]")
        assert "loading acme/[chat]" in screen.getvalue()

        assert next(events) == told[0]
        assert screen.getvalue().rstrip().endswith("acme/[chat] reads the excerpts …")
        assert list(itertools.islice(events, 2)) == told[1:]
        assert next(events) == AnswerText("Dry.")
        shown = screen.getvalue()

    assert "Loading acme/[chat] … 25%" in shown
    assert "acme/[chat] reads the excerpts … 50%" in shown
    assert screen.getvalue() == shown  # it was taken away with the first word
    assert shown.endswith("\x1b[1A\x1b[2K")


def test_a_model_that_is_not_asked_is_not_said_to_read(terminal) -> None:
    with terminal() as screen, waiting("Looking in your files …") as wait:
        list(wait.until_spoken([AnswerStarted(sources=()), AnswerText("Not in your files.")], "acme/chat"))

    assert "Looking in your files" in screen.getvalue()
    assert "acme/chat" not in screen.getvalue()


def test_a_file_gets_nothing_of_it() -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), waiting("loading") as wait:
        wait.now("reading")

    assert out.getvalue() + err.getvalue() == ""
