"""Ctrl-C, or another wish that it ends, during an index run: what was read is committed first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from attrs import define
from openmind.domain.control import Wish

from openmind_cli.render.lines import note


@define
class CtrlC:
    """Wants the run to stop once Ctrl-C was pressed, or the process is to end; the second time it ends at once."""

    signal: int = 0
    """The first one that came; 0 before."""

    def wish(self) -> Wish:
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
