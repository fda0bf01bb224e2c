"""Files in the catalog: writing. Whatever generation a record loses becomes garbage in the same transaction.

Records pass through a temporary table, so that a batch is compared with what is there, and put in its place, by a
handful of statements however large it is.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from openmind.domain.files import FileRecord
from openmind.domain.ids import FileId, SourceId
from openmind.domain.paths import extension_of, name_of
from openmind.ports.catalog import Publication

from openmind_stores.sqlite.records import Session
from openmind_stores.sqlite.tables.paths import shown
from openmind_stores.sqlite.values import array, batches, integer, text

_INCOMING: Final = """
CREATE TEMP TABLE IF NOT EXISTS incoming (
    id TEXT PRIMARY KEY, source_id TEXT, path TEXT, name TEXT, extension TEXT, size INTEGER, modified_at REAL,
    content_hash TEXT, status TEXT, indexed_at TEXT, error TEXT, path_bytes BLOB UNIQUE, mtime_ns INTEGER,
    scanned_ns INTEGER, reason TEXT, extractor TEXT, layout TEXT, live_generation INTEGER, chunk_count INTEGER,
    missing_vectors INTEGER, title TEXT, metadata TEXT, ctime_ns INTEGER
)
"""
_TAKE_IN: Final = """
INSERT OR REPLACE INTO incoming VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_SAME_LOOK: Final = "SELECT 1 FROM files WHERE path = ? AND path_bytes <> ?"
_REFUSE: Final = "DELETE FROM incoming WHERE source_id NOT IN (SELECT id FROM sources WHERE enabled)"
_BURY_REPLACED: Final = """
INSERT OR IGNORE INTO garbage (table_id, generation, died_at, file_id)
SELECT index_tables.id, files.live_generation, ?, files.id
FROM files CROSS JOIN index_tables
WHERE (files.id IN (SELECT id FROM incoming) OR files.path_bytes IN (SELECT path_bytes FROM incoming))
  AND files.live_generation IS NOT NULL
  AND files.live_generation NOT IN (SELECT live_generation FROM incoming WHERE live_generation IS NOT NULL)
  AND index_tables.state <> 'dead'
"""
_DELETE_REPLACED: Final = """
DELETE FROM files WHERE id IN (SELECT id FROM incoming) OR path_bytes IN (SELECT path_bytes FROM incoming)
"""
_PUT: Final = """
INSERT INTO files (
    id, source_id, path, name, extension, size, modified_at, content_hash, status, indexed_at, error, path_bytes,
    mtime_ns, scanned_ns, reason, extractor, layout, live_generation, chunk_count, missing_vectors, title, metadata,
    ctime_ns
)
SELECT
    id, source_id, path, name, extension, size, modified_at, content_hash, status, indexed_at, error, path_bytes,
    mtime_ns, scanned_ns, reason, extractor, layout, live_generation, chunk_count, missing_vectors, title, metadata,
    ctime_ns
FROM incoming
"""
_CLEAR_INCOMING: Final = "DELETE FROM incoming"

# Either the record was refused or replaced within the batch, or the table was not written to after all.
_BURY_UNPUBLISHED: Final = """
INSERT OR IGNORE INTO garbage (table_id, generation, died_at)
SELECT table_id, generation, :at FROM intents
WHERE generation IN (SELECT value FROM json_each(:generations))
  AND (
    table_id NOT IN (SELECT value FROM json_each(:tables))
    OR NOT EXISTS (SELECT 1 FROM files WHERE live_generation = intents.generation)
  )
"""
_END_INTENTS: Final = "DELETE FROM intents WHERE generation IN (SELECT value FROM json_each(?))"
_BURY_FORGOTTEN: Final = """
INSERT OR IGNORE INTO garbage (table_id, generation, died_at)
SELECT index_tables.id, files.live_generation, :at
FROM files CROSS JOIN index_tables
WHERE files.id IN (SELECT value FROM json_each(:ids)) AND files.live_generation IS NOT NULL
  AND index_tables.state <> 'dead'
"""
_AGE_FORGOTTEN: Final = """
UPDATE garbage SET died_at = :at WHERE file_id IN (SELECT value FROM json_each(:ids)) AND died_at > :at
"""
_NOTE_CTIME: Final = "UPDATE files SET ctime_ns = ? WHERE id = ? AND ctime_ns IS NULL"
_FORGET: Final = "DELETE FROM files WHERE id IN (SELECT value FROM json_each(?))"
_BURY_SOURCE: Final = """
INSERT OR IGNORE INTO garbage (table_id, generation, died_at)
SELECT index_tables.id, files.live_generation, 0.0
FROM files CROSS JOIN index_tables
WHERE files.source_id = ? AND files.live_generation IS NOT NULL AND index_tables.state <> 'dead'
"""
_FORGET_SOURCE_FILES: Final = "DELETE FROM files WHERE source_id = ?"
_FORGET_SOURCE_PLANS: Final = "DELETE FROM changes WHERE source_id = ?"
_DELETE_SOURCE: Final = "DELETE FROM sources WHERE id = ?"


