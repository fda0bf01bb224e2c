"""The port to the catalog: the one truth about sources, files, runs and what may be seen."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from attrs import field, frozen

from openmind.domain.changes import ChangeKind
from openmind.domain.files import FileBrief, FileReason, FileRecord, FileStat
from openmind.domain.ids import FileId, Generation, JobId, RunId, SourceId
from openmind.domain.index import IndexIdentity, IndexTable, Visibility
from openmind.domain.jobs import IndexJob, IndexRun, JobState
from openmind.domain.sources import Source


@frozen(kw_only=True)
class MemoryCounts:
    """How much is remembered."""

    sources: int = 0
    files: int = 0
    by_reason: dict[FileReason, int] = field(factory=dict)
    chunks: int = 0
    """Live passages."""
    missing_vectors: int = 0
    text_bytes: int = 0
    """Size of the kept text, compressed."""
    journal_rows: int = 0

    @property
    def indexed_files(self) -> int:
        return self.by_reason.get(FileReason.OK, 0) + self.by_reason.get(FileReason.PARTIAL, 0)


@frozen(kw_only=True)
class PlannedChange:
    """One line of a run's plan: what discovery found that the catalog does not know yet."""

    position: int = 0
    """Names the line within the plan; given by the catalog."""
    source_id: SourceId
    path_bytes: bytes
    kind: ChangeKind
    stat: FileStat
    file_id: FileId | None = None
    effort: int = 0
    content_hash: str = ""
    """For `gone`: what the file held, to recognise it elsewhere."""


@frozen(kw_only=True)
class Publication:
    """A new version of a file's passages that becomes visible with the transaction."""

    record: FileRecord
    """With `live_generation`, `chunk_count` and `missing_vectors` as they will be. Each has a generation of its own."""


@frozen(kw_only=True)
class GarbageEntry:
    """Rows that nobody should see any more."""

    table_id: int
    generation: Generation
    died_at: float
    """POSIX seconds."""


class CatalogReader(Protocol):
    """One consistent snapshot of the catalog. Serves one thread at a time; what it streams is read while it is open."""

    def sources(self, *, enabled_only: bool = False) -> tuple[Source, ...]:
        """List sources in the order in which they were added."""
        ...

    def source(self, source_id: SourceId) -> Source:
        """Fetch one.

        Raises:
            SourceNotFound
        """
        ...

    def counts(self) -> MemoryCounts:
        """Count what is remembered of enabled sources. `text_bytes` and `journal_rows` are of the whole catalog."""
        ...

    def source_counts(self, source_id: SourceId) -> MemoryCounts:
        """The same for one source, enabled or not: `text_bytes` of the texts its files have, `journal_rows` 0.

        All is 0 when there is no such source.
        """
        ...

    def known_files(self, source_id: SourceId) -> Iterator[FileRecord]:
        """Stream the files of a source in ascending order of `path_bytes`, without metadata and title."""
        ...

    def file(self, file_id: FileId) -> FileRecord | None:
        """Fetch one file."""
        ...

    def files(self, file_ids: Collection[FileId]) -> dict[FileId, FileRecord]:
        """Fetch several; what is not there is left out."""
        ...

    def briefs(self, file_ids: Collection[FileId]) -> dict[FileId, FileBrief]:
        """Fetch of several what a search needs; what is not there is left out."""
        ...

    def files_with_content(self, content_hash: str) -> tuple[FileRecord, ...]:
        """Files of enabled sources that hold these bytes, in order of path."""
        ...

    def list_files(
        self,
        *,
        reasons: Collection[FileReason] = (),
        source_id: SourceId | None = None,
        after: bytes = b"",
        limit: int = 100,
    ) -> tuple[FileRecord, ...]:
        """Page through files in order of path; `after` is the `path_bytes` of the last one seen."""
        ...

    def files_without_vectors(self, *, after: FileId | None, limit: int) -> tuple[FileRecord, ...]:
        """Page through live files of which some passages have no vector, in order of id.

        `after` is the last id seen.
        """
        ...

    def files_without_passages(self, *, after: FileId | None, limit: int) -> tuple[FileRecord, ...]:
        """Page through files that lost their live passages and have not got them back, in order of id.

        `after` is the last id seen.
        """
        ...

    def text(self, content_hash: str, extractor: str) -> bytes | None:
        """The kept text of some content as one extractor version read it: packed by `domain.packing`."""
        ...

    def recognised(self, content_hash: str) -> dict[str, bytes]:
        """What OCR read in some content, packed, by the names it is kept under (see `recognition.KEPT_AS`)."""
        ...

    def tables(self) -> tuple[IndexTable, ...]:
        """Every chunk table that is not forgotten."""
        ...

    def live_table(self) -> IndexTable | None:
        """The table that is searched; None before the first run."""
        ...

    def visibility(self, table_id: int) -> Visibility:
        """What a reader of this snapshot may see of a table.

        `newest` is the highest generation that was ever reserved; `dead` holds exactly the intents and the garbage of
        that table.
        """
        ...

    def unfilled(self, table_id: int, *, after: FileId | None, limit: int) -> tuple[FileRecord, ...]:
        """Page through live files whose generation the filling table does not hold yet, in order of id.

        `after` is the last id seen.
        """
        ...

    def garbage(self, *, died_before: float, limit: int) -> tuple[GarbageEntry, ...]:
        """The oldest garbage first."""
        ...

    def intents(self) -> tuple[tuple[int, Generation], ...]:
        """(table, generation) pairs that were begun and neither published nor given up."""
        ...

    def live_generations(self) -> Iterator[tuple[Generation, FileId, int]]:
        """Stream (generation, file, passages) of all live files, for reconciliation."""
        ...

    def filled_generations(self, table_id: int) -> Iterator[tuple[Generation, FileId, int]]:
        """Stream (generation, file, passages) of the live files that a filling table holds."""
        ...

    def vectors(self, embedder: str, hashes: Collection[bytes]) -> dict[bytes, bytes]:
        """Look up journalled vectors by `EmbedderIdentity.key` and the SHA-256 of the exact input."""
        ...

    def next_changes(
        self, run_id: RunId, *, after: int, limit: int, kinds: Collection[ChangeKind] = ()
    ) -> tuple[PlannedChange, ...]:
        """Page through a plan in order of effort, then size, then path.

        Args:
            run_id: whose plan it is.
            after: `position` of the last line seen, 0 at the start.
            limit: most lines of a page.
            kinds: only these; all when empty.
        """
        ...

    def gone_with_content(self, run_id: RunId, content_hash: str) -> PlannedChange | None:
        """A `gone` line of the plan whose file held these bytes: the file moved.

        Its record is still where it was; of several, the first in order of path.
        """
        ...

    def run(self, run_id: RunId) -> IndexRun | None:
        """Fetch one run."""
        ...

    def runs(self, *, limit: int = 20) -> tuple[IndexRun, ...]:
        """The runs that began last come first."""
        ...

    def job(self, job_id: JobId) -> IndexJob | None:
        """Fetch one job."""
        ...

    def jobs(self, *, limit: int = 20) -> tuple[IndexJob, ...]:
        """The jobs that were made last come first."""
        ...

    def latest_job(self) -> IndexJob | None:
        """The job that was made last."""
        ...

    def setting(self, name: str) -> str | None:
        """A small remembered value, such as how many deletions wait."""
        ...


