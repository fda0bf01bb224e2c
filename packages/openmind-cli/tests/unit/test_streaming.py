"""Answers while they are written."""

import io
import re
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.answers import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerReasoning,
    AnswerRestarted,
    AnswerStarted,
    AnswerState,
    AnswerText,
)
from openmind_cli.render.answers import print_markdown
from openmind_cli.render.streaming import settled, show


def events(pieces: Iterable[str], sources=(), *, thoughts: str = "", **answer: object) -> Iterator[AnswerEvent]:
    pieces = list(pieces)
    yield AnswerStarted(sources=tuple(sources))
    if thoughts:
        yield AnswerReasoning(thoughts)
    for piece in pieces:
        yield AnswerText(piece)
    values = {"state": AnswerState.ANSWERED, "markdown": "".join(pieces), "sources": tuple(sources)}
    yield AnswerFinished(Answer(question="q", **(values | answer)))


def words(text: str) -> list[str]:
    return [f"{word} " for word in text.split(" ")]


LINKS = {"file_0011223344556677": "file:///notes/garden.md"}


def test_through_a_pipe_text_passes_as_it_comes(make_hit, capsys) -> None:
    seen: list[str] = []

    def slowly() -> Iterator[AnswerEvent]:
        for event in events(["Prune ", "in *March* [1]."], [make_hit()]):
            yield event
            seen.append(capsys.readouterr().out)

    answer = show(slowly(), lambda _: LINKS)

    assert seen[1:3] == ["Prune ", "in *March* [1]."]
    rest = capsys.readouterr().out
    assert rest.startswith("\n\nSources\n[1] garden.md")
    assert "file:///notes/garden.md" in rest
    assert answer.state is AnswerState.ANSWERED


def test_through_a_pipe_reasoning_is_no_part_of_the_answer(capsys) -> None:
    show(events(["Yes."], thoughts="Let me see"), lambda _: {})

    told = capsys.readouterr()
    assert told.out == "Yes.\n"
    assert told.err == "Let me see\n\n"


def test_an_answer_without_streamed_text_is_printed_whole(capsys) -> None:
    show(events([], markdown="Your files hold nothing.", state=AnswerState.NOT_IN_FILES), lambda _: {})

    assert capsys.readouterr().out == "Your files hold nothing.\n"


def test_a_broken_off_answer_says_so(capsys) -> None:
    show(events(["It is"], state=AnswerState.INCOMPLETE, error="the model stopped"), lambda _: {})

    told = capsys.readouterr()
    assert told.out == "It is\n"
    assert "not complete: the model stopped" in told.err


def thought_aloud(thought: str) -> Iterator[AnswerEvent]:
    yield AnswerText(thought)
    yield AnswerRestarted()
    yield AnswerText("It is dry.")
    yield AnswerFinished(Answer(question="q", state=AnswerState.ANSWERED, markdown="It is dry."))


def test_what_a_model_thought_aloud_is_named_for_what_it_is(capsys) -> None:
    show(thought_aloud("Let me see."), lambda _: {})

    told = capsys.readouterr()
    assert told.out == "Let me see.\nIt is dry.\n"
    assert "thought aloud" in told.err


def test_what_a_model_thought_aloud_vanishes_from_a_terminal(terminal) -> None:
    with terminal() as screen, redirect_stderr(io.StringIO()) as told:
        show(thought_aloud("Let me see."), lambda _: {})

    assert lines(picture(screen.getvalue())) == ["It is dry."]
    assert told.getvalue() == ""


def test_what_left_the_screen_before_it_was_known_for_a_thought_is_named(terminal) -> None:
    with terminal(), redirect_stderr(io.StringIO()) as told:
        show(thought_aloud("Let me see.\n\nIt may be wet."), lambda _: {})

    assert "thought aloud" in told.getvalue()


def test_what_a_person_breaks_off_is_marked_and_keeps_its_sources(make_hit, capsys) -> None:
    def broken_off() -> Iterator[AnswerEvent]:
        yield AnswerStarted(sources=(make_hit(),))
        yield AnswerText("Prune in")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        show(broken_off(), lambda _: LINKS)

    told = capsys.readouterr().out
    assert told.startswith("Prune in\n")
    assert "The answer breaks off here." in told
    assert "[1] garden.md" in told
    assert "file:///notes/garden.md" in told


def test_what_is_broken_off_before_its_first_word_leaves_nothing(make_hit, capsys) -> None:
    def broken_off() -> Iterator[AnswerEvent]:
        yield AnswerStarted(sources=(make_hit(),))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        show(broken_off(), lambda _: LINKS)

    assert capsys.readouterr().out == ""


def test_a_line_that_is_being_written_leaves_room_for_the_echo_of_ctrl_c(terminal) -> None:
    seen: list[str] = []
    with terminal() as screen:

        def slowly() -> Iterator[AnswerEvent]:
            yield AnswerText("word " * 40)
            seen.append(screen.getvalue())
            yield AnswerFinished(Answer(question="q", state=AnswerState.ANSWERED, markdown="word"))

        show(slowly(), lambda _: {})

    frame = lines(picture(seen[0]))
    assert frame
    assert max(map(len, frame)) <= 78


