"""How a run is told to pause or stop."""

from enum import StrEnum
from typing import Protocol


class Wish(StrEnum):
    """What is wanted of a run now."""

    GO = "go"
    PAUSE = "pause"
    STOP = "stop"


class RunControl(Protocol):
    """Asked between files by the run; cheap enough for that."""

    def wish(self) -> Wish:
        """What is wanted now."""
        ...

    def rest(self) -> None:
        """Wait, after everything open was committed, until the wish is no longer to pause."""
        ...


class Uninterrupted:
    """A control that never wants anything but to go on."""

    def wish(self) -> Wish:
        return Wish.GO

    def rest(self) -> None:
        """Never called."""
