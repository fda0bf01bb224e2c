"""How many passages there are, counted once for each state of the catalog."""

from collections.abc import Hashable

from attrs import define, field

from openmind.domain.ids import SourceId
from openmind.domain.index import IndexTable
from openmind.ports.catalog import CatalogReader, MemoryCounts


@define
class PassageTally:
    """Remembers the last count: counting reads a row for each file, which is a tenth of what a search costs.

    Whatever changes the count publishes a generation, buries one, or changes the sources. The one exception is a table
    that was lost: who finds nothing counts again. Thread-safe: the pair is replaced as a whole.
    """

    _last: tuple[Hashable, MemoryCounts] | None = field(default=None, init=False)

    def of(self, snapshot: CatalogReader, table: IndexTable, sources: frozenset[SourceId] | None) -> MemoryCounts:
        """Count the passages of these sources; None means all that are enabled."""
        enabled = tuple(source.id for source in snapshot.sources(enabled_only=True))
        key = (table.id, snapshot.visibility(table.id), enabled, sources)
        last = self._last
        if last is not None and last[0] == key:
            return last[1]
        counted = count(snapshot, sources)
        self._last = (key, counted)
        return counted


def count(snapshot: CatalogReader, sources: frozenset[SourceId] | None) -> MemoryCounts:
    """Count the passages of these sources now."""
    if sources is None:
        return snapshot.counts()
    parts = [snapshot.source_counts(source_id) for source_id in sorted(sources)]
    return MemoryCounts(
        sources=len(parts),
        files=sum(part.files for part in parts),
        by_reason={
            reason: sum(part.by_reason.get(reason, 0) for part in parts) for part in parts for reason in part.by_reason
        },
        chunks=sum(part.chunks for part in parts),
        missing_vectors=sum(part.missing_vectors for part in parts),
    )