def test_citations_of_nothing_are_flagged(capsys) -> None:
    show(events(["It is so [7]."], unknown_citations=(7,)), lambda _: {})

    assert "[7], which is none of the sources" in capsys.readouterr().err


LONG = "# Pruning\n\nFirst *paragraph* [1].\n\n- one\n- two\n\n  still two\n\n```\ncode\n\nmore code\n```\n\nThe end."


def test_a_terminal_sees_markdown_once_and_whole(terminal, make_hit) -> None:
    with terminal() as screen:
        show(events(words(LONG), [make_hit()]), lambda _: LINKS)

    shown = picture(screen.getvalue())
    assert [shown.count(part) for part in ("Pruning", "paragraph", "still two", "more code", "The end")] == [1] * 5
    assert "*paragraph*" not in shown
    assert "```" not in shown
    assert shown.index("The end") < shown.index("Sources")


def test_what_streams_looks_as_what_comes_whole(terminal, make_hit) -> None:
    text = LONG.replace("[9]", "[1]")
    with terminal() as screen:
        show(events(words(text), [make_hit()]), lambda _: {})
    with terminal() as whole:
        print_markdown(text)

    streamed = picture(screen.getvalue()).partition("Sources")[0]
    assert lines(streamed) == lines(picture(whole.getvalue()))


def test_the_first_word_is_seen_at_once(terminal) -> None:
    def stream(screen: io.StringIO) -> Iterator[AnswerEvent]:
        yield AnswerStarted(sources=())
        yield AnswerText("Heliotrope")
        assert "Heliotrope" in screen.getvalue()
        yield AnswerFinished(Answer(question="q", state=AnswerState.ANSWERED, markdown="Heliotrope"))

    with terminal() as screen:
        show(stream(screen), lambda _: {})


def test_reasoning_is_seen_before_the_answer(terminal) -> None:
    with terminal() as screen:
        show(events(["Yes."], thoughts="Let me see"), lambda _: {})

    shown = screen.getvalue()
    assert shown.index("Let me see") < shown.rindex("Yes.")


def test_a_model_cannot_give_orders_to_the_terminal(terminal) -> None:
    with terminal() as screen, redirect_stderr(io.StringIO()):
        show(events(["a\x1b]0;title\x07b"], thoughts="\x1b[2J"), lambda _: {})

    assert "\x1b]0;" not in screen.getvalue()
    assert "\x1b[2J" not in screen.getvalue()


def test_a_block_that_is_taller_than_the_screen_is_printed_once(terminal, monkeypatch) -> None:
    monkeypatch.setenv("LINES", "25")
    with terminal() as screen:
        show(events([f"- row{number:02}\n" for number in range(60)]), lambda _: {})

    assert screen.getvalue().count("row59") == 1


def test_an_interruption_leaves_what_was_said_once_and_marked(terminal) -> None:
    def stream() -> Iterator[AnswerEvent]:
        yield AnswerStarted(sources=())
        yield AnswerText("Half an answ")
        raise KeyboardInterrupt

    with terminal() as screen, pytest.raises(KeyboardInterrupt):
        show(stream(), lambda _: {})

    assert lines(picture(screen.getvalue())) == ["Half an answ", "The answer breaks off here."]


@pytest.mark.parametrize(
    ("text", "ready"),
    [
        ("", ""),
        ("One line", ""),
        ("One\n\n", ""),
        ("One\n\nTwo", "One\n\n"),
        ("One\n\n\n\nTwo\n\nThree", "One\n\n\n\nTwo\n\n"),
        ("- a\n\n  more of a", ""),
        ("```\na\n\nb", ""),
        ("```\na\n\nb\n```\n\nc", "```\na\n\nb\n```\n\n"),
    ],
)
def test_blocks_settle_when_the_next_one_has_begun(text: str, ready: str) -> None:
    assert text[: settled(text)] == ready


@settings(deadline=None, max_examples=100)
@given(st.text("a \n`-", max_size=60))
def test_what_is_settled_stays_settled(text: str) -> None:
    assert settled(text + "b") >= settled(text)


def picture(output: str) -> str:
    """What a terminal shows in the end: lines that were drawn over are gone."""
    rows = [""]
    at = 0
    for part in re.split(r"(\x1b\[\d*A|\x1b\[2K|\x1b\[[\d;?]*[a-zA-Z]|\r|\n)", output):
        if part == "\n":
            at += 1
            rows += [""] * (at + 1 - len(rows))
        elif part == "\r":
            rows[at] = "\r" + rows[at].lstrip("\r")
        elif part == "\x1b[2K":
            rows[at] = ""
        elif part.startswith("\x1b[") and part.endswith("A"):
            at -= int(part[2:-1] or 1)
        elif not part.startswith("\x1b["):
            rows[at] = part if rows[at].startswith("\r") else rows[at] + part
    return "\n".join(row.strip("\r") for row in rows)


def lines(shown: str) -> list[str]:
    return [line.rstrip() for line in shown.splitlines() if line.strip()]