class CatalogWriter(CatalogReader, Protocol):
    """One write transaction: all of it happens when the context ends without an error, or nothing."""

    def add_source(self, source: Source) -> None:
        """Insert a source.

        Raises:
            SourceExists: there is one of that id or path.
        """
        ...

    def update_source(self, source: Source) -> None:
        """Replace everything but id and path.

        Raises:
            SourceNotFound
        """
        ...

    def delete_source(self, source_id: SourceId) -> None:
        """Delete a source and all records of its files; their live generations become garbage that is due at once.

        No plan names them any more. Nothing happens when there is no such source.
        """
        ...

    def begin(self, table_ids: Sequence[int], count: int) -> list[Generation]:
        """Reserve `count` new generations, ascending, and note for each table that rows of them may appear.

        A generation is never reserved again, whatever is deleted.
        """
        ...

    def publish(self, publications: Iterable[Publication], *, table_ids: Sequence[int], at: float) -> int:
        """Make generations live: records are replaced, the generations before become garbage, intents end.

        Files of sources that are gone or disabled are not published: their new generation becomes garbage. So does a
        generation in a table it was begun for that is not among `table_ids`. A record takes the place of any other
        one at its path; when two of the publications have an id or a path in common, the later one counts.

        Returns:
            How many were published.
        """
        ...

    def abandon(self, generations: Iterable[Generation], *, at: float) -> None:
        """Turn intents into garbage, in every table they were begun for; other generations are left alone."""
        ...

    def abandon_all(self, *, at: float) -> int:
        """Turn every intent into garbage, as the first thing after a crash; returns how many."""
        ...

    def record(self, records: Iterable[FileRecord], *, at: float) -> None:
        """Insert or replace records as they are, without a new generation.

        A record whose live generation is None lets the one before become garbage. Files of sources that are gone
        or disabled are left out. A record takes the place of any other one at its path.
        """
        ...

    def note_ctimes(self, ctimes: Mapping[FileId, int]) -> None:
        """Note when files changed, in records that do not know it; nothing else of them changes."""
        ...

    def forget(self, file_ids: Iterable[FileId], *, at: float) -> int:
        """Delete records; their live generations become garbage. Returns how many there were.

        What they lost before is garbage since then at the latest, too.
        """
        ...

    def keep_text(self, content_hash: str, extractor: str, packed: bytes) -> None:
        """Keep a text, once however many files have it; another one under that name, perhaps a damaged one, goes."""
        ...

    def drop_unused_texts(self) -> int:
        """Delete the texts that no file record names; returns how many.

        What OCR read in some content stays as long as any record has that content.
        """
        ...

    def keep_vectors(self, embedder: str, vectors: Mapping[bytes, bytes]) -> None:
        """Journal vectors by the SHA-256 of their input until their table holds them."""
        ...

    def drop_vectors(self, embedder: str, hashes: Iterable[bytes] | None = None) -> None:
        """Forget journalled vectors: those, or all of an embedder."""
        ...

    def drop_journal(self) -> None:
        """Forget every journalled vector: nothing that is under way needs one."""
        ...

    def add_table(self, name: str, identity: IndexIdentity) -> IndexTable:
        """Note a new table: live when there is no live one, else filling.

        Raises:
            StoreError: there is a table of that name.
        """
        ...

    def set_identity(self, table_id: int, identity: IndexIdentity) -> None:
        """Note that a table is now made with another chunking or analyser."""
        ...

    def mark_filled(self, table_id: int, generations: Iterable[Generation]) -> None:
        """Note that a filling table holds these live generations.

        Those that are not live any more become garbage of that table, due at once.
        """
        ...

    def unmark_filled(self, table_id: int, generations: Iterable[Generation]) -> None:
        """Note that a filling table does not hold these generations after all."""
        ...

    def switch(self, table_id: int) -> None:
        """Make the filling table the live one and the live one dead, if it holds every live generation.

        What it holds has its vectors: no file misses any afterwards, until a record says otherwise.

        Raises:
            StoreError: it does not, or it is not being filled.
        """
        ...

    def kill_table(self, table_id: int) -> None:
        """Make a table dead: nobody searches or fills it, it waits to be dropped.

        Its garbage and intents end. If it was the live one, files lose their generation as in `empty_table`.
        """
        ...

    def forget_table(self, table_id: int) -> None:
        """Delete everything the catalog knows about a dead table."""
        ...

    def empty_table(self, table_id: int, *, at: float) -> None:
        """Note that a table was lost and made anew.

        Garbage and intents of it end, and what it was filled with; if it is the live one, files lose their generation
        but keep text and `chunk_count`, so that the next run fills it again.
        """
        ...

    def drop_garbage(self, entries: Iterable[GarbageEntry]) -> None:
        """Forget garbage whose rows are gone."""
        ...

    def plan(self, run_id: RunId, changes: Iterable[PlannedChange]) -> None:
        """Append lines to a plan."""
        ...

    def unplan(self, run_id: RunId, changes: Iterable[PlannedChange]) -> None:
        """Take lines out of a plan."""
        ...

    def drop_plan(self, run_id: RunId | None = None) -> None:
        """Forget a plan, or all of them."""
        ...

    def save_run(self, run: IndexRun) -> None:
        """Insert or replace a run."""
        ...

    def add_job(self, job: IndexJob) -> None:
        """Insert a new job."""
        ...

    def change_job(self, job: IndexJob, *, expected: JobState) -> bool:
        """Replace a job if its state still is `expected`; says whether it was."""
        ...

    def set_setting(self, name: str, value: str | None) -> None:
        """Remember a small value; None forgets it."""
        ...

    def clear(self, *, sources: bool) -> None:
        """Forget all files, texts, vectors, plans, runs, jobs, tables and settings; and the sources too if asked."""
        ...


