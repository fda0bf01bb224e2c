"""A lookout: whoever waits long for the code of strangers learns for whom, and what to do."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
        if starts:
            threading.Thread(target=self._watch, daemon=True, name="openmind-lookout").start()
        try:
            yield
        except KeyboardInterrupt as interrupt:
            if interrupt is own or interrupt.args:
                raise
            raise wait.interrupted() from interrupt
        finally:
            with self._lock:
                del self._waits[key]

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
