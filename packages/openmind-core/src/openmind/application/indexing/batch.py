"""The open batch: files that become visible together, in one commit of the storage protocol."""

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import groupby, islice
from operator import attrgetter

import attrs
from attrs import define, field, frozen

from openmind.application.indexing.attention import LeftBehind
from openmind.application.indexing.embedding import Embedding, input_hash
from openmind.application.indexing.tables import Target, Targets
from openmind.domain import packing
from openmind.domain.analysis import passage_words
from openmind.domain.chunk_rows import FileRows, portions
from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import ProviderError
from openmind.domain.files import FileRecord
from openmind.domain.ids import Generation
from openmind.domain.packing import stored_input
from openmind.domain.passages import Passage, Passages
from openmind.domain.paths import displayable, extension_of, name_of
from openmind.domain.refused_passages import RefusedPassages, marked
from openmind.domain.texts import Texts
from openmind.domain.vectors import FLOAT_BYTES, KnownVectors
from openmind.ports.catalog import Catalog, CatalogWriter, Publication
from openmind.ports.chunk_store import ChunkStore
from openmind.ports.file_tree import FileTree

BATCH_ROWS = 10_000
"""Rows of one commit: fewer make many versions and index segments, more wait too long to be found."""
BATCH_BYTES = 64 * 1024 * 1024
"""Text, words and vectors that wait in memory for a commit."""
BATCH_SECONDS = 30.0
"""A batch is committed after this long, however small, so that what was read can be found."""
FIRST_BATCH_SECONDS = 1.0
"""The first batch of a run is committed sooner, each later one after twice as long: somebody may be waiting to
see that something happens."""
COPIED_AT_ONCE = 1_000
"""Rows of one file that are copied together."""

Filled = dict[Generation, int]
"""By generation that was written to a table: how many of its rows have no vector."""


@frozen(kw_only=True)
class Entry:
    """A file that waits for the commit: with its passages, or with a twin whose rows are copied."""

    record: FileRecord
    """As it will be, but for the generation."""
    passages: Passages = field(default=Passages.of(()), repr=False)
    vectors: Mapping[int, KnownVectors] = field(factory=dict, repr=False)
    """By table; none yet where a server makes them."""
    packed: bytes | None = field(default=None, repr=False)
    """Text to keep, when it is not kept already."""
    copy_of: Generation | None = None
    """Live generation whose rows become the rows of this file, with another path."""
    replaces: Generation | None = None
    """The generation that this one takes the place of; its vectors are used again where the input is the same."""

    @property
    def rows(self) -> int:
        return self.record.chunk_count


