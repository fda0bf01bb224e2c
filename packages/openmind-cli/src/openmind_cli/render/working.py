"""Says that something takes long, while it does."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from openmind_cli.render.lines import console_on, note
from openmind_cli.terminal import redraws


@contextmanager
def working(text: str, *, quiet: bool = False) -> Iterator[None]:
    """Show on standard error what is going on until it is done."""
    if quiet:
        yield
    elif redraws(sys.stderr):
        with console_on(sys.stderr).status(text):
            yield
    else:
        note(text)
        yield
