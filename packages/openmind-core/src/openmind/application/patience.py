"""Patience: waiting for what may hang without hanging with it."""

from collections.abc import Callable
from typing import TypeVar

from openmind.application.beside import Beside

T = TypeVar("T")


def patiently(call: Callable[[], T], *, while_waiting: Callable[[], None]) -> T:
    """Make a call in a thread of its own and wait for it.

    Args:
        call: what may take long, or for ever.
        while_waiting: called several times a second meanwhile; what it raises ends the wait. The call is then left to
            itself, and what becomes of it is not heard of any more.

    Raises:
        BaseException: whatever the call, or `while_waiting`, raises.
    """
    under_way = Beside(call)
    while not under_way.ends_soon():
        while_waiting()
    return under_way.outcome()
