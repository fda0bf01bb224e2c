"""Files in the catalog: reading."""

from collections.abc import Collection, Iterable, Iterator
from operator import itemgetter
from typing import Final

from openmind.domain.files import FileBrief, FileReason, FileRecord, FileStat
from openmind.domain.ids import FileId, SourceId
from openmind.domain.paths import displayable
from openmind.ports.catalog import MemoryCounts

from openmind_stores.sqlite.connection import Row
from openmind_stores.sqlite.records import BYTES, TEXT, WHOLE, Form, Session, or_null, shapes
from openmind_stores.sqlite.tables.paths import as_path
from openmind_stores.sqlite.values import array, batches

_REASONS: Final = {reason.value: reason for reason in FileReason}

_LEAN: Final = (
    "id, source_id, path_bytes, size, mtime_ns, scanned_ns, content_hash, reason, COALESCE(error, ''), extractor, "
    "layout, live_generation, chunk_count, missing_vectors, COALESCE(indexed_at, ''), ctime_ns"
)
_COLUMNS: Final = f"{_LEAN}, title, metadata"
_KNOWN: Final = f"SELECT {_LEAN}, '', '{{}}' FROM files WHERE source_id = ? ORDER BY path_bytes"
_BY_ID: Final = f"SELECT {_COLUMNS} FROM files WHERE id = ?"
_BY_IDS: Final = f"SELECT {_COLUMNS} FROM files WHERE id IN (SELECT value FROM json_each(?))"
_BRIEF: Final = "id, source_id, path_bytes, title, live_generation"
_BRIEFS_BY_IDS: Final = f"SELECT {_BRIEF} FROM files WHERE id IN (SELECT value FROM json_each(?))"
_BY_CONTENT: Final = f"""
SELECT {_COLUMNS} FROM files
WHERE content_hash = ? AND source_id IN (SELECT id FROM sources WHERE enabled) ORDER BY path_bytes
"""
_PAGE: Final = f"""
SELECT {_COLUMNS} FROM files
WHERE path_bytes > :after AND (:any_reason OR reason IN (SELECT value FROM json_each(:reasons)))
ORDER BY path_bytes LIMIT :limit
"""
_SOURCE_PAGE: Final = f"""
SELECT {_COLUMNS} FROM files
WHERE source_id = :source AND path_bytes > :after
  AND (:any_reason OR reason IN (SELECT value FROM json_each(:reasons)))
ORDER BY path_bytes LIMIT :limit
"""
_WITHOUT_VECTORS: Final = f"""
SELECT {_COLUMNS} FROM files
WHERE missing_vectors > 0 AND live_generation IS NOT NULL AND id > ? ORDER BY id LIMIT ?
"""
_UNFILLED: Final = f"""
SELECT {_COLUMNS} FROM files
WHERE id > ? AND live_generation IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM filled WHERE table_id = ? AND generation = files.live_generation)
ORDER BY id LIMIT ?
"""

_WITHOUT_PASSAGES: Final = f"""
SELECT {_COLUMNS} FROM files
WHERE live_generation IS NULL AND chunk_count > 0 AND id > ? ORDER BY id LIMIT ?
"""

_ENABLED_SOURCES: Final = "SELECT COUNT(*) FROM sources WHERE enabled"
_THIS_SOURCE: Final = "SELECT COUNT(*) FROM sources WHERE id = ?"
_TALLY: Final = """
SELECT reason, files, chunks, missing_vectors FROM file_totals
WHERE files > 0 AND source_id IN (SELECT id FROM sources WHERE enabled)
"""
_SOURCE_TALLY: Final = """
SELECT reason, files, chunks, missing_vectors FROM file_totals WHERE files > 0 AND source_id = ?
"""
_TEXT_BYTES: Final = "SELECT size FROM text_totals"
_SOURCE_TEXT_BYTES: Final = """
SELECT COALESCE(SUM(size), 0) FROM texts
WHERE (content_hash, extractor) IN (SELECT content_hash, extractor FROM files WHERE source_id = ?)
"""
_JOURNAL_ROWS: Final = "SELECT COUNT(*) FROM vectors"


def _record(row: Row) -> FileRecord:
    """Map a row; the order is that of `_COLUMNS`. This runs for every known file of every run."""
    (
        id,
        source_id,
        path_bytes,
        size,
        mtime_ns,
        scanned_ns,
        content_hash,
        reason,
        error,
        extractor,
        layout,
        live_generation,
        chunk_count,
        missing_vectors,
        indexed_at,
        ctime_ns,
        title,
        metadata,
    ) = row
    return FileRecord(
        id=id,
        source_id=source_id,
        path_bytes=as_path(path_bytes),
        stat=FileStat(size=size, mtime_ns=mtime_ns, ctime_ns=ctime_ns),
        scanned_ns=scanned_ns,
        content_hash=content_hash,
        reason=_REASONS[reason],
        error=error,
        extractor=extractor,
        layout=layout,
        title=title,
        metadata=metadata,
        live_generation=live_generation,
        chunk_count=chunk_count,
        missing_vectors=missing_vectors,
        indexed_at=indexed_at,
    )


