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
