"""Work beside the thread that listens: what one long call does while somebody else looks up now and then."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from attrs import define, field

T = TypeVar("T")
LOOK_UP_S = 0.1
"""How often a wait looks up."""


@define(eq=False)
class Beside(Generic[T]):
    """A call in a thread of its own, begun as soon as it is made.

    The thread is a daemon: a call that hangs does not keep the process from ending.
    """

    call: Callable[[], T]
    _outcome: T | None = field(default=None, init=False)
    _error: BaseException | None = field(default=None, init=False)
    _ended: threading.Event = field(factory=threading.Event, init=False)

    def __attrs_post_init__(self) -> None:
        threading.Thread(target=self._make, daemon=True, name="openmind-beside").start()

    def ends_soon(self) -> bool:
        """Wait for `LOOK_UP_S` at most; whether it has ended by then."""
        return self._ended.wait(LOOK_UP_S)

    def outlast(self) -> None:
        """Wait for its end, however long that takes and whatever signal comes meanwhile."""
        while not self._ended.is_set():
            with suppress(KeyboardInterrupt):  # whoever asks for it here has been heard already
                self._ended.wait()

    def outcome(self) -> T:
        """What the call gave, once it has ended.

        Raises:
            BaseException: whatever the call raised.
        """
        if self._error is not None:
            raise self._error
        return self._outcome  # type: ignore[return-value]  # it is set when there is no error

    def _make(self) -> None:
        try:
            self._outcome = self.call()
        except BaseException as error:  # noqa: BLE001  raised again where it is waited for
            self._error = error
        finally:
            self._ended.set()