@define(kw_only=True)
class OpenBatch:
    """Collects entries and commits them: add rows, fold them into the index, then one catalog transaction.

    Nothing of a batch can be seen before its last step, and all of it after. Serves one thread, which holds the
    index lock.
    """

    catalog: Catalog
    chunks: ChunkStore
    tree: FileTree | None
    """Where a file is looked at once more before it is committed; None when no file was read."""
    embedding: Embedding
    targets: Targets
    now: Callable[[], datetime]
    embedded: Callable[[int], None]
    """Hears how many passages were given to an embedder by this batch."""
    unstable: Callable[[FileRecord], None]
    """Hears of a file that changed while it was read; it stays as it was until the next run."""
    lost_provider: Callable[[ProviderError], None]
    """Hears that vectors could not be made; passages go live without them."""
    left_out: Callable[[FileRecord, RefusedPassages], None] = lambda record, refused: None
    """Hears of a file with passages that the embedder cannot take."""
    beside: Callable[[Callable[[], Filled]], Filled] = lambda write: write()
    """Lets the chunk store write; may raise before it is done, and then nothing of it is ever seen."""
    clock: Callable[[], float] = time.monotonic
    _entries: list[Entry] = field(factory=list, init=False)
    _records: list[FileRecord] = field(factory=list, init=False)
    _rows: int = field(default=0, init=False)
    _bytes: int = field(default=0, init=False)
    _opened: float = field(default=0.0, init=False)
    _patience_s: float = field(factory=lambda: FIRST_BATCH_SECONDS, init=False)
    added_rows: int = field(default=0, init=False)
    """Rows written by all commits of this batch object."""

    @property
    def due(self) -> bool:
        """Whether the batch should be committed now."""
        if not self._entries and not self._records:
            return False
        full = max(self._rows, len(self._records)) >= BATCH_ROWS or self._bytes >= BATCH_BYTES
        return full or self.clock() - self._opened >= self._patience_s

    def put(self, entry: Entry) -> None:
        """Add a file whose passages change."""
        self._open()
        self._entries.append(entry)
        self._rows += entry.rows
        dimension = self.targets.live.table.identity.embedder.dimension
        self._bytes += entry.passages.size_bytes + entry.rows * dimension * FLOAT_BYTES

    def note(self, record: FileRecord) -> None:
        """Add a record that changes without a new generation."""
        self._open()
        self._records.append(record)

    def commit(self) -> None:
        """Make everything in the batch visible.

        Raises:
            StoreError: nothing of the batch became visible; what was written is garbage now.
        """
        entries = [entry for entry in self._entries if self._is_as_it_was_read(entry)]
        records = self._records
        if entries:
            self._patience_s = min(2 * self._patience_s, BATCH_SECONDS)
        self._clear()
        if entries:
            self._publish(entries, records)
        elif records:
            with self.catalog.writing() as session:
                session.record(records, at=time.time())

    def _open(self) -> None:
        if not self._entries and not self._records:
            self._opened = self.clock()

    def _clear(self) -> None:
        self._entries, self._records = [], []
        self._rows = self._bytes = 0

    def _is_as_it_was_read(self, entry: Entry) -> bool:
        if self.tree is None or self.tree.stat(entry.record.path_bytes) == entry.record.stat:
            return True
        self.unstable(entry.record)
        return False

    def _publish(self, entries: list[Entry], records: list[FileRecord]) -> None:
        entries = self._with_vectors(entries)
        with self.catalog.writing() as session:
            generations = session.begin(self.targets.ids, len(entries))
        try:
            filled = {
                target.table.id: self.beside(partial(self._write, target, entries, generations))
                for target in self.targets.all
            }
        except LeftBehind:
            with self.catalog.writing() as session:
                session.abandon(generations, at=0.0)
                _keep_texts(session, entries)
            raise
        except BaseException:
            with self.catalog.writing() as session:
                session.abandon(generations, at=0.0)
            raise
        indexed_at = self.now().isoformat()
        live = self.targets.live.table.id
        with self.catalog.writing() as session:
            at = (
                time.time()
            )  # not before it may write: the grace of what it replaces begins when nobody sees that any more
            _keep_texts(session, entries)
            session.publish(
                [
                    Publication(record=self._published(entry, generation, filled[live], indexed_at))
                    for entry, generation in zip(entries, generations, strict=True)
                ],
                table_ids=self.targets.ids,
                at=at,
            )
            if records:
                session.record(records, at=at)
            if self.targets.filling is not None:
                counted = filled[self.targets.filling.table.id]
                whole = [generation for generation, missing in counted.items() if not missing]
                session.mark_filled(self.targets.filling.table.id, whole)
            self._forget_journal(session.drop_vectors, entries)

    def _published(
        self, entry: Entry, generation: Generation, filled: Mapping[Generation, int], indexed_at: str
    ) -> FileRecord:
        return attrs.evolve(
            entry.record,
            live_generation=generation,
            missing_vectors=filled.get(generation, 0),
            indexed_at=indexed_at,
        )

    def _forget_journal(self, drop: Callable[[str, list[bytes]], None], entries: list[Entry]) -> None:
        """The tables hold these vectors now."""
        for target in self.targets.all:
            if target.embedder is None or target.in_process:
                continue
            held = [
                input_hash(stored_input(passage))
                for entry in entries
                for passage, vector in zip(entry.passages, entry.vectors.get(target.table.id, ()), strict=False)
                if vector is not None
            ]
            drop(target.table.identity.embedder.key, held)

    def _write(self, target: Target, entries: list[Entry], generations: list[Generation]) -> Filled:
        """Write the rows of every entry to one table; returns, by generation, how many have no vector.

        A generation whose twin this table does not hold yet is not among them.
        """
        missing = {new: 0 for entry, new in zip(entries, generations, strict=True) if entry.copy_of is None}

        def counted() -> Iterator[FileRows]:
            for file in self._rows_of(target, entries, generations):
                missing[file.generation] = missing.get(file.generation, 0) + len(file.vectors.missing)
                yield file

        for rows in portions(counted(), BATCH_ROWS):
            self.chunks.add(target.table.name, rows)
            self.added_rows += len(rows)
        self.chunks.fold(target.table.name)
        return missing

    def _rows_of(self, target: Target, entries: list[Entry], generations: list[Generation]) -> Iterator[FileRows]:
        copies: dict[Generation, list[tuple[FileRecord, Generation]]] = {}
        dimension = target.table.identity.embedder.dimension
        at = self.now().isoformat()
        for entry, generation in zip(entries, generations, strict=True):
            if entry.copy_of is not None:
                copies.setdefault(entry.copy_of, []).append((entry.record, generation))
                continue
            vectors = entry.vectors.get(target.table.id) or KnownVectors.of([None] * len(entry.passages), dimension)
            yield new_rows(entry.record, generation, entry.passages, vectors, at)
        if copies:
            stored = self.chunks.read_generations(target.table.name, copies.keys())
            for copied, rows in groupby(stored, attrgetter("generation")):
                while some := list(islice(rows, COPIED_AT_ONCE)):
                    for record, generation in copies[copied]:
                        yield FileRows.of([moved_row(row, record, generation) for row in some], dimension)

    def _with_vectors(self, entries: list[Entry]) -> list[Entry]:
        """Ask the servers among the embedders for what is missing, as long as a batch may take."""
        for target in self.targets.all:
            if target.embedder is not None:
                entries = self._embedded(target, entries)
        return entries

    def _embedded(self, target: Target, entries: list[Entry]) -> list[Entry]:
        assert target.embedder is not None
        wanting = [entry for entry in entries if entry.copy_of is None and target.table.id not in entry.vectors]
        if not wanting:
            return entries
        texts = [stored_input(passage) for entry in wanting for passage in entry.passages]
        vectors, error = self.embedding.embed(
            target.embedder,
            texts,
            known=self._used_before(target, wanting),
            until=self.clock() + BATCH_SECONDS,
            told=self.embedded,
        )
        if error is not None:
            self.lost_provider(error)
        given = {id(entry) for entry in wanting}
        return [self._given(target, entry, vectors) if id(entry) in given else entry for entry in entries]

    def _given(self, target: Target, entry: Entry, vectors: Mapping[bytes, bytes]) -> Entry:
        """Give an entry its vectors for a table; its record says which passages the embedder refused."""
        assert target.embedder is not None
        texts = [stored_input(passage) for passage in entry.passages]
        refused = self.embedding.refusals(target.embedder, texts)
        if refused:
            self.left_out(entry.record, refused)
        known = [vectors.get(input_hash(text)) for text in texts]
        fitting = {target.table.id: KnownVectors.of(known, target.table.identity.embedder.dimension)}
        return attrs.evolve(entry, record=marked(entry.record, refused), vectors={**entry.vectors, **fitting})

    def _used_before(self, target: Target, entries: list[Entry]) -> dict[bytes, bytes]:
        """Vectors of the passages that these entries replace: an edited page keeps most of them."""
        replaced = [entry.replaces for entry in entries if entry.replaces is not None]
        if not replaced:
            return {}
        known: dict[bytes, bytes] = {}
        for row in self.chunks.read_generations(target.table.name, replaced):
            if row.vector is not None:
                known[input_hash(stored_input(row))] = row.vector
        return known


