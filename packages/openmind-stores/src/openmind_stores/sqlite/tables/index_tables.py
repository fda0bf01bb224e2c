"""Index tables in the catalog: which chunk tables there are and what each is made with."""

from typing import Final

from openmind.domain.errors import StoreError
from openmind.domain.index import IndexIdentity, IndexTable, TableState
from openmind.domain.models import EmbedderIdentity

from openmind_stores.sqlite.connection import Row
from openmind_stores.sqlite.records import TEXT, WHOLE, Form, Session, shapes

_EVERY: Final = """
SELECT id, name, state, provider, model, revision, dimension, prompt_version, chunking, analyser
FROM index_tables
"""
_LIST: Final = f"{_EVERY} ORDER BY id"
_LIVE: Final = f"{_EVERY} WHERE state = 'live'"
_FETCH: Final = f"{_EVERY} WHERE id = ?"
_NAMED: Final = "SELECT 1 FROM index_tables WHERE name = ?"
_INSERT: Final = """
INSERT INTO index_tables (state, name, provider, model, revision, dimension, prompt_version, chunking, analyser)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_SET_IDENTITY: Final = """
UPDATE index_tables
SET provider = ?, model = ?, revision = ?, dimension = ?, prompt_version = ?, chunking = ?, analyser = ?
WHERE id = ?
"""
_SET_STATE: Final = "UPDATE index_tables SET state = ? WHERE id = ?"
_DELETE: Final = "DELETE FROM index_tables WHERE id = ?"

_DROP_INTENTS: Final = "DELETE FROM intents WHERE table_id = ?"
_DROP_GARBAGE: Final = "DELETE FROM garbage WHERE table_id = ?"
_DROP_FILLED: Final = "DELETE FROM filled WHERE table_id = ?"

_ALL_HAVE_VECTORS: Final = "UPDATE files SET missing_vectors = 0 WHERE missing_vectors > 0"
_UNFILLED: Final = """
SELECT 1 FROM files
WHERE live_generation IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM filled WHERE table_id = ? AND generation = files.live_generation)
LIMIT 1
"""
_BURY_LIVE: Final = """
INSERT OR IGNORE INTO garbage (table_id, generation, died_at, file_id)
SELECT index_tables.id, files.live_generation, ?, files.id
FROM files CROSS JOIN index_tables
WHERE files.live_generation IS NOT NULL AND index_tables.state <> 'dead' AND index_tables.id <> ?
"""
_UNLIVE: Final = """
UPDATE files SET live_generation = NULL, missing_vectors = 0, indexed_at = '' WHERE live_generation IS NOT NULL
"""


def _table(row: Row) -> IndexTable:
    id, name, state, provider, model, revision, dimension, prompt_version, chunking, analyser = row
    embedder = EmbedderIdentity(
        provider=provider, model=model, revision=revision, dimension=dimension, prompt_version=prompt_version
    )
    identity = IndexIdentity(embedder=embedder, chunking=chunking, analyser=analyser)
    return IndexTable(id=id, name=name, identity=identity, state=TableState(state))


TABLES: Final = Form(
    table="index_tables",
    every=_EVERY,
    shapes=shapes(WHOLE, TEXT, TEXT, TEXT, TEXT, TEXT, WHOLE, WHOLE, WHOLE, WHOLE),
    make=_table,
)


def _identity(identity: IndexIdentity) -> tuple[object, ...]:
    embedder = identity.embedder
    return (
        embedder.provider,
        embedder.model,
        embedder.revision,
        embedder.dimension,
        embedder.prompt_version,
        identity.chunking,
        identity.analyser,
    )


class IndexTableReading(Session):
    """Looks index tables up."""

    def tables(self) -> tuple[IndexTable, ...]:
        return self.all(TABLES, _LIST)

    def live_table(self) -> IndexTable | None:
        return self.one(TABLES, _LIVE)


class IndexTableWriting(IndexTableReading):
    """Changes index tables, and what is known of their rows."""

    def add_table(self, name: str, identity: IndexIdentity) -> IndexTable:
        if self.link.row(_NAMED, (name,)):
            raise StoreError(f"there is an index table {name} already")
        state = TableState.LIVE if self.live_table() is None else TableState.FILLING
        self.link.run(_INSERT, (state, name, *_identity(identity)))
        id: int = self.link.value("SELECT last_insert_rowid()")
        return IndexTable(id=id, name=name, identity=identity, state=state)

    def set_identity(self, table_id: int, identity: IndexIdentity) -> None:
        self.link.run(_SET_IDENTITY, (*_identity(identity), table_id))

    def switch(self, table_id: int) -> None:
        table = self.one(TABLES, _FETCH, (table_id,))
        if table is None or table.state is not TableState.FILLING:
            raise StoreError(f"the index table {table_id} is not being filled")
        if self.link.row(_UNFILLED, (table_id,)):
            raise StoreError(f"the index table {table_id} does not hold every file yet")
        live = self.live_table()
        if live is not None:
            self._bury_table(live.id)
        self.link.run(_SET_STATE, (TableState.LIVE, table_id))
        self.link.run(_DROP_FILLED, (table_id,))
        self.link.run(_ALL_HAVE_VECTORS)

    def kill_table(self, table_id: int) -> None:
        live = self.live_table()
        if live is not None and live.id == table_id:
            self._end_live_passages(table_id, at=0.0)
        self._bury_table(table_id)

    def forget_table(self, table_id: int) -> None:
        self._drop_rows(table_id)
        self.link.run(_DELETE, (table_id,))

    def empty_table(self, table_id: int, *, at: float) -> None:
        self._drop_rows(table_id)
        live = self.live_table()
        if live is not None and live.id == table_id:
            self._end_live_passages(table_id, at=at)

    def _bury_table(self, table_id: int) -> None:
        """Mark a table dead; what was known of its rows ends with it, for it is dropped as a whole."""
        self._drop_rows(table_id)
        self.link.run(_SET_STATE, (TableState.DEAD, table_id))

    def _drop_rows(self, table_id: int) -> None:
        self.link.run(_DROP_INTENTS, (table_id,))
        self.link.run(_DROP_GARBAGE, (table_id,))
        self.link.run(_DROP_FILLED, (table_id,))

    def _end_live_passages(self, table_id: int, *, at: float) -> None:
        """Let files lose their passages when the live table does; the copies in other tables become garbage."""
        self.link.run(_BURY_LIVE, (at, table_id))
        self.link.run(_UNLIVE)
