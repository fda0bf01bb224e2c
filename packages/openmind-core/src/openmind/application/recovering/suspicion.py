"""Notes that somebody met damage, so that the next run takes nothing for granted."""

from collections.abc import Mapping
from contextlib import suppress

from attrs import frozen

from openmind.domain.errors import OpenMindError
from openmind.domain.index import IndexTable, TableState
from openmind.ports.catalog import Catalog, CatalogReader
from openmind.ports.chunk_store import ChunkStore

SUSPECT = "suspect"
"""Name of the setting that says that somebody met damage: the next run then takes nothing for granted."""


def seal_key(table: IndexTable) -> str:
    """Name of the setting that says what the files of a table looked like when the last run ended."""
    return f"seal:{table.name}"


def suspect(catalog: Catalog) -> None:
    """Let the next run look closely; where that cannot be written down, no run can mend anything either."""
    with suppress(OpenMindError):
        with catalog.reading() as snapshot:
            known = snapshot.setting(SUSPECT) is not None
        if not known:
            with catalog.writing() as session:
                session.set_setting(SUSPECT, "1")


@frozen
class Seals:
    """What was noted of the tables that are searched, by name, and whether somebody met damage since."""

    of_tables: Mapping[str, str]
    suspect: bool


def seals_of(snapshot: CatalogReader) -> Seals:
    """Read what was noted; cheap, unlike the comparison."""
    tables = [table for table in snapshot.tables() if table.state is TableState.LIVE]
    return Seals(
        {table.name: snapshot.setting(seal_key(table)) or "" for table in tables},
        suspect=snapshot.setting(SUSPECT) is not None,
    )


def damage(noted: Seals, chunks: ChunkStore) -> str:
    """Say in a sentence that the index is damaged, as far as its files tell; empty when they look well.

    Looks at every file of the tables but starts no engine. While a run is under way its files change, and nothing can
    be said.
    """
    if not noted.suspect and not any(chunks.compare(name, seal).damaged for name, seal in noted.of_tables.items()):
        return ""
    return "The index is damaged; the next `openmind index` mends it."
