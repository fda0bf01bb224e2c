"""Attention: while a run works, it listens for the wish to pause or to stop."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from attrs import define

from openmind.application.indexing.run_log import RunLog
from openmind.application.patience import patiently
from openmind.domain.control import RunControl, Wish
from openmind.domain.jobs import JobState

T = TypeVar("T")


class Stopped(Exception):
    """The run was asked to stop."""


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

    def heed(self) -> None:
        """Rest while a pause is wanted; what is open is committed before.

        Raises:
            Stopped: the run is to end.
        """
        wish = self.control.wish()
        if wish is Wish.GO:
            return
        if self.under_way is None:
            wish = self._rested(wish)
        else:
            with self.under_way.standing_still():  # before the commit, which then has the processors to itself
                self.under_way.commit()
                wish = self._rested(wish)
        if wish is Wish.STOP:
            raise Stopped

    def heed_and_beat(self) -> None:
        """Heed, and show a sign of life."""
        self.heed()
        self.log.beat()

    def is_wanted_elsewhere(self) -> bool:
        """Whether a wish waits to be heeded."""
        return self.control.wish() is not Wish.GO

    def patiently(self, ask: Callable[[], T]) -> T:
        """Ask what may hang: a wish is heeded meanwhile, and the question put again.

        Raises:
            Stopped: the run is to end.
        """
        while True:
            try:
                return patiently(ask, while_waiting=self._interrupt)
            except _Interrupted:
                self.heed()

    def _interrupt(self) -> None:
        if self.is_wanted_elsewhere():
            raise _Interrupted
        self.log.beat()

    def _rested(self, wish: Wish) -> Wish:
        """Rest, if that is the wish; returns what is wanted afterwards."""
        if wish is not Wish.PAUSE:
            return wish
        before = self.log.run.state
        self.log.state(JobState.PAUSED)
        self.control.rest()
        self.log.state(before)
        return self.control.wish()
