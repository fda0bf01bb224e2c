"""Importing: an archive becomes memory, in the same steps as an index run."""

import os
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path

import attrs
from attrs import define, field

from openmind.application.indexing.batch import BATCH_ROWS
from openmind.application.sources import resolve_folder
from openmind.domain import packing
from openmind.domain.archives import ImportReport
from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import ArchiveDamaged, SourceError
from openmind.domain.files import FileRecord
from openmind.domain.ids import Generation
from openmind.domain.index import FIRST_TABLE, IndexTable
from openmind.domain.soundness import fault_of_passages
from openmind.domain.sources import Source
from openmind.ports.archive import OpenedArchive
from openmind.ports.catalog import Publication
from openmind.ports.file_tree import FileTree
from openmind.ports.storage import Storage

TEXTS_AT_ONCE = 500


@define(kw_only=True)
class Import:
    """One import into an empty memory. Needs the index lock; serves one thread."""

    storage: Storage
    tree: FileTree
    archive: OpenedArchive
    now: Callable[[], datetime]
    home: Path
    """OpenMind's own folder."""
    files: int = field(default=0, init=False)
    passages: int = field(default=0, init=False)

    def carry_out(self, *, enable_missing: bool) -> ImportReport:
        """Take everything in.

        Raises:
            ArchiveDamaged, StoreError: nothing is taken back; that is the caller's business.
        """
        self._take_sources()
        self._take_texts()
        table = self._make_table()
        self._take_files(table)
        if table is not None:
            self.storage.chunks.merge(table.name)
        disabled = () if enable_missing else self._disable_missing()
        return ImportReport(
            manifest=self.archive.manifest,
            files=self.files,
            passages=self.passages,
            disabled_sources=disabled,
        )

    def _take_sources(self) -> None:
        with self.storage.catalog.writing() as session:
            for source in self.archive.sources():
                session.add_source(attrs.evolve(source, enabled=True, device=None))  # else nothing of it is published

    def _take_texts(self) -> None:
        remaining = self.archive.texts()
        while some := list(islice(remaining, TEXTS_AT_ONCE)):
            with self.storage.catalog.writing() as session:
                for text in some:
                    session.keep_text(text.content_hash, text.extractor, packing.pack(text.document))

    def _make_table(self) -> IndexTable | None:
        identity = self.archive.manifest.identity
        if identity is None:
            return None
        self.storage.chunks.create(FIRST_TABLE, dimension=identity.embedder.dimension)
        with self.storage.catalog.writing() as session:
            return session.add_table(FIRST_TABLE, identity)

    def _take_files(self, table: IndexTable | None) -> None:
        rows = _Rows(self.archive.passages())
        batch: list[tuple[FileRecord, list[ChunkRow]]] = []
        held = 0
        for record in self.archive.files():
            found = rows.of(record) if record.live_generation is not None else []
            batch.append((record, found))
            held += max(1, len(found))
            if held >= BATCH_ROWS:
                self._publish(table, batch)
                batch, held = [], 0
        self._publish(table, batch)
        rows.require_end()

    def _publish(self, table: IndexTable | None, batch: list[tuple[FileRecord, list[ChunkRow]]]) -> None:
        live = [(record, rows) for record, rows in batch if rows]
        others = [attrs.evolve(record, live_generation=None) for record, rows in batch if not rows]
        if live:
            if table is None:
                raise ArchiveDamaged("The archive has passages and does not say what made them")
            self._add(table, live)
        with self.storage.catalog.writing() as session:
            session.record(others, at=time.time())
        self.files += len(batch)
        self.passages += sum(len(rows) for _, rows in live)

    def _add(self, table: IndexTable, live: list[tuple[FileRecord, list[ChunkRow]]]) -> None:
        with self.storage.catalog.writing() as session:
            generations = session.begin([table.id], len(live))
        numbered = list(zip(live, generations, strict=True))
        self.storage.chunks.add(
            table.name, [attrs.evolve(row, generation=new) for (_, rows), new in numbered for row in rows]
        )
        self.storage.chunks.fold(table.name)
        with self.storage.catalog.writing() as session:
            session.publish(
                [Publication(record=_published(record, rows, new)) for (record, rows), new in numbered],
                table_ids=[table.id],
                at=time.time(),
            )

    def _disable_missing(self) -> tuple[str, ...]:
        """Disable the sources whose folder is not there, so that nothing of it is taken for gone.

        An archive may come from anywhere: a folder that nobody could approve here counts as one that is not there.
        """
        disabled = []
        with self.storage.catalog.writing() as session:
            wanted = {source.id: source.enabled for source in self.archive.sources()}
            for source in session.sources():
                missing = not self.tree.root(source).present or not self._could_be_approved(source)
                if missing or not wanted[source.id]:
                    session.update_source(attrs.evolve(source, enabled=False))
                if missing:
                    disabled.append(source.path)
        return tuple(disabled)

    def _could_be_approved(self, source: Source) -> bool:
        path = Path(os.fsdecode(source.path_bytes))
        try:
            return resolve_folder(path, home=self.home) == path
        except SourceError:
            return False


def _published(record: FileRecord, rows: list[ChunkRow], generation: Generation) -> FileRecord:
    return attrs.evolve(
        record,
        live_generation=generation,
        chunk_count=len(rows),
        missing_vectors=sum(row.vector is None for row in rows),
    )


class _Rows:
    """The stream of passages, taken file by file: both streams are in order of generation."""

    def __init__(self, rows: Iterator[ChunkRow]) -> None:
        self._rows = rows
        self._next = next(rows, None)

    def of(self, record: FileRecord) -> list[ChunkRow]:
        """Take the passages of a file.

        Raises:
            ArchiveDamaged: they are not there, or not all.
        """
        found: list[ChunkRow] = []
        while self._next is not None and self._next.generation == record.live_generation:
            found.append(self._next)
            self._next = next(self._rows, None)
        fault = fault_of_passages(record, found)
        if fault:
            raise ArchiveDamaged(f"The archive has {fault}", hint="Export it once more.")
        return found

    def require_end(self) -> None:
        """Refuse passages that belong to no file.

        Raises:
            ArchiveDamaged
        """
        if self._next is not None:
            raise ArchiveDamaged("The archive has passages of no file", hint="Export it once more.")
