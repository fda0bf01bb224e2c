"""Ending a stream from another thread than the one that waits for it."""

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class Lifeline:
    """Breaks the connection that a stream hangs on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cut = False
        self._break_off: Callable[[], None] | None = None

    @property
    def is_cut(self) -> bool:
        return self._cut

    def cut(self) -> None:
        """Break the connection now, and any that is still to be opened."""
        with self._lock:
            self._cut = True
            if self._break_off is not None:
                self._break_off()

    def tie(self, break_off: Callable[[], None]) -> None:
        """Hang a connection on it, in place of the one before.

        Args:
            break_off: ends the wait of whoever reads, from any thread.
        """
        with self._lock:
            self._break_off = break_off
            if self._cut:
                break_off()

    @contextmanager
    def loosened(self) -> Iterator[None]:
        """Let go, at the end, of whatever was tied meanwhile."""
        try:
            yield
        finally:
            with self._lock:
                self._break_off = None


class Interruptible(Generic[T]):
    """A generator that another thread may close while it runs; a plain one cannot be."""

    def __init__(self, pieces: Generator[T, None, None], lifeline: Lifeline) -> None:
        self._pieces = pieces
        self._lifeline = lifeline
        self._reading = threading.Lock()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        try:
            with self._reading:
                if self._lifeline.is_cut:
                    raise StopIteration
                return next(self._pieces)
        finally:
            self._tidy()

    def close(self) -> None:
        """End it. Whoever is waiting for a piece gets none."""
        self._lifeline.cut()
        self._tidy()

    def _tidy(self) -> None:
        """Give back what the generator holds, unless it is running: then whoever runs it does this."""
        if self._lifeline.is_cut and self._reading.acquire(blocking=False):
            try:
                self._pieces.close()
            finally:
                self._reading.release()
