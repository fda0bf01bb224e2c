"""A lookout: whoever waits long for the code of strangers learns for whom, and what to do."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from attrs import define, field, frozen

from openmind.domain.sentences import as_sentence

SLOW_S = 10.0
"""Who is waited for longer is told."""
BLOCKED_VARIABLE = "OPENMIND_PLUGINS_BLOCKED"
"""Names of plugins or packages, separated by commas, that are left out."""


@frozen
class Wait:
    """For whom is waited, and at what."""

    whom: str
    """Whose code it is, as a part of a sentence."""
    what: str
    """What it does, as a part of a sentence, such as `its import`."""
    plugin: str
    """The name by which it is left out."""

    @property
    def way_out(self) -> str:
        return f"{BLOCKED_VARIABLE}={self.plugin} leaves it out"

    @property
    def told(self) -> str:
        """What a person is told once it takes long."""
        return as_sentence(
            f"{self.whom} has been at {self.what} for {SLOW_S:g} seconds, and is waited for. If it hangs, Ctrl-C "
            f"ends a command, and {self.way_out}"
        )

    def interrupted(self) -> KeyboardInterrupt:
        """Make the Ctrl-C that says who was waited for."""
        return KeyboardInterrupt(f"Interrupted while {self.whom} was at {self.what}; {self.way_out}")


def warn(sentence: str) -> None:
    """Tell whoever listens to the logger `openmind`; where nobody does, Python writes it to standard error."""
    import logging  # waits until somebody hangs

    logging.getLogger("openmind").warning(sentence)


def begin_thread(watch: Callable[[], None]) -> None:
    """Begin a thread that does not keep the process from ending.

    Raises:
        RuntimeError: the system has no room for one.
    """
    threading.Thread(target=watch, daemon=True, name="openmind-lookout").start()


@define(eq=False, kw_only=True)
class Lookout:
    """Watches over calls that may hang, and tells of each that takes longer than `SLOW_S`. Thread-safe.

    A call cannot be given up: its thread may hold locks, such as that of the import, for ever. The one thread of a
    lookout is begun with the first call and ends when it finds nobody waiting, so that a call costs little more than
    nothing. It is a daemon: what hangs does not keep the process from ending.
    """

    tell: Callable[[str], None] = warn
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    begin: Callable[[Callable[[], None]], None] = begin_thread
    _waits: dict[object, tuple[float, Wait]] = field(factory=dict, init=False)
    """Those under way, with when they are to be told."""
    _told: set[Wait] = field(factory=set, init=False)
    """Once is enough."""
    _is_on_duty: bool = field(default=False, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    @contextmanager
    def over(self, wait: Wait, *, own: BaseException | None = None) -> Iterator[None]:
        """Watch over what is done in the context; a Ctrl-C that has no words yet says who was waited for.

        Args:
            wait: for whom.
            own: an error of the caller's that passes through as it is.
        """
        key = object()
        with self._lock:
            self._waits[key] = self.clock() + SLOW_S, wait
            starts, self._is_on_duty = not self._is_on_duty, True
        try:
            if starts:
                self._begin()
            yield
        except KeyboardInterrupt as interrupt:
            if interrupt is own or interrupt.args:
                raise
            raise wait.interrupted() from interrupt
        finally:
            with self._lock:
                self._waits.pop(key, None)  # after a fork it is another process's

    def begin_anew(self) -> None:
        """Forget who is waited for: a process that was forked has neither the thread nor those whom it watched."""
        self._lock = threading.Lock()  # another thread may have held it, and is not there to give it back
        self._waits, self._is_on_duty = {}, False

    def _begin(self) -> None:
        try:
            self.begin(self._watch)
        except RuntimeError:  # no room for a thread: the call itself needs none, and the next one tries again
            with self._lock:
                self._is_on_duty = False

    def _watch(self) -> None:
        self.sleep(SLOW_S)
        while (next_in := self._look()) is not None:
            self.sleep(next_in)

    def _look(self) -> float | None:
        """Tell of those that take long; returns when to look again, None when there is nobody to watch over."""
        now = self.clock()
        with self._lock:
            if not self._waits:
                self._is_on_duty = False
                return None
            late = {wait for due, wait in self._waits.values() if due <= now} - self._told
            self._told |= late
            next_in = min((due - now for due, _ in self._waits.values() if due > now), default=SLOW_S)
        for wait in late:
            self.tell(wait.told)
        return next_in


@cache
def shared_lookout() -> Lookout:
    """The lookout of this process: however often a memory is opened, it has one thread."""
    lookout = Lookout()
    if hasattr(os, "register_at_fork"):  # Windows has none
        os.register_at_fork(after_in_child=lookout.begin_anew)
    return lookout
