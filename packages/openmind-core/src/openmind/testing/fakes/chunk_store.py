"""A chunk store in memory."""

import hashlib
import math
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from attrs import define, evolve, field, frozen

from openmind.domain.chunks import ChunkKey, ChunkRow, StoredPassage
from openmind.domain.errors import StoreDamaged, StoreError
from openmind.domain.ids import FileId, Generation
from openmind.ports.chunk_store import (
    Candidate,
    CandidateQuery,
    Candidates,
    ChunkFilter,
    ChunkView,
    StoreHealth,
    TableChanges,
    WordsQuery,
)

SATURATION, LENGTH_WEIGHT = 1.2, 0.75


@define
class MemoryTable:
    """Rows in the order in which they were added. Each write replaces the tuple, so that views keep theirs."""

    dimension: int
    rows: tuple[ChunkRow, ...] = ()
    unindexed: int = 0
    damaged: bool = False


@frozen
class MemoryChunkView:
    """The rows of a table as they were when it was opened."""

    dimension: int
    all_rows: tuple[ChunkRow, ...] = field(repr=False)

    def candidates(self, query: CandidateQuery) -> Candidates:
        """Ask both legs."""
        allowed = [row for row in self.all_rows if passes(row, query.filter)]
        words = best(allowed, self._scored_by(query.words), query.limit) if query.words else ()
        if query.vector is None:
            return Candidates(words=words)
        wanted = unpack(query.vector)
        if len(wanted) != self.dimension:
            return Candidates(words=words, vectors_error=f"{len(wanted)} components instead of {self.dimension}")
        return Candidates(
            words=words,
            vectors=best(allowed, lambda row: cosine(wanted, row.vector), query.limit),
            background=self._background(wanted),
        )

    def document_share(self, terms: Sequence[str]) -> tuple[float, ...]:
        """Count, for each term, the share of the passages that hold it."""
        passages = [set(row.words.split()) for row in self.all_rows]
        return tuple(sum(term in passage for passage in passages) / max(1, len(passages)) for term in terms)

    def passages(self, keys: Collection[ChunkKey]) -> dict[ChunkKey, StoredPassage]:
        """Fetch what a search reads of rows."""
        wanted = set(keys)
        return {row.key: as_passage(row) for row in self.all_rows if row.key in wanted}

    def file_rows(
        self, generation: Generation, file_id: FileId, *, start: int = 0, limit: int = 1_000
    ) -> list[ChunkRow]:
        """Fetch the rows of one file in order."""
        rows = [row for row in self.all_rows if (row.generation, row.file_id) == (generation, file_id)]
        ordered = sorted(rows, key=lambda row: row.index)
        return [without_vector(row) for row in ordered if row.index >= start][:limit]

    def _scored_by(self, query: WordsQuery) -> Callable[[ChunkRow], float | None]:
        passages = [Counter(row.words.split()) for row in self.all_rows]
        mean_length = sum(passage.total() for passage in passages) / max(1, len(passages))
        wanted = {*query.terms, *(term for phrase in query.phrases for term in phrase)}
        holding = {term: sum(term in passage for passage in passages) for term in wanted}

        def score(row: ChunkRow) -> float | None:
            words = row.words.split()
            counts = Counter(words)
            if query.phrases:
                matches = all(holds_run(words, phrase) for phrase in query.phrases)
            else:
                matches = any(term in counts for term in query.terms)
            if not matches:
                return None
            longer = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * len(words) / mean_length
            return math.fsum(
                max(1, query.terms.count(term))
                * rarity(holding[term], len(passages))
                * counts[term]
                * (SATURATION + 1)
                / (counts[term] + SATURATION * longer)
                for term in sorted(wanted)
            )

        return score

    def _background(self, wanted: Sequence[float]) -> float:
        cosines = [found for row in self.all_rows if (found := cosine(wanted, row.vector)) is not None]
        return math.fsum(cosines) / len(cosines) if cosines else 0.0