FILES: Final = Form(
    table="files",
    every=f"SELECT {_COLUMNS} FROM files",
    shapes=shapes(
        *(TEXT, TEXT, BYTES, WHOLE, WHOLE, WHOLE, TEXT, TEXT, TEXT, TEXT, TEXT),
        *(or_null(WHOLE), WHOLE, WHOLE, TEXT, or_null(WHOLE), TEXT, TEXT),
    ),
    make=_record,
)


def _brief(row: Row) -> tuple[FileId, FileBrief]:
    """Map a row; the order is that of `_BRIEF`."""
    file_id, source_id, path_bytes, title, live_generation = row
    brief = FileBrief(
        source_id=source_id,
        path_bytes=as_path(path_bytes),
        path=displayable(path_bytes),
        title=title,
        live_generation=live_generation,
    )
    return file_id, brief


BRIEFS: Final = Form(
    table="files",
    every=f"SELECT {_BRIEF} FROM files",
    shapes=shapes(TEXT, TEXT, BYTES, TEXT, or_null(WHOLE)),
    make=_brief,
)
TALLY: Final = Form(
    table="file_totals",
    every="SELECT reason, files, chunks, missing_vectors FROM file_totals",
    shapes=shapes(TEXT, WHOLE, WHOLE, WHOLE),
    make=lambda row: (_REASONS[row[0]], *row[1:]),
)
TEXT_BYTES: Final[Form[int]] = Form(table="text_totals", every=_TEXT_BYTES, shapes=shapes(WHOLE), make=itemgetter(0))


class FileReading(Session):
    """Looks files up and counts them."""

    def counts(self) -> MemoryCounts:
        return _counts(
            self.all(TALLY, _TALLY),
            sources=self.link.value(_ENABLED_SOURCES),
            text_bytes=self.sole(TEXT_BYTES, _TEXT_BYTES),
            journal_rows=self.link.value(_JOURNAL_ROWS),
        )

    def source_counts(self, source_id: SourceId) -> MemoryCounts:
        return _counts(
            self.all(TALLY, _SOURCE_TALLY, (source_id,)),
            sources=self.link.value(_THIS_SOURCE, (source_id,)),
            text_bytes=self.link.value(_SOURCE_TEXT_BYTES, (source_id,)),
            journal_rows=0,
        )

    def known_files(self, source_id: SourceId) -> Iterator[FileRecord]:
        return self.each(FILES, _KNOWN, (source_id,))

    def file(self, file_id: FileId) -> FileRecord | None:
        return self.one(FILES, _BY_ID, (file_id,))

    def files(self, file_ids: Collection[FileId]) -> dict[FileId, FileRecord]:
        found: dict[FileId, FileRecord] = {}
        for batch in batches(file_ids):
            found.update((record.id, record) for record in self.all(FILES, _BY_IDS, (array(batch),)))
        return found

    def briefs(self, file_ids: Collection[FileId]) -> dict[FileId, FileBrief]:
        found: dict[FileId, FileBrief] = {}
        for batch in batches(file_ids):
            found.update(self.all(BRIEFS, _BRIEFS_BY_IDS, (array(batch),)))
        return found

    def files_with_content(self, content_hash: str) -> tuple[FileRecord, ...]:
        return self.all(FILES, _BY_CONTENT, (content_hash,))

    def list_files(
        self,
        *,
        reasons: Collection[FileReason] = (),
        source_id: SourceId | None = None,
        after: bytes = b"",
        limit: int = 100,
    ) -> tuple[FileRecord, ...]:
        wanted = {"after": after, "any_reason": not reasons, "reasons": array(reasons), "limit": limit}
        if source_id is None:
            return self.all(FILES, _PAGE, wanted)
        return self.all(FILES, _SOURCE_PAGE, {**wanted, "source": source_id})

    def files_without_vectors(self, *, after: FileId | None, limit: int) -> tuple[FileRecord, ...]:
        return self.all(FILES, _WITHOUT_VECTORS, (after or "", limit))

    def files_without_passages(self, *, after: FileId | None, limit: int) -> tuple[FileRecord, ...]:
        return self.all(FILES, _WITHOUT_PASSAGES, (after or "", limit))

    def unfilled(self, table_id: int, *, after: FileId | None, limit: int) -> tuple[FileRecord, ...]:
        return self.all(FILES, _UNFILLED, (after or "", table_id, limit))


def _counts(tally: Iterable[Row], *, sources: int, text_bytes: int, journal_rows: int) -> MemoryCounts:
    files = chunks = missing = 0
    by_reason: dict[FileReason, int] = {}
    for reason, number, chunk_count, missing_vectors in tally:
        by_reason[reason] = by_reason.get(reason, 0) + number
        files += number
        chunks += chunk_count
        missing += missing_vectors
    return MemoryCounts(
        sources=sources,
        files=files,
        by_reason=by_reason,
        chunks=chunks,
        missing_vectors=missing,
        text_bytes=text_bytes,
        journal_rows=journal_rows,
    )
