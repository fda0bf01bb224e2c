"""A snapshot of the catalog in memory."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator

from attrs import evolve, frozen

from openmind.domain.changes import ChangeKind
from openmind.domain.errors import SourceNotFound
from openmind.domain.files import FileBrief, FileReason, FileRecord
from openmind.domain.ids import FileId, Generation, JobId, RunId, SourceId
from openmind.domain.index import IndexTable, TableState, Visibility, as_ranges
from openmind.domain.jobs import IndexJob, IndexRun
from openmind.domain.recognition import KEPT_AS
from openmind.domain.sources import Source
from openmind.ports.catalog import GarbageEntry, MemoryCounts, PlannedChange
from openmind.testing.fakes.catalog_contents import Contents, content_key


@frozen
class MemoryReader:
    """Answers from the contents as they were when it was opened."""

    contents: Contents

    def sources(self, *, enabled_only: bool = False) -> tuple[Source, ...]:
        return tuple(source for source in self.contents.sources.values() if source.enabled or not enabled_only)

    def source(self, source_id: SourceId) -> Source:
        if source_id not in self.contents.sources:
            raise SourceNotFound(f"there is no source {source_id}")
        return self.contents.sources[source_id]

    def counts(self) -> MemoryCounts:
        return evolve(
            self._count(self.contents.enabled_ids()),
            text_bytes=sum(map(len, self.contents.texts.values())),
            journal_rows=len(self.contents.vectors),
        )

    def source_counts(self, source_id: SourceId) -> MemoryCounts:
        return self._count({source_id} & self.contents.sources.keys())

    def _count(self, source_ids: Collection[SourceId]) -> MemoryCounts:
        records = [record for record in self.contents.records.values() if record.source_id in source_ids]
        live = [record for record in records if record.live_generation is not None]
        used = set(map(content_key, records))
        return MemoryCounts(
            sources=len(source_ids),
            files=len(records),
            by_reason=dict(Counter(record.reason for record in records)),
            chunks=sum(record.chunk_count for record in live),
            missing_vectors=sum(record.missing_vectors for record in live),
            text_bytes=sum(len(packed) for key, packed in self.contents.texts.items() if key in used),
        )

    def known_files(self, source_id: SourceId) -> Iterator[FileRecord]:
        for record in self.contents.in_order():
            if record.source_id == source_id:
                yield evolve(record, title="", metadata="{}")

    def file(self, file_id: FileId) -> FileRecord | None:
        return self.contents.records.get(file_id)

    def files(self, file_ids: Collection[FileId]) -> dict[FileId, FileRecord]:
        records = self.contents.records
        return {file_id: records[file_id] for file_id in file_ids if file_id in records}

    def briefs(self, file_ids: Collection[FileId]) -> dict[FileId, FileBrief]:
        return {file_id: FileBrief.of(record) for file_id, record in self.files(file_ids).items()}

    def files_with_content(self, content_hash: str) -> tuple[FileRecord, ...]:
        enabled = self.contents.enabled_ids()
        return tuple(
            record
            for record in self.contents.in_order()
            if record.content_hash == content_hash and record.source_id in enabled
        )

    def list_files(
        self,
        *,
        reasons: Collection[FileReason] = (),
        source_id: SourceId | None = None,
        after: bytes = b"",
        limit: int = 100,
    ) -> tuple[FileRecord, ...]:
        found = [
            record
            for record in self.contents.in_order()
            if record.path_bytes > after
            and (not reasons or record.reason in reasons)
            and source_id in (None, record.source_id)
        ]
        return tuple(found[:limit])

    def files_without_vectors(self, *, after: FileId | None, limit: int) -> tuple[FileRecord, ...]:
        return self._live_page(lambda generation, record: record.missing_vectors > 0, after, limit)

    def unfilled(self, table_id: int, *, after: FileId | None, limit: int) -> tuple[FileRecord, ...]:
        return self._live_page(lambda generation, _: (table_id, generation) not in self.contents.filled, after, limit)

    def _live_page(
        self, wanted: Callable[[Generation, FileRecord], bool], after: FileId | None, limit: int
    ) -> tuple[FileRecord, ...]:
        found = [
            record
            for generation, record in self.contents.live().items()
            if wanted(generation, record) and (after is None or record.id > after)
        ]
        return tuple(sorted(found, key=lambda record: record.id)[:limit])

    def files_without_passages(self, *, after: FileId | None, limit: int) -> tuple[FileRecord, ...]:
        lost = [
            record
            for record in self.contents.records.values()
            if record.live_generation is None and record.chunk_count and record.id > (after or "")
        ]
        return tuple(sorted(lost, key=lambda record: record.id)[:limit])

    def text(self, content_hash: str, extractor: str) -> bytes | None:
        return self.contents.texts.get((content_hash, extractor))

    def recognised(self, content_hash: str) -> dict[str, bytes]:
        return {
            name: packed
            for (content, name), packed in self.contents.texts.items()
            if content == content_hash and name.startswith(KEPT_AS)
        }

    def tables(self) -> tuple[IndexTable, ...]:
        return tuple(self.contents.tables.values())

    def live_table(self) -> IndexTable | None:
        return next((table for table in self.contents.tables.values() if table.state is TableState.LIVE), None)

    def visibility(self, table_id: int) -> Visibility:
        slots = self.contents.intents | self.contents.garbage.keys()
        dead = sorted(generation for table, generation in slots if table == table_id)
        return Visibility(newest=Generation(self.contents.reserved), dead=as_ranges(dead))

    def garbage(self, *, died_before: float, limit: int) -> tuple[GarbageEntry, ...]:
        due = sorted((at, slot) for slot, at in self.contents.garbage.items() if at < died_before)
        return tuple(
            GarbageEntry(table_id=table_id, generation=generation, died_at=at)
            for at, (table_id, generation) in due[:limit]
        )

    def intents(self) -> tuple[tuple[int, Generation], ...]:
        return tuple(sorted(self.contents.intents, key=lambda slot: (slot[1], slot[0])))

    def live_generations(self) -> Iterator[tuple[Generation, FileId, int]]:
        for generation, record in self.contents.live().items():
            yield generation, record.id, record.chunk_count

    def filled_generations(self, table_id: int) -> Iterator[tuple[Generation, FileId, int]]:
        for generation, record in self.contents.live().items():
            if (table_id, generation) in self.contents.filled:
                yield generation, record.id, record.chunk_count

    def vectors(self, embedder: str, hashes: Collection[bytes]) -> dict[bytes, bytes]:
        kept = self.contents.vectors
        return {input_hash: kept[embedder, input_hash] for input_hash in hashes if (embedder, input_hash) in kept}

    def next_changes(
        self, run_id: RunId, *, after: int, limit: int, kinds: Collection[ChangeKind] = ()
    ) -> tuple[PlannedChange, ...]:
        if after and after not in self.contents.lines:
            return ()
        start = _order(self.contents.lines[after][1]) if after else ()
        found = [
            change
            for run, change in self.contents.lines.values()
            if run == run_id and _order(change) > start and (not kinds or change.kind in kinds)
        ]
        return tuple(sorted(found, key=_order)[:limit])

    def gone_with_content(self, run_id: RunId, content_hash: str) -> PlannedChange | None:
        found = [
            change
            for run, change in self.contents.lines.values()
            if run == run_id
            and change.kind is ChangeKind.GONE
            and change.content_hash == content_hash
            and self._is_still_there(change)
        ]
        return min(found, key=lambda change: change.path_bytes, default=None)

    def _is_still_there(self, change: PlannedChange) -> bool:
        record = None if change.file_id is None else self.file(change.file_id)
        return record is not None and record.path_bytes == change.path_bytes

    def run(self, run_id: RunId) -> IndexRun | None:
        return self.contents.runs.get(run_id)

    def runs(self, *, limit: int = 20) -> tuple[IndexRun, ...]:
        return tuple(reversed(self.contents.runs.values()))[:limit]

    def job(self, job_id: JobId) -> IndexJob | None:
        return self.contents.jobs.get(job_id)

    def jobs(self, *, limit: int = 20) -> tuple[IndexJob, ...]:
        return tuple(reversed(self.contents.jobs.values()))[:limit]

    def latest_job(self) -> IndexJob | None:
        return next(reversed(self.contents.jobs.values()), None)

    def setting(self, name: str) -> str | None:
        return self.contents.settings.get(name)


def _order(change: PlannedChange) -> tuple[int, int, bytes, int]:
    return (change.effort, change.stat.size, change.path_bytes, change.position)
