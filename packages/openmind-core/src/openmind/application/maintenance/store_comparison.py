"""Compares the two stores, row for row, without changing anything."""

from collections.abc import Iterable, Iterator

from attrs import frozen

from openmind.application.recovering.differences import Counted, differences, is_dead
from openmind.domain.errors import StoreDamaged
from openmind.domain.index import IndexTable, TableState, is_own_name
from openmind.ports.catalog import CatalogReader
from openmind.ports.storage import Storage

PAGE = 1_000


@frozen(kw_only=True)
class TableComparison:
    """A table and what the catalog says of it."""

    table: IndexTable
    rows: int = 0
    leftovers: int = 0
    """How many of them nothing finds any more, as those of former versions: a run sweeps them out after a while."""
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
    unknown = tuple(name for name in storage.chunks.tables() if name not in known and is_own_name(name))
    return StoreComparison(
        tables=tuple(_compare_table(storage, table) for table in tables),
        unknown_tables=unknown,
        begun=begun,
        unpublished=unpublished,
    )


def _compare_table(storage: Storage, table: IndexTable) -> TableComparison:
    rows = leftovers = lost = orphans = 0

    def counted(there: Iterable[Counted]) -> Iterator[Counted]:
        nonlocal rows
        for each in there:
            rows += each[2]
            yield each

    try:
        there = counted(storage.chunks.counts(table.name))
    except StoreDamaged as damage:
        return TableComparison(table=table, unreadable=damage.message)
    with storage.catalog.reading() as snapshot:
        visibility = snapshot.visibility(table.id)
        filling = table.state is TableState.FILLING
        expected = snapshot.filled_generations(table.id) if filling else snapshot.live_generations()
        for found in differences(there, expected):
            lost += found.expected > 0
            leftovers += 0 if found.expected or filling else found.rows
            if not found.expected and not is_dead(found.generation, visibility):
                file = snapshot.file(found.file_id) if filling else None
                # What a run wrote to both tables and has not noted as filled is filled later.
                orphans += file is None or file.live_generation != found.generation
    return TableComparison(table=table, rows=rows, leftovers=leftovers, lost_files=lost, orphans=orphans)


def _unpublished(snapshot: CatalogReader) -> int:
    found, after = 0, None
    while page := snapshot.files_without_passages(after=after, limit=PAGE):
        found += len(page)
        after = page[-1].id
    return found
