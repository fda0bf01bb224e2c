"""Ending a stream from another thread than the one that waits for it."""

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from types import TracebackType
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

    def release(self) -> None:
        """Let go of what is tied: it is over, and nothing is left to break."""
        with self._lock:
            self._break_off = None

    @contextmanager
    def loosened(self) -> Iterator[None]:
        """Let go, at the end, of whatever was tied meanwhile."""
        try:
            yield
        finally:
            self.release()


class Deadline:
    """Breaks a connection that takes longer, in all, than it may; the time-out of each read alone would not.

    Args:
        seconds: from now on.
    """

    def __init__(self, seconds: float) -> None:
        self._lifeline = Lifeline()
        self._timer = threading.Timer(seconds, self._lifeline.cut)
        self._timer.name, self._timer.daemon = "openmind-deadline", True

    @property
    def passed(self) -> bool:
        return self._lifeline.is_cut

    def tie(self, break_off: Callable[[], None]) -> None:
        """See `Lifeline`."""
        self._lifeline.tie(break_off)

    def lift(self) -> None:
        """Let the connection take as long as it likes from now on."""
        self._timer.cancel()

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.lift()
        self._lifeline.release()


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
