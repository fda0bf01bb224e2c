"""Exporting: what is remembered becomes an archive; what is damaged is left out, for an import would refuse it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TypeVar

import attrs
from attrs import Factory, define, field

from openmind.application.indexing.batch import BATCH_ROWS
from openmind.domain import packing
from openmind.domain.archives import ExportReport, KeptText, Manifest
from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import StoreDamaged
from openmind.domain.files import FileRecord
from openmind.domain.ids import FileId, Generation, SourceId
from openmind.domain.index import IndexTable
from openmind.domain.paths import displayable
from openmind.domain.soundness import fault_of_file, fault_of_passage, fault_of_passages, fault_of_source
from openmind.domain.sources import Source
from openmind.ports.archive import ArchiveContents
from openmind.ports.catalog import CatalogReader
from openmind.ports.chunk_store import ChunkStore

T = TypeVar("T")
Page = Sequence[tuple[Generation, FileId]]
PAGE = 500


@define(kw_only=True)
class Export:
    """One export of one moment. Needs the index lock; serves one thread."""

    snapshot: CatalogReader
    chunks: ChunkStore
    written_by: str
    created_at: str
    _sources_by_id: dict[SourceId, Source] = field(
        default=Factory(lambda self: {each.id: each for each in self._sources()}, takes_self=True), init=False
    )
    _damaged: dict[FileId, str] = field(factory=dict, init=False)
    """Files of which something is left out, with their paths."""
    _written: Counter[str] = field(factory=Counter, init=False)

    def contents(self) -> ArchiveContents:
        """Give the streams of an archive. The files are told what became of their passages, so they come later."""
        return ArchiveContents(
            sources=self._counted("sources", self._sources()),
            passages=self._counted("passages", self._passages()),
            files=self._counted("files", self._files()),
            texts=self._counted("texts", self._texts()),
            manifest=self._manifest,
        )

    def report(self) -> ExportReport:
        """Tell what was written, once it was."""
        return ExportReport(manifest=self._manifest(), damaged_files=tuple(sorted(self._damaged.values())))

    def _manifest(self) -> Manifest:
        table = self.snapshot.live_table()
        return Manifest(
            written_by=self.written_by,
            created_at=self.created_at,
            identity=table.identity if table else None,
            sources=self._written["sources"],
            files=self._written["files"],
            texts=self._written["texts"],
            passages=self._written["passages"],
        )

    def _counted(self, name: str, items: Iterator[T]) -> Iterator[T]:
        for item in items:
            self._written[name] += 1
            yield item

    def _sources(self) -> Iterator[Source]:
        return (source for source in self.snapshot.sources() if not fault_of_source(source))

    def _passages(self) -> Iterator[ChunkRow]:
        table = self.snapshot.live_table()
        if table is None:
            return
        dimension = table.identity.embedder.dimension
        for page in self._pages():
            found = self._rows(table, page)
            for record in self._live_records(page):
                rows = found.get(record.live_generation, [])
                if self._fault_of_file(record) or _fault_of_rows(record, rows, dimension):
                    self._leave_out(record)
                else:
                    yield from rows

    def _rows(self, table: IndexTable, page: Page) -> dict[Generation | None, list[ChunkRow]]:
        """Read the passages of some files; none of them when some cannot be read, until the next run mended that."""
        try:
            rows = list(self.chunks.read_generations(table.name, [generation for generation, _ in page]))
        except StoreDamaged:
            return {}
        return {generation: list(some) for generation, some in groupby(rows, attrgetter("generation"))}

    def _files(self) -> Iterator[FileRecord]:
        """Files without passages first, then the others in the order of their generations."""
        for record in self._records():
            if record.live_generation is None or record.id in self._damaged:
                if self._fault_of_file(record):
                    self._leave_out(record)
                else:
                    yield attrs.evolve(record, live_generation=None)
        for page in self._pages():
            yield from (record for record in self._live_records(page) if record.id not in self._damaged)

    def _texts(self) -> Iterator[KeptText]:
        """Each text once."""
        seen: set[tuple[str, str]] = set()
        for record in self._records():
            name = (record.content_hash, record.extractor)
            packed = self.snapshot.text(*name) if record.content_hash and name not in seen else None
            if packed is None:
                continue
            seen.add(name)
            try:
                document = packing.unpack(packed)
            except StoreDamaged:
                self._leave_out(record)
                continue
            yield KeptText(content_hash=record.content_hash, extractor=record.extractor, document=document)

    def _leave_out(self, record: FileRecord) -> None:
        self._damaged[record.id] = displayable(record.path_bytes)

    def _fault_of_file(self, record: FileRecord) -> str:
        return fault_of_file(record, self._sources_by_id.get(record.source_id))

    def _records(self) -> Iterator[FileRecord]:
        after = b""
        while page := self.snapshot.list_files(after=after, limit=PAGE):
            after = page[-1].path_bytes
            yield from page

    def _live_records(self, page: Page) -> Iterator[FileRecord]:
        records = self.snapshot.files([file_id for _, file_id in page])
        return (records[file_id] for _, file_id in page)

    def _pages(self) -> Iterator[Page]:
        """The files with passages in the order of their generations, as many at once as have a bearable number."""
        page: list[tuple[Generation, FileId]] = []
        rows = 0
        for generation, file_id, passages in sorted(self.snapshot.live_generations()):
            if page and (len(page) == PAGE or rows + passages > BATCH_ROWS):
                yield page
                page, rows = [], 0
            page.append((generation, file_id))
            rows += passages
        if page:
            yield page


def _fault_of_rows(record: FileRecord, rows: Sequence[ChunkRow], dimension: int) -> str:
    faults = (fault_of_passage(row, dimension) for row in rows)
    return fault_of_passages(record, rows) or next(filter(None, faults), "")
