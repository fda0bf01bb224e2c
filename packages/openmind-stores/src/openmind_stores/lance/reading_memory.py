"""What the readers of a process keep in memory from one search to the next, and until when."""

from collections.abc import Callable
from threading import Lock

from attrs import define, field

from openmind_stores.lance.engine import MB, Caches
from openmind_stores.lance.row_names import RowNames
from openmind_stores.lance.sample import Samples

WARM_SEARCHES = 16
"""After so many searches the caches hold what every search needs; what they take in later, single words ask for."""
LEAST_GROWTH = 2 * MB
GROWTH_PART = 8
"""Caches may grow by this part of what they hold when warm, and by `LEAST_GROWTH` at least: a word that is asked for
the first time takes six times the memory that Lance counts for it, and nearly none is asked for twice. Warming up anew
costs what a few searches cost, once in some two hundred."""


def _new_caches() -> Caches:
    # Bounds, not what is taken. 64 MB of metadata are enough for 100,000 rows; with a million, each search read them
    # anew and took twice as long.
    return Caches(index_mb=1_024, metadata_mb=256)


@define
class ReadingMemory:
    """Caches, samples and names of rows that the searches of a process share. Thread-safe.

    Caches that have grown too much are let go of: searches under way keep theirs until they end.
    """

    samples: Samples = field(factory=Samples, init=False)
    _names: dict[str, RowNames] = field(factory=dict, init=False)
    _make: Callable[[], Caches] = _new_caches
    _caches: Caches | None = field(default=None, init=False)
    _searches: int = field(default=0, init=False)
    _warm_bytes: int = field(default=0, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def caches(self) -> Caches:
        """Give what to open a table with now."""
        with self._lock:
            if self._caches is None or self._has_outgrown(self._caches):
                self._caches = self._make()
                self._searches = self._warm_bytes = 0
            return self._caches

    def names(self, table: str) -> RowNames:
        """Give what is known of the rows of a table."""
        with self._lock:
            return self._names.setdefault(table, RowNames())

    def searched(self, caches: Caches) -> None:
        """Note that a search with these caches has ended."""
        with self._lock:
            if caches is self._caches:
                self._searches += 1
                if self._searches <= WARM_SEARCHES:
                    self._warm_bytes = caches.index_bytes

    def _has_outgrown(self, caches: Caches) -> bool:
        allowed = self._warm_bytes + max(LEAST_GROWTH, self._warm_bytes // GROWTH_PART)
        return self._searches >= WARM_SEARCHES and caches.index_bytes > allowed
