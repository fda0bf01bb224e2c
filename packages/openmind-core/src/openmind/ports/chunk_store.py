"""The port to the store of passages: rows with words and vectors, written in generations."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from attrs import field, frozen

from openmind.domain.chunks import ChunkKey, ChunkRow, StoredPassage
from openmind.domain.ids import FileId, Generation, SourceId
from openmind.domain.index import Visibility


@frozen(kw_only=True)
class WordsQuery:
    """What the words leg looks for: analysed terms, never raw text."""

    terms: tuple[str, ...]
    """In the order of the query; any of them may match. What stands twice counts twice."""
    phrases: tuple[tuple[str, ...], ...] = ()
    """Runs of terms that must stand side by side, each of them, in a passage that is found."""


@frozen(kw_only=True)
class ChunkFilter:
    """Which rows take part; all conditions hold together, before anything is ranked."""

    visible: Visibility
    source_ids: tuple[SourceId, ...] | None = None
    """Only these; None means all. An empty tuple lets nothing through."""
    path_prefix: str | None = None
    extensions: tuple[str, ...] = ()
    modified_after: float | None = None
    """POSIX seconds; that moment counts, as it does below."""
    modified_before: float | None = None
    without_files: tuple[FileId, ...] = ()
    """No passage of these."""
    keys: tuple[ChunkKey, ...] | None = None
    """Only these passages; None means all."""


@frozen(kw_only=True)
class CandidateQuery:
    """One question to both legs."""

    words: WordsQuery | None = None
    vector: bytes | None = field(default=None, repr=False)
    """Little-endian float32, unit length."""
    filter: ChunkFilter
    limit: int = 100
    """Most candidates of each leg."""


@frozen(kw_only=True)
class Candidate:
    """A row that one leg found."""

    key: ChunkKey
    score: float
    """BM25 in the words leg, cosine (−1–1) in the vectors leg."""
    passage: int


@frozen(kw_only=True)
class Candidates:
    """What both legs found, best first; equal scores in ascending order of key.

    Rows that are not folded yet may score a little differently than the same words score in folded ones.
    """

    words: tuple[Candidate, ...] = ()
    vectors: tuple[Candidate, ...] = ()
    background: float = 0.0
    """Mean cosine between the query's vector and the table's vectors (estimated from a sample)."""
    words_error: str = ""
    """Why the words leg gave nothing although it should have; empty when it worked."""
    vectors_error: str = ""


class ChunkView(Protocol):
    """One version of one table: what it answers does not change while rows are written."""

    def candidates(self, query: CandidateQuery) -> Candidates:
        """Ask both legs. A leg that fails says so in the answer; only a table that cannot be read raises.

        Raises:
            StoreDamaged: the table cannot be read.
        """
        ...

    def document_share(self, terms: Sequence[str]) -> tuple[float, ...]:
        """Estimate, for each term, which share of the passages holds it, 0–1."""
        ...

    def passages(self, keys: Collection[ChunkKey]) -> dict[ChunkKey, StoredPassage]:
        """Fetch what a search reads of rows; what is not there is left out."""
        ...

    def file_rows(
        self, generation: Generation, file_id: FileId, *, start: int = 0, limit: int = 1_000
    ) -> list[ChunkRow]:
        """Fetch the rows of one file in order, from index `start`, without vectors."""
        ...


@frozen(kw_only=True)
class TableChanges:
    """How the files of a table differ from those that were sealed."""

    fresh: bool = False
    """Whether something was written since, or nothing was ever sealed."""
    lost: tuple[str, ...] = ()
    """Names of files that are not there any more: damage, unless old versions were being cleaned away."""
    changed: tuple[str, ...] = ()
    """Names of files that hold something else now: damage."""

    def __bool__(self) -> bool:
        return self.fresh or self.damaged

    @property
    def damaged(self) -> bool:
        """Whether anything is not as it was."""
        return bool(self.lost or self.changed)


@frozen(kw_only=True)
class StoreHealth:
    """Figures about the chunk store, for status and doctor."""

    tables: tuple[str, ...]
    size_bytes: int
    rows: dict[str, int] = field(factory=dict)
    unindexed_rows: dict[str, int] = field(factory=dict)


class ChunkStore(Protocol):
    """Holds passages in tables. Only the holder of the index lock calls what writes; many threads may read.

    Everything is addressed by generation, file and index. Writing the same thing twice is the caller's
    business; deleting twice is harmless.
    """

    def tables(self) -> tuple[str, ...]:
        """Name the tables that are there, readable or not, in order; costs no more than listing a folder."""
        ...

    def create(self, table: str, *, dimension: int) -> None:
        """Make an empty table; nothing happens when a readable one of that name and dimension is there.

        Raises:
            StoreDamaged: something of that name is there and cannot be used.
        """
        ...

    def drop(self, table: str) -> None:
        """Remove a table with its files; nothing happens when it is not there."""
        ...

    def quarantine(self, table: str) -> None:
        """Move what is there under that name aside, whatever state it is in, so that `create` can start afresh."""
        ...

    def discard_quarantined(self) -> None:
        """Delete what was moved aside: what could be made again was made again."""
        ...

    def add(self, table: str, rows: Collection[ChunkRow]) -> None:
        """Append rows in one write; on disk (fsync) when it returns. Readers can find them at once, only slowly.

        Most come as `ChunkRows`, which a store that keeps columns may take as columns (`ChunkRows.of` makes them of any
        rows): it spares making an object of each.

        Rows come back as they were written, but for half characters, which become question marks, and for vectors,
        which may be kept in half precision: a component is off by 1 in 2,048 at most.

        Raises:
            StoreFull, StoreReadOnly, StoreDamaged: no row was added.
            StoreError: so was none; among others when a vector has another length than the table's.
        """
        ...

    def fold(self, table: str) -> None:
        """Take the rows added since the last fold into the indexes, cheaply; merge when there are many segments."""
        ...

    def merge(self, table: str) -> None:
        """Tidy up at the end of a run: merge index segments, compact small files, build the vector index if due."""
        ...

    def delete(self, table: str, generations: Iterable[Generation]) -> None:
        """Remove all rows of generations."""
        ...

    def purge(self, table: str) -> None:
        """Write anew the files that still hold deleted rows, so that their text is gone with the old versions."""
        ...

    def clean(self, table: str, *, older_than_s: float) -> None:
        """Give back the disk space of versions older than that, and of what writers left that were killed.

        Nobody else may be writing meanwhile; readers keep what a younger version holds.
        """
        ...

    def counts(self, table: str) -> Iterator[tuple[Generation, FileId, int]]:
        """Stream how many rows each generation of a file has, ascending by generation and file.

        It is what recovery compares with the catalog.

        Raises:
            StoreDamaged: the table cannot be read.
        """
        ...

    def read_generations(self, table: str, generations: Collection[Generation]) -> Iterator[ChunkRow]:
        """Stream whole rows, vectors included, ordered by (generation, index)."""
        ...

    def open(self, table: str) -> AbstractContextManager[ChunkView]:
        """Open the newest version for reading. Cheap enough to do for each search.

        Raises:
            StoreDamaged: there is no such table, or it cannot be read.
        """
        ...

    def seal(self, table: str, *, former: str = "") -> str:
        """Note the files of a table with their checksums, without starting the engine; empty when it is not there.

        What `former`, an earlier seal, noted and nobody touched since is not read again.
        """
        ...

    def compare(self, table: str, seal: str, *, closely: bool = False) -> TableChanges:
        """Say what became of the files of a table since they were sealed, without starting the engine.

        Reads only files that look as if they had been touched; all of them when it is to look `closely`.
        """
        ...

    def mend(self, table: str, changes: TableChanges, *, thoroughly: bool = False) -> bool:
        """Build anew the indexes that changes damaged; `thoroughly` reads every row and builds every index anew.

        Returns:
            Whether an index was made anew.

        Raises:
            StoreDamaged: rows are damaged, which only the catalog can bring back.
        """
        ...

    def salvage(self, table: str, generations: Collection[Generation], *, seal: str) -> Iterator[ChunkRow]:
        """Stream the rows of generations that can still be read, vectors included, whatever state the table is in.

        In no order, deleted ones perhaps among them, and some perhaps twice. What changed since the table was sealed
        is left out; of a table that is beyond reading nothing comes.
        """
        ...

    def health(self) -> StoreHealth:
        """Measure what is there without reading rows."""
        ...
