"""Values that the promises are tried on."""

from collections.abc import Sequence
from typing import Final

from attrs import evolve

from openmind.domain.changes import ChangeKind
from openmind.domain.files import FileReason, FileRecord, FileStat
from openmind.domain.ids import FileId, Generation, SourceId
from openmind.domain.index import IndexIdentity, IndexTable, Visibility
from openmind.domain.models import EmbedderIdentity
from openmind.domain.sources import Source
from openmind.ports.catalog import Catalog, GarbageEntry, PlannedChange, Publication

NOTES: Final = SourceId("src_notes")
AT: Final = 1_000.0
"""When things happen, unless a test says otherwise."""
FOREVER: Final = float("inf")


def source(name: str = "notes", *, enabled: bool = True) -> Source:
    return Source(
        id=SourceId(f"src_{name}"),
        path_bytes=f"/home/ada/{name}".encode(),
        enabled=enabled,
        created_at="2026-01-02T03:04:05+00:00",
    )


def record(
    number: int,
    *,
    generation: Generation | None = None,
    path: bytes | None = None,
    source_id: SourceId = NOTES,
    reason: FileReason = FileReason.OK,
    content: str = "",
    chunks: int = 2,
    missing: int = 0,
) -> FileRecord:
    """Make a record; what a test does not speak of follows from the number."""
    return FileRecord(
        id=FileId(f"file_{number:04}"),
        source_id=source_id,
        path_bytes=path or f"/home/ada/notes/{number:04}.md".encode(),
        stat=FileStat(size=100 + number, mtime_ns=1_700_000_000_000_000_000 + number),
        scanned_ns=1_700_000_005_000_000_000,
        content_hash=content or f"{number:064x}",
        reason=reason,
        error="" if reason is FileReason.OK else "it could not be read",
        extractor="markdown/1",
        layout="1.1",
        title=f"Note {number}",
        metadata='{"tags": ["a"]}',
        live_generation=generation,
        chunk_count=chunks,
        missing_vectors=missing,
        indexed_at="2026-01-02T03:04:06+00:00",
    )


def identity(model: str = "static", *, chunking: int = 1) -> IndexIdentity:
    embedder = EmbedderIdentity(provider="builtin", model=model, revision="r1", dimension=256, prompt_version=2)
    return IndexIdentity(embedder=embedder, chunking=chunking, analyser=1)


def change(
    path: str, *, kind: ChangeKind = ChangeKind.NEW, effort: int = 0, size: int = 1, of: FileRecord | None = None
) -> PlannedChange:
    return PlannedChange(
        source_id=NOTES,
        path_bytes=path.encode() if of is None else of.path_bytes,
        kind=kind,
        stat=FileStat(size=size, mtime_ns=7),
        effort=effort,
        file_id=None if of is None else of.id,
        content_hash="" if of is None else of.content_hash,
    )


def with_table(catalog: Catalog) -> IndexTable:
    """Add a source and a live table."""
    with catalog.writing() as session:
        session.add_source(source())
        return session.add_table("chunks", identity())


def publish(catalog: Catalog, *records: FileRecord, tables: Sequence[IndexTable], at: float = AT) -> list[FileRecord]:
    """Make new generations of records live; returns the records with them."""
    table_ids = [table.id for table in tables]
    with catalog.writing() as session:
        generations = session.begin(table_ids, len(records))
        live = [evolve(record, live_generation=new) for record, new in zip(records, generations, strict=True)]
        session.publish([Publication(record=record) for record in live], table_ids=table_ids, at=at)
    return live


def garbage(catalog: Catalog) -> set[tuple[int, Generation]]:
    """List what is garbage."""
    with catalog.reading() as snapshot:
        return {_slot(entry) for entry in snapshot.garbage(died_before=FOREVER, limit=100_000)}


def visibility(catalog: Catalog, table: IndexTable) -> Visibility:
    with catalog.reading() as snapshot:
        return snapshot.visibility(table.id)


def generation_of(record: FileRecord) -> Generation:
    assert record.live_generation is not None
    return record.live_generation


def _slot(entry: GarbageEntry) -> tuple[int, Generation]:
    return (entry.table_id, entry.generation)