class Catalog(Protocol):
    """Opens sessions. Thread-safe; each session has a connection of its own."""

    def reading(self) -> AbstractContextManager[CatalogReader]:
        """Open a snapshot. Never waits for a writer.

        Raises:
            HomeNewer, HomeForeign: another program, or a newer OpenMind, wrote the catalog.
            CatalogDamaged, StoreError: it cannot be read, or has not been initialised.
        """
        ...

    def writing(self) -> AbstractContextManager[CatalogWriter]:
        """Open a write transaction; waits for another writer. No I/O but the catalog's belongs inside.

        Raises:
            StoreBusy: another process holds it for longer than five seconds.
            StoreFull, StoreReadOnly, CatalogDamaged, StoreError: nothing was changed.
        """
        ...

    def journalling(self, embedder: str) -> AbstractContextManager[Callable[[Mapping[bytes, bytes]], None]]:
        """Open the journal of an embedder, for the vectors of one request after the other.

        The function that comes with the context does what `CatalogWriter.keep_vectors` does, in a transaction of its
        own. When it returns, the vectors survive the death of the process, though perhaps not a power cut. Between
        two calls, others write.

        Raises:
            StoreBusy, StoreFull, StoreReadOnly, CatalogDamaged, StoreError: as `writing`; the function, too.
        """
        ...

    def tidy(self) -> bool:
        """Give back space, and remove what was deleted from the files too; takes a second for some 100 MB.

        Returns:
            Whether nothing of it is left; False while a reader still sees what was deleted.

        Raises:
            StoreBusy, StoreFull, StoreReadOnly, CatalogDamaged, StoreError: as `writing`.
        """
        ...
