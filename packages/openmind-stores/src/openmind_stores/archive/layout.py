"""What lies where in an archive: parts that are Parquet files, whose columns are listed here, beside a manifest."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

import pyarrow as pa
from openmind.domain import packing
from openmind.domain.archives import KeptText
from openmind.domain.chunks import ChunkRow
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Segment, check_part
from openmind.domain.files import FileReason, FileRecord, FileStat, FileStatus
from openmind.domain.ids import FileId, Generation, SourceId
from openmind.domain.paths import displayable
from openmind.domain.sources import Source

Columns = dict[str, list[object]]
Row = Mapping[str, Any]

MANIFEST: Final = "manifest.json"
SOURCES: Final = "sources.parquet"
FILES: Final = "files.parquet"
TEXTS: Final = "texts.parquet"
PASSAGES: Final = "passages.parquet"
PARTS: Final = (SOURCES, FILES, TEXTS, PASSAGES)

SEGMENT: Final = pa.struct([("text", pa.string()), ("kind", pa.string()), ("locator", pa.string())])
SCHEMAS: Final[Mapping[str, Any]] = {
    SOURCES: pa.schema(
        [
            ("id", pa.string()),
            ("path", pa.string()),
            ("path_bytes", pa.binary()),
            ("recursive", pa.bool_()),
            ("enabled", pa.bool_()),
            ("created_at", pa.string()),
            ("kind", pa.string()),
            ("config", pa.string()),
            ("ocr", pa.bool_()),
            ("code", pa.bool_()),
        ]
    ),
    FILES: pa.schema(
        [
            ("id", pa.string()),
            ("source_id", pa.string()),
            ("path", pa.string()),
            ("path_bytes", pa.binary()),
            ("size", pa.int64()),
            ("mtime_ns", pa.int64()),
            ("scanned_ns", pa.int64()),
            ("content_hash", pa.string()),
            ("status", pa.string()),
            ("reason", pa.string()),
            ("error", pa.string()),
            ("extractor", pa.string()),
            ("layout", pa.string()),
            ("title", pa.string()),
            ("metadata", pa.string()),
            ("generation", pa.int64()),
            ("chunk_count", pa.int64()),
            ("missing_vectors", pa.int64()),
            ("indexed_at", pa.string()),
        ]
    ),
    TEXTS: pa.schema(
        [
            ("content_hash", pa.string()),
            ("extractor", pa.string()),
            ("title", pa.string()),
            ("metadata", pa.string()),
            ("reason", pa.string()),
            ("note", pa.string()),
            ("segments", pa.list_(SEGMENT)),
        ]
    ),
    PASSAGES: pa.schema(
        [
            ("generation", pa.int64()),
            ("chunk_index", pa.int64()),
            ("file_id", pa.string()),
            ("source_id", pa.string()),
            ("path", pa.string()),
            ("file_name", pa.string()),
            ("extension", pa.string()),
            ("title", pa.string()),
            ("text", pa.string()),
            ("words", pa.string()),
            ("vector", pa.binary()),
            ("content_hash", pa.string()),
            ("modified_at", pa.float64()),
            ("indexed_at", pa.string()),
            ("passage", pa.int64()),
            ("metadata", pa.string()),
        ]
    ),
}
"""Vectors are little-endian float32, one after the other: every program can read them, and none rounds them."""
ABSENT: Final[Mapping[str, frozenset[str]]] = {FILES: frozenset({"generation"}), PASSAGES: frozenset({"vector"})}
"""Columns in which a value may be missing, by part: a file may have no passages, and a passage no vector yet."""


def source_row(source: Source) -> Row:
    return {
        "id": source.id,
        "path": source.path,
        "path_bytes": source.path_bytes,
        "recursive": source.recursive,
        "enabled": source.enabled,
        "created_at": source.created_at,
        "kind": source.kind,
        "config": source.config,
        "ocr": source.ocr,
        "code": source.code,
    }


def source_of(row: Row) -> Source:
    return Source(
        id=SourceId(row["id"]),
        path_bytes=row["path_bytes"],
        recursive=row["recursive"],
        enabled=row["enabled"],
        created_at=row["created_at"],
        kind=row["kind"],
        config=row["config"],
        ocr=row["ocr"],
        code=row["code"],
    )


def file_row(record: FileRecord) -> Row:
    return {
        "id": record.id,
        "source_id": record.source_id,
        "path": displayable(record.path_bytes),
        "path_bytes": record.path_bytes,
        "size": record.stat.size,
        "mtime_ns": record.stat.mtime_ns,
        "scanned_ns": record.scanned_ns,
        "content_hash": record.content_hash,
        "status": record.status.value,
        "reason": record.reason.value,
        "error": record.error,
        "extractor": record.extractor,
        "layout": record.layout,
        "title": record.title,
        "metadata": record.metadata,
        "generation": record.live_generation,
        "chunk_count": record.chunk_count,
        "missing_vectors": record.missing_vectors,
        "indexed_at": record.indexed_at,
    }


def file_of(row: Row) -> FileRecord:
    generation, reason = row["generation"], FileReason(row["reason"])
    if FileStatus(row["status"]) is not reason.status:
        raise ValueError("no file of that status has that reason")
    return FileRecord(
        id=FileId(row["id"]),
        source_id=SourceId(row["source_id"]),
        path_bytes=row["path_bytes"],
        stat=FileStat(size=row["size"], mtime_ns=row["mtime_ns"]),
        scanned_ns=row["scanned_ns"],
        content_hash=row["content_hash"],
        reason=reason,
        error=row["error"],
        extractor=row["extractor"],
        layout=row["layout"],
        title=row["title"],
        metadata=row["metadata"],
        live_generation=None if generation is None else Generation(generation),
        chunk_count=row["chunk_count"],
        missing_vectors=row["missing_vectors"],
        indexed_at=row["indexed_at"],
    )


def text_row(text: KeptText) -> Row:
    facts = text.document.facts
    return {
        "content_hash": text.content_hash,
        "extractor": text.extractor,
        "title": facts.title,
        "metadata": json.dumps(facts.metadata),
        "reason": facts.reason.value,
        "note": facts.note,
        "segments": [
            {
                "text": part.text,
                "kind": part.kind,
                "locator": json.dumps(packing.locator_to_json(part.locator)),
            }
            for part in text.document.segments
        ],
    }


def text_of(row: Row) -> KeptText:
    segments = cast("Iterable[Row]", row["segments"])
    document = ExtractedDocument(
        segments=tuple(
            Segment(
                text=part["text"], kind=part["kind"], locator=packing.locator_from_json(json.loads(part["locator"]))
            )
            for part in segments
        ),
        facts=DocumentFacts(
            title=row["title"],
            metadata=json.loads(row["metadata"]),
            reason=FileReason(row["reason"]),
            note=row["note"],
        ),
    )
    for part in (*document.segments, document.facts):
        check_part(part)
    return KeptText(content_hash=row["content_hash"], extractor=row["extractor"], document=document)


def passage_row(row: ChunkRow) -> Row:
    return {
        "generation": row.generation,
        "chunk_index": row.index,
        "file_id": row.file_id,
        "source_id": row.source_id,
        "path": row.path,
        "file_name": row.file_name,
        "extension": row.extension,
        "title": row.title,
        "text": row.text,
        "words": row.words,
        "vector": row.vector,
        "content_hash": row.content_hash,
        "modified_at": row.modified_at,
        "indexed_at": row.indexed_at,
        "passage": row.passage,
        "metadata": row.metadata,
    }


def passage_of(row: Row) -> ChunkRow:
    return ChunkRow(
        generation=Generation(row["generation"]),
        file_id=FileId(row["file_id"]),
        source_id=SourceId(row["source_id"]),
        path=row["path"],
        file_name=row["file_name"],
        extension=row["extension"],
        title=row["title"],
        text=row["text"],
        words=row["words"],
        vector=row["vector"],
        index=row["chunk_index"],
        content_hash=row["content_hash"],
        modified_at=row["modified_at"],
        indexed_at=row["indexed_at"],
        passage=row["passage"],
        metadata=row["metadata"],
    )


def columns_of(part: str, rows: Iterable[Row]) -> Columns:
    """Turn rows into columns; lone surrogates, which Arrow refuses, become replacement characters."""
    listed = list(rows)
    return {name: [_clean(row[name]) for row in listed] for name in SCHEMAS[part].names}


def _clean(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if not value.isascii() else value
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {name: _clean(item) for name, item in value.items()}
    return value


def rows_of(columns: Mapping[str, list[object]]) -> Iterator[Row]:
    """Turn columns into rows."""
    names = list(columns)
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(names, values, strict=True))
