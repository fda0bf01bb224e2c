"""Code that hangs until somebody has told of it, so that no test waits for a clock."""

import threading

from attrs import define, field

from openmind.application.lookout import Lookout
from openmind.testing.fakes.jobs import FakeClock

PATIENCE_S = 60.0
"""Far more than one thread needs to hear another."""


@define(eq=False)
class Hanging:
    """Something that hangs, and the lookout that watches over it.

    Time passes for the lookout only while something hangs that was not told yet.
    """

    said: list[str] = field(factory=list)
    """What was told."""
    _clock: FakeClock = field(factory=FakeClock)
    _hangs: threading.Event = field(factory=threading.Event)
    _heard: threading.Event = field(factory=threading.Event)

    def hang(self) -> None:
        """Hang until it was told.

        Raises:
            AssertionError: nobody told.
        """
        self._hangs.set()
        assert self._heard.wait(PATIENCE_S), "nobody told that it hangs"

    def lookout(self) -> Lookout:
        """Make one that hears of this."""
        return Lookout(tell=self._tell, clock=self._clock.monotonic, sleep=self._sleep)

    def _tell(self, sentence: str) -> None:
        self.said.append(sentence)
        self._heard.set()

    def _sleep(self, seconds: float) -> None:
        self._hangs.wait(PATIENCE_S)
        if not self._heard.is_set():
            self._clock.sleep(seconds)
