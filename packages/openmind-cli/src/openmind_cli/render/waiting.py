"""What an answer is waiting for, told to whoever looks on."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from attrs import define
from openmind.domain.answers import AnswerEvent, AnswerProgress, AnswerStarted

from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import console_on
from openmind_cli.terminal import is_terminal

if TYPE_CHECKING:
    from rich.live import Live
    from rich.spinner import Spinner


@define
class Waiting:
    """A line at a terminal that is gone with the first word; nothing anywhere else."""

    _live: "Live | None"

    def now(self, text: str) -> None:
        """Say what is waited for from now on."""
        if self._live is not None:
            self._live.update(_spinner(text), refresh=True)

    def end(self) -> None:
        """Take the line away. Safe to call twice."""
        if self._live is not None:
            self._live.stop()
        self._live = None

    def until_spoken(self, events: Iterable[AnswerEvent], model: str) -> Iterator[AnswerEvent]:
        """Pass events on; what the model does before its first word is said, and then the line goes."""
        for event in events:
            if isinstance(event, AnswerStarted):
                if event.model is not None:
                    self.now(f"{model} reads the excerpts …")
            elif isinstance(event, AnswerProgress):
                self.now(_progress(event, model))
            else:
                self.end()
            yield event


@contextmanager
def waiting(text: str) -> Iterator[Waiting]:
    """Say what is waited for. The line is on standard error, and never left behind."""
    live = None
    if is_terminal() and is_terminal(sys.stderr):
        from rich.live import Live

        live = Live(_spinner(text), console=console_on(sys.stderr), transient=True, refresh_per_second=8)
        live.start(refresh=True)
    line = Waiting(live)
    try:
        yield line
    finally:
        line.end()


def _progress(progress: AnswerProgress, model: str) -> str:
    doing = f"Loading {model} …" if progress.stage == "loading" else f"{model} reads the excerpts …"
    return f"{doing} {progress.share:.0%}" if progress.share else doing


def _spinner(text: str) -> "Spinner":
    from rich.spinner import Spinner
    from rich.text import Text

    return Spinner("dots", Text(one_line(text)))
