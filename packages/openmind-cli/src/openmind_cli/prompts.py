"""Questions to a person: asked at a terminal, answered by a script in tests."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

from attrs import field, frozen
from openmind.domain.errors import UsageError

from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import line, print_lines
from openmind_cli.terminal import is_terminal

T = TypeVar("T")
MARKS = 8
"""Columns in front of and behind an answer."""
MANY = 9
"""Of more answers, those are shown that have what is typed in them."""


@frozen
class Option(Generic[T]):
    """One of several answers."""

    label: str
    value: T
    about: str = field(default="", kw_only=True)
    """A few words behind the label."""
    chosen: bool = field(default=False, kw_only=True)
    """Whether it is the suggestion."""
    disabled: str = field(default="", kw_only=True)
    """Why it cannot be chosen now."""


class Prompter(Protocol):
    """Asks a person. Ctrl-C at any question raises `KeyboardInterrupt`."""

    def tell(self, *texts: str) -> None:
        """Say something between two questions, one text a line."""
        ...

    def select(self, question: str, options: Sequence[Option[T]]) -> T:
        """Ask for one of several; the first suggestion is the one that Enter takes."""
        ...

    def check(self, question: str, options: Sequence[Option[T]]) -> tuple[T, ...]:
        """Ask for any number of several, in their order."""
        ...

    def text(self, question: str, *, default: str = "") -> str:
        """Ask for text."""
        ...

    def confirm(self, question: str, *, default: bool = True) -> bool:
        """Ask yes or no."""
        ...


def find_prompter(missing: Sequence[str], *, yes: bool, quiet: bool = False) -> Prompter | None:
    """Find somebody to ask; None when everything is given, or OpenMind's suggestions are to be taken.

    Args:
        missing: the options that nobody gave.
        yes: whether suggestions are taken.
        quiet: whether nobody may be asked, terminal or not.

    Raises:
        UsageError: there is nobody, and something is missing.
    """
    if yes:
        return None
    if is_terminal(sys.stdin) and is_terminal() and not quiet:
        return TerminalPrompter()
    if missing:
        raise UsageError(
            f"Nobody can be asked here, and these options are missing: {', '.join(missing)}",
            hint="Give them, or add --yes to take what OpenMind suggests.",
        )
    return None


@frozen
class TerminalPrompter:
    """Asks with arrow keys. Names that come from elsewhere are made harmless."""

    def tell(self, *texts: str) -> None:
        print_lines([line(one_line(text), wraps=True) for text in texts])

    def select(self, question: str, options: Sequence[Option[T]]) -> T:
        import questionary

        # Numbers, not the values themselves: None as a value would be taken for no value.
        choices = [
            questionary.Choice(title_of(option), value=at, disabled=option.disabled or None)
            for at, option in enumerate(options)
        ]
        start = next((at for at, option in enumerate(options) if option.chosen and not option.disabled), None)
        with _ctrl_d_as_ctrl_c():
            at = questionary.select(
                question,
                choices,
                default=None if start is None else choices[start],
                use_search_filter=len(options) > MANY,
                instruction="(type to filter)" if len(options) > MANY else "(arrow keys)",
                use_jk_keys=False,
                erase_when_done=True,
            ).unsafe_ask()
        _echo(question, [options[int(at)].label])
        return options[int(at)].value

    def check(self, question: str, options: Sequence[Option[T]]) -> tuple[T, ...]:
        import questionary

        with _ctrl_d_as_ctrl_c():
            ticked = questionary.checkbox(
                question,
                instruction="(space ticks)",
                choices=[
                    questionary.Choice(
                        title_of(option), value=at, checked=option.chosen, disabled=option.disabled or None
                    )
                    for at, option in enumerate(options)
                ],
                use_jk_keys=False,
                erase_when_done=True,
            ).unsafe_ask()
        _echo(question, [options[at].label for at in sorted(ticked)] or ["none"])
        return tuple(options[at].value for at in sorted(ticked))

    def text(self, question: str, *, default: str = "") -> str:
        import questionary

        with _ctrl_d_as_ctrl_c():
            return str(questionary.text(question, default=default).unsafe_ask())

    def confirm(self, question: str, *, default: bool = True) -> bool:
        import questionary

        with _ctrl_d_as_ctrl_c():
            return bool(questionary.confirm(question, default=default).unsafe_ask())


@contextmanager
def _ctrl_d_as_ctrl_c() -> Iterator[None]:
    try:
        yield
    except EOFError as error:
        raise KeyboardInterrupt from error


def _echo(question: str, answers: Sequence[str]) -> None:
    """Leave the names of what was chosen: questionary would leave what was said about it, too."""
    from prompt_toolkit import print_formatted_text
    from prompt_toolkit.formatted_text import FormattedText
    from questionary.constants import DEFAULT_QUESTION_PREFIX, DEFAULT_STYLE

    names = ", ".join(map(one_line, answers))
    parts = [("class:qmark", DEFAULT_QUESTION_PREFIX), ("class:question", f" {question} "), ("class:answer", names)]
    print_formatted_text(FormattedText(parts), style=DEFAULT_STYLE)


def title_of(option: Option[T]) -> str:
    """A label with as much behind it as one row holds: a terminal would break it in the middle of a word."""
    label, parts = one_line(option.label), one_line(option.about).split(", ")
    room = shutil.get_terminal_size().columns - MARKS
    while parts and parts[-1]:
        title = f"{label}  ({', '.join(parts)})"
        if len(title) <= room:
            return title
        parts.pop()
    return label
