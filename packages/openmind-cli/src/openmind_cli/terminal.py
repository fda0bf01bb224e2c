"""What the standard streams are, and how they take any text."""

import io
import sys
from typing import TextIO


def accept_any_text(*streams: TextIO) -> None:
    """Make writing never fail: what the stream's encoding lacks is written as an escape."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether a person reads the stream, standard output when none is given."""
    return (stream or sys.stdout).isatty()
