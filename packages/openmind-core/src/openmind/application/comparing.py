"""Compares the two stores, row for row, without changing anything."""

from attrs import frozen

from openmind.application.flushing import OWN_TABLE
from openmind.domain.errors import StoreDamaged
from openmind.domain.index import IndexTable, TableState
from openmind.ports.catalog import CatalogReader
from openmind.ports.storage import Storage

PAGE = 1_000


@frozen(kw_only=True)
class TableComparison:
    """A table and what the catalog says of it."""

    table: IndexTable
    rows: int = 0
    lost_files: int = 0
    """Files of which passages are missing or doubled."""
    orphans: int = 0
    """Versions of files that nobody knows."""
    unreadable: str = ""


@frozen(kw_only=True)
class StoreComparison:
    """Both stores side by side; made while nobody writes."""

    tables: tuple[TableComparison, ...] = ()
    unknown_tables: tuple[str, ...] = ()
    begun: int = 0
    """Versions that were begun and never finished."""
    unpublished: int = 0
    """Files that should have passages and have none."""


def compare(storage: Storage) -> StoreComparison:
    """Compare what the catalog says is there with what is there. Nobody may write meanwhile."""
    with storage.catalog.reading() as snapshot:
        tables = tuple(table for table in snapshot.tables() if table.state is not TableState.DEAD)
        known = {table.name for table in snapshot.tables()}
        begun = len(snapshot.intents())
        unpublished = _unpublished(snapshot)
    unknown = tuple(name for name in storage.chunks.tables() if name not in known and OWN_TABLE.fullmatch(name))
    return StoreComparison(
        tables=tuple(_compare_table(storage, table) for table in tables),
        unknown_tables=unknown,
        begun=begun,
        unpublished=unpublished,
    )


def _compare_table(storage: Storage, table: IndexTable) -> TableComparison:
    try:
        counts = storage.chunks.counts(table.name)
    except StoreDamaged as damage:
        return TableComparison(table=table, unreadable=damage.message)
    rows = sum(counts.values())
    with storage.catalog.reading() as snapshot:
        known = {entry.generation for entry in snapshot.garbage(died_before=float("inf"), limit=10_000_000)}
        known |= {generation for _, generation in snapshot.intents()}
        filling = table.state is TableState.FILLING
        expected = snapshot.filled_generations(table.id) if filling else snapshot.live_generations()
        lost = sum(1 for generation, file_id, chunks in expected if counts.pop((generation, file_id), 0) != chunks)
        if filling:  # what a run wrote to both tables and has not noted as filled is filled later
            known |= {generation for generation, _, _ in snapshot.live_generations()}
    orphans = {generation for generation, _ in counts} - known
    return TableComparison(table=table, rows=rows, lost_files=lost, orphans=len(orphans))


def _unpublished(snapshot: CatalogReader) -> int:
    found, after = 0, None
    while page := snapshot.files_without_passages(after=after, limit=PAGE):
        found += len(page)
        after = page[-1].id
    return found
