"""Holding the index lock: waiting for somebody who is about to give it back."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from openmind.domain.errors import IndexingBusy
from openmind.ports.storage import Storage

LOOK_EVERY_S = 0.1


@contextmanager
def hold(
    storage: Storage, *, deadline: float, sleep: Callable[[float], None], clock: Callable[[], float]
) -> Iterator[None]:
    """Hold the index lock.

    Raises:
        IndexingBusy: it was not free before the deadline, a value of the clock.
    """
    with ExitStack() as held:
        while True:
            try:
                held.enter_context(storage.index_lock())
                break
            except IndexingBusy:
                if clock() >= deadline:
                    raise
                sleep(LOOK_EVERY_S)
        yield
