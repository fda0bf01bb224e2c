"""Keeps what other people's code prints out of what a command gives to a program."""

import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO, cast

_SWAPPING = threading.Lock()


@contextmanager
def prints_apart() -> Iterator[None]:
    """Send what this thread prints to standard error. Thread-safe: what others print goes where it went before.

    It is for calls that return: between two steps of a generator the thread belongs to whoever reads it. Who sends
    standard output elsewhere meanwhile, and back after the call, puts a division back that divides nothing; the next
    call takes it away.
    """
    if sys.stdout is None:  # a program without a console: what is printed goes nowhere
        yield
        return
    with _SWAPPING:
        if not isinstance(sys.stdout, _Divided):
            sys.stdout = cast(TextIO, _Divided(sys.stdout))
        divided = cast(_Divided, sys.stdout)
        divided.users += 1
    divided.apart.depth += 1
    try:
        yield
    finally:
        divided.apart.depth -= 1
        with _SWAPPING:
            divided.users -= 1
            if not divided.users and sys.stdout is cast(TextIO, divided):
                sys.stdout = divided.usual


class _Depth(threading.local):
    depth = 0


class _Nowhere(io.TextIOBase):
    """Takes what is printed where there is no standard error."""

    def write(self, text: str) -> int:
        """See `TextIO`."""
        return len(text)


class _Divided:
    """Standard output, but standard error for threads that print apart."""

    def __init__(self, usual: TextIO) -> None:
        self.usual = usual
        self.users = 0
        self.apart = _Depth()

    def __getattr__(self, name: str) -> object:
        return getattr((sys.stderr or _Nowhere()) if self.apart.depth else self.usual, name)
