"""Attention: while a run works, it listens for the wish to pause or to stop."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import Protocol, TypeVar

from attrs import define, field

from openmind.application.beside import Beside
from openmind.application.indexing.run_log import RunLog
from openmind.application.patience import patiently
from openmind.domain.control import RunControl, Wish
from openmind.domain.jobs import JobState
from openmind.domain.sentences import as_sentence

T = TypeVar("T")
STOP_PATIENCE_S = 0.3
"""How long a stop waits for what the store has under way, before it is left behind."""


SLOW_ANSWER_S = 10
"""Whom a question that takes longer waits for is told."""


class Stopped(Exception):
    """The run was asked to stop."""


class LeftBehind(Exception):
    """The run was asked to stop while the store is at work, and the process is to end without waiting for it."""

    def __init__(self, outlast: Callable[[], None]) -> None:
        super().__init__()
        self.outlast = outlast
        """Waits for the store, where the process goes on after all."""


class _Interrupted(Exception):
    """Something is wanted before the answer is there."""


class UnderWay(Protocol):
    """Work that has something open when a wish is heard."""

    def commit(self) -> None:
        """Make what is open visible."""
        ...

    def standing_still(self) -> AbstractContextManager[None]:
        """Let nothing go on in the background until the context ends."""
        ...


@define(kw_only=True)
class Attention:
    """Hears what is wanted of a run, and does it. Serves one thread."""

    control: RunControl
    log: RunLog
    under_way: UnderWay | None = None
    """What has to stand still and be committed first."""
    may_leave: bool = False
    """Whether a stop may leave behind what the store has under way, since the process ends with the run."""
    clock: Callable[[], float] = time.monotonic
    _still: ExitStack | None = field(default=None, init=False)
    """Held while helpers stand still."""
    _before: JobState | None = field(default=None, init=False)
    """The state that a pause came upon; None while there is no pause."""

    def heed(self) -> None:
        """Rest while a pause is wanted; what is open is committed before.

        Raises:
            Stopped: the run is to end.
        """
        wish = self.control.wish()
        if wish is Wish.GO:
            self._go_on()
            return
        self._stand_still()  # before the commit, which then has the processors to itself
        try:
            if self.under_way is not None:
                self.under_way.commit()
                wish = self.control.wish()
            wish = self._rested(wish)
        finally:
            self._go_on()
        if wish is Wish.STOP:
            raise Stopped

    def keep_pause(self) -> None:
        """Rest, if a pause was granted while the store was at work."""
        if self._before is not None:
            self.heed()

    def beside(self, work: Callable[[], T]) -> T:
        """Let the store do what takes it long, in a thread of its own, and listen meanwhile.

        A pause is granted at once: nothing is read any more, and only what is under way goes on to its end; the next
        `heed` rests. A stop waits a moment, and then leaves the work behind if it may.

        Raises:
            LeftBehind: the process is to end; until then the store is at work, and nobody else may write.
            BaseException: whatever the work raises.
        """
        under_way = Beside(work)
        try:
            self._listen(under_way)
        except LeftBehind:
            self._go_on()  # helpers that stand still would not notice that this process has ended
            raise
        except BaseException:
            under_way.outlast()  # nobody else may write before
            raise
        return under_way.outcome()

    def _listen(self, under_way: Beside[T]) -> None:
        stop_heard_at: float | None = None
        while not under_way.ends_soon():
            self.log.beat()
            wish = self.control.wish()
            if wish is Wish.PAUSE:
                self._pause()
            elif wish is Wish.GO:
                self._go_on()
            elif self.may_leave:
                stop_heard_at = self.clock() if stop_heard_at is None else stop_heard_at
                if self.clock() - stop_heard_at >= STOP_PATIENCE_S:
                    raise LeftBehind(under_way.outlast)

    def heed_and_beat(self) -> None:
        """Heed, and show a sign of life."""
        self.heed()
        self.log.beat()

    def is_wanted_elsewhere(self) -> bool:
        """Whether a wish waits to be heeded."""
        return self.control.wish() is not Wish.GO

    def patiently(self, ask: Callable[[], T], *, whom: str = "") -> T:
        """Ask what may hang: a wish is heeded meanwhile, and the question put again.

        Args:
            ask: the question.
            whom: who is asked, as a part of a sentence; told once the answer takes `SLOW_ANSWER_S`, or when the run
                is stopped instead of waiting for it. Empty for what takes long by nature.

        Raises:
            Stopped: the run is to end.
        """
        while True:
            try:
                return patiently(ask, while_waiting=partial(self._interrupt, whom, self.clock()))
            except _Interrupted:
                self.heed()

    def _interrupt(self, whom: str, began: float) -> None:
        wish = self.control.wish()
        if wish is not Wish.GO:
            if whom and wish is Wish.STOP:
                self.log.mend(as_sentence(f"When the run was stopped, it waited for {whom}"))
            raise _Interrupted
        if whom and self.clock() - began >= SLOW_ANSWER_S:
            self.log.mend(as_sentence(f"{whom} has not answered for {SLOW_ANSWER_S} seconds, and is waited for"))
        self.log.beat()

    def _rested(self, wish: Wish) -> Wish:
        """Rest, if that is the wish; returns what is wanted afterwards."""
        if wish is not Wish.PAUSE:
            return wish
        self._pause()
        self.log.beat(force=True)  # tells of what was committed after a pause that was granted before
        self.control.rest()
        self._go_on()
        return self.control.wish()

    def _pause(self) -> None:
        self._stand_still()
        if self._before is None:
            self._before = self.log.run.state
            self.log.state(JobState.PAUSED)

    def _stand_still(self) -> None:
        if self._still is None:
            self._still = ExitStack()
            if self.under_way is not None:
                self._still.enter_context(self.under_way.standing_still())

    def _go_on(self) -> None:
        if self._still is not None:
            self._still.close()
            self._still = None
        if self._before is not None:
            before, self._before = self._before, None
            self.log.state(before)
