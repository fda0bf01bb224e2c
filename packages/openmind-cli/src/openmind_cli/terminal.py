"""What the standard streams are, and how they take any text."""

import io
import os
import sys
from pathlib import Path
from typing import TextIO


def prepare_streams() -> None:
    """Make writing never fail: what an encoding lacks is written as an escape, a closed stream takes everything."""
    # None is what Python makes of a stream that was closed before it started; the type stubs know nothing of it.
    closed = [name for name in ("stdout", "stderr") if getattr(sys, name) is None]
    for name in closed:
        setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  it lives as long as we do
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether a person reads the stream, standard output when none is given."""
    return (stream or sys.stdout).isatty()


def redraws(stream: TextIO) -> bool:
    """Whether the stream is a terminal that can write over what it shows; `TERM=dumb` says that it cannot."""
    return is_terminal(stream) and os.environ.get("TERM", "").lower() not in {"dumb", "unknown"}


def same_eyes(one: TextIO, other: TextIO) -> bool:
    """Whether who reads one stream reads the other too: both are terminals, or lead to the same file or pipe."""
    if is_terminal(one) and is_terminal(other):
        return True
    try:
        return os.path.samestat(os.fstat(one.fileno()), os.fstat(other.fileno()))
    except (OSError, ValueError):  # no file stands behind one of them
        return False
