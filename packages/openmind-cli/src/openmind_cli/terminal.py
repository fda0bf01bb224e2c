"""What the standard streams are, and how they take any text."""

import errno
import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class LastingTerminal(io.FileIO):
    """A terminal that takes everything once it was closed.

    Who read it is gone, and whatever that tells to end has still to do so in order, with an exit code of its own.
    """

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return memoryview(data).nbytes


def prepare_streams() -> None:
    """Make writing never fail: what an encoding lacks is written as an escape, a closed stream takes everything."""
    # None is what Python makes of a stream that was closed before it started; the type stubs know nothing of it.
    closed = [name for name in ("stdout", "stderr") if getattr(sys, name) is None]
    for name in closed:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        setattr(sys, name, open(nowhere, "w", encoding="utf-8", closefd=False))  # noqa: SIM115  lives as long as we do
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and _may_hang_up(stream):
            stream.flush()
            setattr(sys, name, _alike(stream, LastingTerminal(stream.fileno(), "w", closefd=False)))


def keep_output_apart() -> None:
    """Keep standard output to `sys.stdout`; what writes to its descriptor from now on lands on standard error.

    For output that a program parses. Libraries in C, `os.write` and programs that are started know the descriptor
    alone. It stays like that until the process ends: such libraries empty their buffers as late as then.
    """
    usual = sys.stdout
    if not isinstance(usual, io.TextIOWrapper):
        return
    usual.flush()
    private = (LastingTerminal if _may_hang_up(usual) else io.FileIO)(os.dup(usual.fileno()), "w")
    os.dup2(sys.stderr.fileno(), usual.fileno())
    sys.stdout = _alike(usual, private)


def _may_hang_up(stream: TextIO) -> bool:
    """Whether it is a terminal as POSIX has it; a console of Windows takes the process with it, and no plain writes."""
    return os.name == "posix" and is_terminal(stream)


def _alike(stream: io.TextIOWrapper, raw: io.FileIO) -> io.TextIOWrapper:
    """Write to a file as a stream does to its own."""
    return io.TextIOWrapper(
        raw if stream.write_through else io.BufferedWriter(raw),  # as Python's own do
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


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