class FileWriting(Session):
    """Replaces and forgets records."""

    def publish(self, publications: Iterable[Publication], *, table_ids: Sequence[int], at: float) -> int:
        published = 0
        tables = array(table_ids)
        for batch in batches(publications):
            records = [publication.record for publication in batch]
            published += self._replace(records, at=at)
            generations = array(record.live_generation for record in records)
            self.link.run(_BURY_UNPUBLISHED, {"at": at, "generations": generations, "tables": tables})
            self.link.run(_END_INTENTS, (generations,))
        return published

    def record(self, records: Iterable[FileRecord], *, at: float) -> None:
        for batch in batches(records):
            self._replace(batch, at=at)

    def note_ctimes(self, ctimes: Mapping[FileId, int]) -> None:
        self.link.run_many(_NOTE_CTIME, ((integer(ctime_ns), file_id) for file_id, ctime_ns in ctimes.items()))

    def forget(self, file_ids: Iterable[FileId], *, at: float) -> int:
        forgotten = 0
        for batch in batches(file_ids):
            ids = array(batch)
            self.link.run(_BURY_FORGOTTEN, {"at": at, "ids": ids})
            self.link.run(_AGE_FORGOTTEN, {"at": at, "ids": ids})
            forgotten += self.link.run(_FORGET, (ids,))
        return forgotten

    def delete_source(self, source_id: SourceId) -> None:
        self.link.run(_BURY_SOURCE, (source_id,))
        self.link.run(_FORGET_SOURCE_FILES, (source_id,))
        self.link.run(_FORGET_SOURCE_PLANS, (source_id,))
        self.link.run(_DELETE_SOURCE, (source_id,))

    def _replace(self, records: Sequence[FileRecord], *, at: float) -> int:
        """Put records in place of what is there under their ids and at their paths; returns how many."""
        self.link.run(_INCOMING)
        self.link.run_many(_TAKE_IN, map(_incoming, records, self._shown_paths(records)))
        self.link.run(_REFUSE)
        self.link.run(_BURY_REPLACED, (at,))
        self.link.run(_DELETE_REPLACED)
        replaced = self.link.run(_PUT)
        self.link.run(_CLEAR_INCOMING)
        return replaced

    def _shown_paths(self, records: Sequence[FileRecord]) -> list[str]:
        looks: dict[str, bytes] = {}
        return [self._shown_path(record.path_bytes, looks) for record in records]

    def _shown_path(self, path: bytes, looks: dict[str, bytes]) -> str:
        """Show a path in a way that no other one has, neither in `looks` nor in the catalog."""

        def taken(look: str) -> bool:
            return looks.get(look, path) != path or self.link.row(_SAME_LOOK, (look, path)) is not None

        look = shown(path, taken)
        looks[look] = path
        return look


def _incoming(record: FileRecord, path: str) -> tuple[object, ...]:
    """Map a record to a row of `incoming`."""
    name = text(name_of(record.path_bytes))
    return (
        record.id,
        record.source_id,
        path,
        name,
        extension_of(name),
        integer(record.stat.size),
        record.stat.modified_at,
        record.content_hash,
        record.status.value,
        record.indexed_at,
        text(record.error),
        record.path_bytes,
        integer(record.stat.mtime_ns),
        integer(record.scanned_ns),
        record.reason.value,
        record.extractor,
        record.layout,
        record.live_generation,
        record.chunk_count,
        record.missing_vectors,
        text(record.title),
        text(record.metadata),
        None if record.stat.ctime_ns is None else integer(record.stat.ctime_ns),
    )
