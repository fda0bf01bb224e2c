"""Ctrl-C during an index run: what was read is committed first."""

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
    """Wants the run to stop once Ctrl-C was pressed; the second time it ends at once."""

    pressed: bool = False

    def wish(self) -> Wish:
        return Wish.STOP if self.pressed else Wish.GO

    def rest(self) -> None:
        """Never called: nothing here asks for a pause."""

    def press(self, number: int, frame: FrameType | None) -> None:
        """Take the signal.

        Raises:
            KeyboardInterrupt: it is not the first.
        """
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True


@contextmanager
def stopped_by_ctrl_c() -> Iterator[CtrlC]:
    """Let a run end in order at Ctrl-C. Only the main thread hears signals; elsewhere nothing is changed."""
    control = CtrlC()
    if threading.current_thread() is not threading.main_thread():
        yield control
        return
    former = signal.signal(signal.SIGINT, control.press)
    try:
        yield control
    finally:
        signal.signal(signal.SIGINT, former)
        if control.pressed:
            note("Interrupted. What was finished is kept; the next run goes on from there.")
