"""What is costly to measure and may be a moment old."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from attrs import define, field

T = TypeVar("T")
FOR_S = 5.0


@define
class RecentMeasure(Generic[T]):
    """Measures when the last measurement is too old. Thread-safe; of several who ask at once, one measures."""

    measure: Callable[[], T]
    for_s: float = FOR_S
    clock: Callable[[], float] = time.monotonic
    _found: tuple[float, T] | None = field(default=None, init=False)
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    def found(self) -> T:
        """What was measured, at most `for_s` ago."""
        with self._lock:
            now = self.clock()
            if self._found is None or now - self._found[0] >= self.for_s:
                self._found = (now, self.measure())
            return self._found[1]
