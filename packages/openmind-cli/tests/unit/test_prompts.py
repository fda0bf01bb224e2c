"""Prompts at a terminal that only exists in memory."""

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from openmind.domain.errors import UsageError
from openmind_cli.prompts import Option, TerminalPrompter, find_prompter, title_of
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.output.plain_text import PlainTextOutput

DOWN, UP, ENTER, CTRL_C, CTRL_D = "\x1b[B", "\x1b[A", "\r", "\x03", "\x04"
FRUIT = [Option("Apple", "a"), Option("Pear", None, chosen=True), Option("Plum", "p", disabled="not ripe")]

Typing = Callable[[str], AbstractContextManager[TerminalPrompter]]


@pytest.fixture
def typing() -> Typing:
    """A prompter at whose keyboard somebody has typed something already."""

    @contextmanager
    def at(keys: str) -> Iterator[TerminalPrompter]:
        with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=DummyOutput()):
            keyboard.send_text(keys)
            yield TerminalPrompter()

    return at


@pytest.mark.parametrize(("keys", "value"), [(ENTER, None), (UP + ENTER, "a"), (DOWN + ENTER, "a")])
def test_arrow_keys_select_and_enter_takes_the_suggestion(typing: Typing, keys: str, value: str | None) -> None:
    with typing(keys) as prompter:
        assert prompter.select("Which?", FRUIT) == value


def test_of_many_answers_those_are_left_that_were_typed(typing: Typing) -> None:
    options = [Option(f"model {number}", number) for number in range(30)]

    with typing("27" + ENTER) as prompter:
        assert prompter.select("Which?", options) == 27


def test_any_number_can_be_ticked_and_comes_in_order(typing: Typing) -> None:
    with typing(DOWN + " " + DOWN + " " + UP + UP + " " + ENTER) as prompter:
        assert prompter.check("Which?", [Option(str(n), n) for n in range(3)]) == (0, 1, 2)
    with typing(ENTER) as prompter:
        assert prompter.check("Which?", FRUIT) == (None,)


def test_of_a_choice_only_the_names_remain() -> None:
    options = [Option("Apple", "a", about="grows on trees"), Option("Pear", "p", about="so does this")]
    screen = io.StringIO()
    with create_pipe_input() as keyboard, create_app_session(input=keyboard, output=PlainTextOutput(screen)):
        prompter = TerminalPrompter()
        keyboard.send_text(DOWN + ENTER)
        prompter.select("Which one?", options)
        keyboard.send_text(" " + DOWN + " " + ENTER)
        prompter.check("Which ones?", options)

    last = [line.strip() for line in screen.getvalue().splitlines() if line.strip()]
    assert "? Which one? Pear" in last
    assert last[-1] == "? Which ones? Apple, Pear"


@pytest.mark.parametrize(
    ("columns", "title"),
    [
        (80, "acme/eyes  (recommended, loaded, window of 8,192)"),
        (50, "acme/eyes  (recommended, loaded)"),
        (20, "acme/eyes"),
    ],
)
def test_an_answer_fits_into_one_row(monkeypatch: pytest.MonkeyPatch, columns: int, title: str) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    option = Option("acme/eyes", 1, about="recommended, loaded, window of 8,192")

    assert title_of(option) == title


def test_text_is_asked_for(typing: Typing) -> None:
    with typing("good" + ENTER) as prompter:
        assert prompter.text("What?") == "good"
    with typing(ENTER) as prompter:
        assert prompter.text("What?", default="as before") == "as before"


@pytest.mark.parametrize(("keys", "answer"), [(ENTER, True), ("n", False), ("y", True)])
def test_yes_or_no(typing: Typing, keys: str, answer: bool) -> None:
    with typing(keys) as prompter:
        assert prompter.confirm("Well?") is answer


@pytest.mark.parametrize(
    "ask",
    [
        lambda prompter: prompter.select("Which?", FRUIT),
        lambda prompter: prompter.check("Which?", FRUIT),
        lambda prompter: prompter.text("What?"),
        lambda prompter: prompter.confirm("Well?"),
    ],
)
def test_ctrl_c_breaks_off_anywhere(typing: Typing, ask: Callable[[TerminalPrompter], object]) -> None:
    with typing(CTRL_C) as prompter, pytest.raises(KeyboardInterrupt):
        ask(prompter)


def test_so_does_the_end_of_the_input(typing: Typing) -> None:
    with typing(CTRL_D) as prompter, pytest.raises(KeyboardInterrupt):
        prompter.text("What?")


def test_without_a_terminal_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)

    with pytest.raises(UsageError, match="--chat-model, --image-model") as caught:
        find_prompter(["--chat-model", "--image-model"], yes=False)
    assert "--yes" in caught.value.hint
    assert find_prompter(["--chat-model"], yes=True) is None
    assert find_prompter([], yes=False) is None


def test_names_from_elsewhere_give_no_orders(capsys: pytest.CaptureFixture[str]) -> None:
    TerminalPrompter().tell("a\x1b[2Jb")

    assert capsys.readouterr().out == "a\\x1b[2Jb\n"
