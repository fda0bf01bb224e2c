"""Slots: how many requests of one kind are let in at once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from attrs import define, field
from openmind.domain.errors import TooBusy


@define(eq=False)
class Slots:
    """Counts who is in. Thread-safe."""

    most: int
    full: str
    """What whoever is not let in is told."""
    taken: int = field(default=0, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    def take(self) -> None:
        """Go in.

        Raises:
            TooBusy: all slots are taken.
        """
        with self._lock:
            if self.taken >= self.most:
                raise TooBusy(self.full, hint="Try again in a few seconds.")
            self.taken += 1

    def give_back(self) -> None:
        """Go out."""
        with self._lock:
            self.taken -= 1

    @contextmanager
    def one(self) -> Iterator[None]:
        """Be in for a while.

        Raises:
            TooBusy: all slots are taken.
        """
        self.take()
        try:
            yield
        finally:
            self.give_back()
