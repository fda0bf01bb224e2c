"""Ctrl-C, or another wish that it ends, during an index run: what was read is committed first."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from attrs import define, field
from openmind.domain.control import Wish

from openmind_cli.render.lines import note

DEAF_S = 2.0
"""A run that has not asked for so long what is wanted is at something that hears nothing; it asks often otherwise."""


@define
class CtrlC:
    """Wants the run to stop once Ctrl-C was pressed, or the process is to end; the second time it ends at once.

    When nobody seems to listen, the person is told of the second time.
    """

    signal: int = 0
    """The first one that came; 0 before."""
    clock: Callable[[], float] = time.monotonic
    _asked_at: float = field(init=False)

    @_asked_at.default
    def _from_the_beginning(self) -> float:
        return self.clock()

    def wish(self) -> Wish:
        self._asked_at = self.clock()
        return Wish.STOP if self.signal else Wish.GO

    @property
    def exit_code(self) -> int:
        """What shells expect of a process that a signal ended: 130 for Ctrl-C, 143 for an end that is asked for."""
        return 128 + (self.signal or signal.SIGINT)

    def rest(self) -> None:
        """Never called: nothing here asks for a pause."""

    def press(self, number: int, frame: FrameType | None) -> None:
        """Take the signal.

        Raises:
            KeyboardInterrupt: it is not the first.
        """
        if self.signal:
            raise KeyboardInterrupt
        self.signal = number
        if self.clock() - self._asked_at >= DEAF_S:
            note("It ends as soon as what is under way is done; Ctrl-C once more ends it at once.")


@contextmanager
def stopped_by_ctrl_c() -> Iterator[CtrlC]:
    """Let a run end in order at Ctrl-C, at a polite request to end, and when its terminal is closed.

    Only the main thread hears signals; elsewhere nothing is changed.
    """
    control = CtrlC()
    if threading.current_thread() is not threading.main_thread():
        yield control
        return
    heard = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # Whoever set a signal to be ignored, as nohup does, has asked that the run goes on.
    former = {each: signal.getsignal(each) for each in heard if signal.getsignal(each) is not signal.SIG_IGN}
    for each in former:
        signal.signal(each, control.press)
    try:
        yield control
    finally:
        for each, handler in former.items():
            signal.signal(each, handler)
        if control.signal:
            note("Interrupted. What was finished is kept; the next run goes on from there.")
