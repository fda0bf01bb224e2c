"""An answer while it is written: Markdown that settles block by block at a terminal, plain text anywhere else."""

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from attrs import define, evolve, field
from openmind.application.asking.service import BREAKS_OFF
from openmind.domain.answers import (
    Answer,
    AnswerEvent,
    AnswerFinished,
    AnswerProgress,
    AnswerReasoning,
    AnswerRestarted,
    AnswerStarted,
    AnswerState,
    AnswerText,
)
from openmind.domain.ids import FileId

from openmind_cli.render.answers import print_markdown, print_rest, print_sources, print_text
from openmind_cli.render.clean import block
from openmind_cli.render.lines import console_on, note
from openmind_cli.terminal import is_terminal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.markdown import Markdown

RESTARTED = "What stands above is what the model thought aloud. Its answer:"
REDRAW_S = 0.08
"""A person sees no more often than this that something changed."""
_FENCE = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)
_BETWEEN = re.compile(r"\n[ \t]*\n+(?=\S)")

Links = Callable[[Answer], Mapping[FileId, str]]


class Page(Protocol):
    """Where an answer appears."""

    def think(self, text: str) -> None:
        """Show a piece of the model's reasoning."""
        ...

    def write(self, text: str) -> None:
        """Show a piece of the answer."""
        ...

    def restart(self) -> None:
        """Take back what was written as far as that can be done, and say of the rest that it is not the answer."""
        ...

    def end(self) -> None:
        """Show what is left; nothing more comes. Safe to call twice."""
        ...


def show(events: Iterable[AnswerEvent], links: Links) -> Answer:
    """Show an answer while it comes, then what follows it.

    Args:
        events: what is streamed; the last event holds the answer.
        links: gives the `file://` links of the answer's sources.

    Raises:
        KeyboardInterrupt: a person broke it off; what was said is marked, and its sources follow.
    """
    told, answer = "", Answer(question="", state=AnswerState.INCOMPLETE, markdown="")
    try:
        with opened_page() as page:
            for event in events:
                told, answer = _shown(event, page, told, answer)
    except KeyboardInterrupt:
        if told.strip():
            print_markdown(f"\n{BREAKS_OFF}")
            print_sources(answer.sources, links(answer))
        raise
    if not told.strip() and answer.markdown:
        print_text(answer)
    print_rest(answer, links(answer))
    return answer


def _shown(event: AnswerEvent, page: Page, told: str, answer: Answer) -> tuple[str, Answer]:
    """Show one event; returns the text that was told by then, and what is known of the answer."""
    match event:
        case AnswerReasoning():
            page.think(event.text)
        case AnswerRestarted():
            page.restart()
            return "", answer
        case AnswerText():
            page.write(event.text)
            return told + event.text, answer
        case AnswerStarted():
            return told, evolve(answer, sources=event.sources)
        case AnswerFinished():
            return told, event.answer
        case AnswerProgress():
            pass
    return told, answer


@contextmanager
def opened_page() -> Iterator[Page]:
    """The page that fits where standard output goes; it is left in order, whatever happens."""
    page: Page = MarkdownPage() if is_terminal() else PlainPage()
    try:
        yield page
    finally:
        page.end()


@define
class PlainPage:
    """Passes text on as it comes; reasoning goes to standard error."""

    _wrote: bool = field(default=False, init=False)
    _thought: bool = field(default=False, init=False)

    def think(self, text: str) -> None:
        self._thought = True
        sys.stderr.write(block(text))
        sys.stderr.flush()

    def write(self, text: str) -> None:
        self._end_thoughts()
        self._wrote = True
        sys.stdout.write(block(text))
        sys.stdout.flush()

    def restart(self) -> None:
        self.end()
        note(RESTARTED)

    def end(self) -> None:
        self._end_thoughts()
        if self._wrote:
            sys.stdout.write("\n")
        self._wrote = False

    def _end_thoughts(self) -> None:
        if self._thought:
            sys.stderr.write("\n\n")
        self._thought = False


@define
class MarkdownPage:
    """Sets finished blocks as Markdown for good, and the one that is being written again and again.

    Only that one is redrawn, so that an answer may be longer than the screen.
    """

    clock: Callable[[], float] = time.monotonic
    _console: "Console" = field(factory=lambda: console_on(sys.stdout), init=False)
    _open: str = field(default="", init=False)
    """The text that is not settled."""
    _live: "Live | None" = field(default=None, init=False)
    _drawn_at: float = field(default=float("-inf"), init=False)
    _settled: bool = field(default=False, init=False)
    _thought: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._markdown("")  # what it imports must not hold up the first word

    def think(self, text: str) -> None:
        from rich.text import Text

        self._stop()
        self._thought = True
        self._console.print(Text(block(text), style="dim italic"), end="", soft_wrap=True)

    def write(self, text: str) -> None:
        self._end_thoughts()
        self._open += text
        at = settled(self._open)
        if at:
            ready, self._open = self._open[:at], self._open[at:]
            self._set(ready)
        self._draw()

    def restart(self) -> None:
        self._stop()
        self._open = ""
        if self._settled:  # what was set for good may have left the screen
            note(RESTARTED)

    def end(self) -> None:
        self._end_thoughts()
        self._stop()
        if self._open.strip():
            self._set(self._open)
        self._open = ""

    def _draw(self) -> None:
        from rich.constrain import Constrain
        from rich.live import Live

        # Ctrl-C is echoed behind the last line; if that made one line more, the frame would be erased beside itself.
        shown = Constrain(self._markdown(self._open), max(1, self._console.width - len("^C")))
        if self._live is None:
            self._live = Live(
                shown,
                console=self._console,
                refresh_per_second=1 / REDRAW_S,
                transient=True,
                vertical_overflow="ellipsis",
            )
            self._live.start(refresh=True)
            self._drawn_at = self.clock()
            return
        due = self.clock() - self._drawn_at >= REDRAW_S
        self._live.update(shown, refresh=due)  # otherwise its own thread draws soon
        if due:
            self._drawn_at = self.clock()

    def _set(self, text: str) -> None:
        """Print blocks for good.

        Nothing may be redrawn meanwhile: a frame of Live's own thread in between would erase lines of the block.
        """
        self._stop()
        if self._settled:
            self._console.print()
        self._console.print(self._markdown(text))
        self._settled = True

    def _markdown(self, text: str) -> "Markdown":
        from rich.markdown import Markdown

        # A model's text must not hide where a link leads: links are shown as they are written.
        return Markdown(block(text), hyperlinks=False)

    def _stop(self) -> None:
        if self._live is not None:
            self._live.update(self._markdown(""))  # for stopping draws once more
            self._live.stop()
        self._live = None

    def _end_thoughts(self) -> None:
        if self._thought:
            self._console.print("\n")
        self._thought = False


def settled(text: str) -> int:
    """How much of a text that is being written is whole blocks of Markdown, in characters.

    A block ends with a blank line that no indented line follows, for that one may belong to a list; within a fence
    none does.
    """
    for gap in reversed(list(_BETWEEN.finditer(text))):
        if len(_FENCE.findall(text[: gap.start()])) % 2 == 0:
            return gap.end()
    return 0
