"""Breaks a connection on which nothing comes any more."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self


class IdleWatch:
    """Shuts a socket down when it was silent for too long.

    The time-out of a stream must change while it runs: loading a model and reading the prompt may take minutes,
    a pause between two words may not. The HTTP library fixes its read time-out when the request is sent, hence
    this watch beside it, which begins with `start`.
    """

    def __init__(self, watched: socket.socket, limit_s: float) -> None:
        self.limit_s = limit_s
        self._watched = watched
        self._waiting_since: float | None = None
        self._ended = threading.Event()
        self._expired = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def expired(self) -> bool:
        return self._expired.is_set()

    def start(self) -> None:
        """Begin to watch; further calls change nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="openmind-idle-watch", daemon=True)
            self._thread.start()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time spent here, and no other: a slow reader of the text is not a silent server."""
        self._waiting_since = time.monotonic()
        try:
            yield
        finally:
            self._waiting_since = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(self._left()):
            if self._left() <= 0:
                self._expired.set()
                self.break_off()
                return

    def _left(self) -> float:
        since = self._waiting_since
        return self.limit_s if since is None else since + self.limit_s - time.monotonic()

    def break_off(self) -> None:
        """Shut the socket down: whoever waits for it, waits no more."""
        shut_down(self._watched)


def shut_down(connected: socket.socket) -> None:
    """End the wait of whoever reads a socket, from any thread; one that is closed already is left alone."""
    with suppress(OSError):  # the other side was faster
        connected.shutdown(socket.SHUT_RDWR)
