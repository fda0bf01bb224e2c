"""What the catalog in memory holds."""

from attrs import define, field

from openmind.domain.files import FileRecord
from openmind.domain.ids import FileId, Generation, JobId, RunId, SourceId
from openmind.domain.index import IndexTable
from openmind.domain.jobs import IndexJob, IndexRun
from openmind.domain.sources import Source
from openmind.ports.catalog import PlannedChange

Slot = tuple[int, Generation]
"""The rows of one generation in one table."""

ContentKey = tuple[str, str]
"""Content hash and extractor: what a text is kept under."""


@define
class Contents:
    """All of it. The values are frozen, so a copy of the containers is a snapshot."""

    sources: dict[SourceId, Source] = field(factory=dict)
    records: dict[FileId, FileRecord] = field(factory=dict)
    reserved: int = 0
    tables: dict[int, IndexTable] = field(factory=dict)
    tables_made: int = 0
    intents: set[Slot] = field(factory=set)
    garbage: dict[Slot, float] = field(factory=dict)
    owners: dict[Generation, FileId] = field(factory=dict)
    """Whose passages generations were that have been replaced."""
    filled: set[Slot] = field(factory=set)
    texts: dict[ContentKey, bytes] = field(factory=dict)
    vectors: dict[tuple[str, bytes], bytes] = field(factory=dict)
    lines: dict[int, tuple[RunId, PlannedChange]] = field(factory=dict)
    lines_made: int = 0
    runs: dict[RunId, IndexRun] = field(factory=dict)
    jobs: dict[JobId, IndexJob] = field(factory=dict)
    settings: dict[str, str] = field(factory=dict)

    def copy(self) -> "Contents":
        return Contents(
            sources=self.sources.copy(),
            records=self.records.copy(),
            reserved=self.reserved,
            tables=self.tables.copy(),
            tables_made=self.tables_made,
            intents=self.intents.copy(),
            garbage=self.garbage.copy(),
            owners=self.owners.copy(),
            filled=self.filled.copy(),
            texts=self.texts.copy(),
            vectors=self.vectors.copy(),
            lines=self.lines.copy(),
            lines_made=self.lines_made,
            runs=self.runs.copy(),
            jobs=self.jobs.copy(),
            settings=self.settings.copy(),
        )

    def in_order(self) -> list[FileRecord]:
        """Every record, in order of path."""
        return sorted(self.records.values(), key=lambda record: record.path_bytes)

    def enabled_ids(self) -> set[SourceId]:
        return {source.id for source in self.sources.values() if source.enabled}

    def live(self) -> dict[Generation, FileRecord]:
        """Records with live passages, by generation, in order of generation."""
        pairs = [(r.live_generation, r) for r in self.records.values() if r.live_generation is not None]
        return dict(sorted(pairs, key=lambda pair: pair[0]))


def content_key(record: FileRecord) -> ContentKey:
    return (record.content_hash, record.extractor)