@define
class MemoryChunkStore:
    """Keeps tables in a dict. `damage` makes one unreadable, as a lost file does."""

    _tables: dict[str, MemoryTable] = field(factory=dict, init=False)

    def damage(self, table: str) -> None:
        """Let everything but `drop` and `quarantine` fail for this table from now on."""
        self._tables[table].damaged = True

    def tables(self) -> tuple[str, ...]:
        """Name the tables."""
        return tuple(sorted(self._tables))

    def create(self, table: str, *, dimension: int) -> None:
        """Make an empty table."""
        if table not in self._tables:
            self._tables[table] = MemoryTable(dimension)
        elif self._table(table).dimension != dimension:
            raise StoreDamaged(f"The table {table} is there with another dimension.")

    def drop(self, table: str) -> None:
        """Remove a table."""
        self._tables.pop(table, None)

    def quarantine(self, table: str) -> None:
        """Put a table aside; it is not kept here."""
        self._tables.pop(table, None)

    def add(self, table: str, rows: Collection[ChunkRow]) -> None:
        """Append rows."""
        found = self._table(table)
        if any(row.vector is not None and len(row.vector) != 4 * found.dimension for row in rows):
            raise StoreError(f"The table {table} holds vectors of {found.dimension} components.")
        found.rows = (*found.rows, *map(without_half_characters, rows))
        found.unindexed += len(rows)

    def fold(self, table: str) -> None:
        """Take new rows into the index, of which there is none here."""
        self._table(table).unindexed = 0

    def merge(self, table: str) -> None:
        """Tidy up."""
        self._table(table).unindexed = 0

    def delete(self, table: str, generations: Iterable[Generation]) -> None:
        """Remove all rows of generations."""
        found, unwanted = self._table(table), set(generations)
        found.rows = tuple(row for row in found.rows if row.generation not in unwanted)
        found.unindexed = min(found.unindexed, len(found.rows))

    def discard_quarantined(self) -> None:
        """Nothing is kept of what is moved aside here."""

    def purge(self, table: str) -> None:
        """Deleted rows are gone at once here."""
        self._table(table)

    def clean(self, table: str, *, older_than_s: float) -> None:
        """Forget old versions; views hold theirs."""
        self._table(table)

    def counts(self, table: str) -> Iterator[tuple[Generation, FileId, int]]:
        """Count the rows of each generation and file."""
        counted = Counter((row.generation, row.file_id) for row in self._table(table).rows)
        return iter([(*key, rows) for key, rows in sorted(counted.items())])

    def read_generations(self, table: str, generations: Collection[Generation]) -> Iterator[ChunkRow]:
        """Stream whole rows in order."""
        wanted = set(generations)
        rows = [row for row in self._table(table).rows if row.generation in wanted]
        yield from sorted(rows, key=lambda row: (row.generation, row.index))

    @contextmanager
    def open(self, table: str) -> Iterator[ChunkView]:
        """Open a table for reading."""
        found = self._table(table)
        yield MemoryChunkView(found.dimension, found.rows)

    def seal(self, table: str, *, former: str = "") -> str:
        """Sum up a table by its rows; empty when it is not there."""
        found = self._tables.get(table)
        if found is None:
            return ""
        keys = [(row.key, row.passage, row.vector is None) for row in found.rows]
        return hashlib.sha256(repr((found.damaged, keys)).encode()).hexdigest()

    def compare(self, table: str, seal: str, *, closely: bool = False) -> TableChanges:
        """Say whether rows differ, and whether the table is lost or damaged."""
        found = self._tables.get(table)
        if found is None:
            return TableChanges(fresh=not seal, lost=(table,) if seal else ())
        return TableChanges(fresh=seal != self.seal(table), changed=(table,) if found.damaged and seal else ())

    def mend(self, table: str, changes: TableChanges, *, thoroughly: bool = False) -> bool:
        """There is no index here."""
        self._table(table)
        return False

    def salvage(self, table: str, generations: Collection[Generation], *, seal: str) -> Iterator[ChunkRow]:
        """Stream rows, of a damaged table too: it is not the rows that are damaged here."""
        found = self._tables.get(table)
        return iter([row for row in found.rows if row.generation in set(generations)] if found else [])

    def health(self) -> StoreHealth:
        """Count rows and characters."""
        return StoreHealth(
            tables=tuple(sorted(self._tables)),
            size_bytes=sum(len(row.text) + len(row.words) for each in self._tables.values() for row in each.rows),
            rows={name: len(each.rows) for name, each in self._tables.items() if not each.damaged},
            unindexed_rows={name: each.unindexed for name, each in self._tables.items() if not each.damaged},
        )

    def _table(self, table: str) -> MemoryTable:
        found = self._tables.get(table)
        if found is None or found.damaged:
            raise StoreDamaged(f"The table {table} {'cannot be read' if found else 'is not there'}.")
        return found


def passes(row: ChunkRow, wanted: ChunkFilter) -> bool:
    seen = wanted.visible
    return (
        row.generation <= seen.newest
        and not any(first <= row.generation <= last for first, last in seen.dead)
        and (wanted.source_ids is None or row.source_id in wanted.source_ids)
        and row.path.startswith(wanted.path_prefix or "")
        and (not wanted.extensions or row.extension in wanted.extensions)
        and (wanted.modified_after is None or row.modified_at >= wanted.modified_after)
        and (wanted.modified_before is None or row.modified_at <= wanted.modified_before)
        and row.file_id not in wanted.without_files
        and (wanted.keys is None or row.key in wanted.keys)
    )


def best(rows: Sequence[ChunkRow], score: Callable[[ChunkRow], float | None], limit: int) -> tuple[Candidate, ...]:
    scored = [
        Candidate(key=row.key, score=found, passage=row.passage) for row in rows if (found := score(row)) is not None
    ]
    return tuple(sorted(scored, key=lambda candidate: (-candidate.score, candidate.key))[:limit])


def holds_run(words: Sequence[str], phrase: Sequence[str]) -> bool:
    return any(tuple(words[at : at + len(phrase)]) == tuple(phrase) for at in range(len(words) - len(phrase) + 1))


def rarity(holding: int, passages: int) -> float:
    return math.log(1 + (passages - holding + 0.5) / (holding + 0.5))


def unpack(vector: bytes) -> Sequence[float]:
    components = array("f")
    components.frombytes(vector)
    return components


def cosine(wanted: Sequence[float], vector: bytes | None) -> float | None:
    """Multiply two vectors of unit length."""
    return None if vector is None else math.fsum(a * b for a, b in zip(wanted, unpack(vector), strict=True))


def without_half_characters(row: ChunkRow) -> ChunkRow:
    """What no file of text can hold becomes question marks."""
    return evolve(row, text=encodable(row.text), words=encodable(row.words), title=encodable(row.title))


def encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def as_passage(row: ChunkRow) -> StoredPassage:
    return StoredPassage(
        key=row.key, title=row.title, extension=row.extension, text=row.text, words=row.words, metadata=row.metadata
    )


def without_vector(row: ChunkRow) -> ChunkRow:
    return evolve(row, vector=None)
