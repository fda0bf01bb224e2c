"""Patience: waiting for what may hang without hanging with it."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from attrs import define

T = TypeVar("T")
LOOK_UP_S = 0.1
"""How often a wait looks up."""


@define
class _Call(Generic[T]):
    """A call under way in a thread of its own."""

    outcome: T | None = None
    error: BaseException | None = None


def patiently(call: Callable[[], T], *, while_waiting: Callable[[], None]) -> T:
    """Make a call in a thread of its own and wait for it.

    Args:
        call: what may take long, or for ever.
        while_waiting: called several times a second meanwhile; what it raises ends the wait. The call is then left to
            itself, and what becomes of it is not heard of any more.

    Raises:
        BaseException: whatever the call, or `while_waiting`, raises.
    """
    under_way: _Call[T] = _Call()
    done = threading.Event()

    def make() -> None:
        try:
            under_way.outcome = call()
        except BaseException as error:  # noqa: BLE001  raised again where it is waited for
            under_way.error = error
        finally:
            done.set()

    # A daemon: a call that hangs must not keep the process from ending.
    threading.Thread(target=make, daemon=True, name="openmind-patience").start()
    while not done.wait(LOOK_UP_S):
        while_waiting()
    if under_way.error is not None:
        raise under_way.error
    return under_way.outcome  # type: ignore[return-value]  # it is set when there is no error