def _keep_texts(session: CatalogWriter, entries: list[Entry]) -> None:
    """Keep what was read, of files that have to be made again as well: it may have taken minutes of OCR."""
    for entry in entries:
        if entry.packed is not None:
            session.keep_text(entry.record.content_hash, entry.record.extractor, entry.packed)


def new_rows(
    record: FileRecord, generation: Generation, passages: Passages, vectors: KnownVectors, indexed_at: str
) -> FileRows:
    """Make the rows of a file's passages."""
    name = name_of(record.path_bytes)
    return FileRows(
        generation=generation,
        file_id=record.id,
        source_id=record.source_id,
        path=displayable(record.path_bytes),
        file_name=name,
        extension=extension_of(name),
        title=record.title,
        content_hash=record.content_hash,
        modified_at=record.stat.modified_at,
        indexed_at=indexed_at,
        passages=passages,
        vectors=vectors,
    )


def moved_row(row: ChunkRow, record: FileRecord, generation: Generation) -> ChunkRow:
    """Copy a row, vector included, to another place: only path, name, date and their words differ."""
    path, name = displayable(record.path_bytes), name_of(record.path_bytes)
    _, context, _ = packing.read_metadata(row.metadata)
    return attrs.evolve(
        row,
        generation=generation,
        file_id=record.id,
        source_id=record.source_id,
        path=path,
        file_name=name,
        extension=extension_of(name),
        words=passage_words(row.text, context=context, file_name=name, path=path),
        modified_at=record.stat.modified_at,
    )


def reworded(passages: Passages, path_bytes: bytes) -> Passages:
    """Give the passages of a file to its twin at another path."""
    path, name = displayable(path_bytes), name_of(path_bytes)

    def words(passage: Passage) -> str:
        _, context, _ = packing.read_metadata(passage.metadata)
        return passage_words(passage.text, context=context, file_name=name, path=path)

    return attrs.evolve(passages, words=Texts.of(map(words, passages)))
