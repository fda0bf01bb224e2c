"""One at a time, in the order of arrival."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """A lock that is fair.

    A plain lock goes back to the thread that just gave it up: an index job, asking batch after batch, would keep a
    question waiting until it is done.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Event] = deque()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the turn and hold it while the context lasts."""
        self._take()
        try:
            yield
        finally:
            self._pass_on()

    def _take(self) -> None:
        called = threading.Event()
        try:
            self._line_up(called)
            called.wait()
        except BaseException:
            self._give_up(called)
            raise

    def _line_up(self, called: threading.Event) -> None:
        with self._guard:
            if self._taken:
                self._waiting.append(called)
            else:
                called.set()
                self._taken = True

    def _give_up(self, called: threading.Event) -> None:
        """Leave the queue, whenever an interrupt comes; a turn that was just given is passed on."""
        with self._guard:
            if called in self._waiting:
                self._waiting.remove(called)
        if called.is_set():
            self._pass_on()

    def _pass_on(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False
