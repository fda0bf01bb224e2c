"""Rows of a chunk table, file by file and column by column."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Self

import attrs
from attrs import field, frozen

from openmind.domain.chunks import ChunkRow
from openmind.domain.ids import FileId, Generation, SourceId
from openmind.domain.passages import Passage, Passages
from openmind.domain.vectors import KnownVectors


@frozen(kw_only=True)
class FileRows:
    """Rows of one file that follow one another; what they share is said once. The fields are those of `ChunkRow`."""

    generation: Generation
    file_id: FileId
    source_id: SourceId
    path: str
    file_name: str
    extension: str
    title: str
    content_hash: str
    modified_at: float
    indexed_at: str
    first: int = 0
    """Index of the first row."""
    passages: Passages = field(repr=False)
    vectors: KnownVectors = field(repr=False)
    """One for each passage, as far as there are any."""

    @classmethod
    def of(cls, rows: Sequence[ChunkRow], dimension: int) -> Self:
        """Put at least one row into columns; all must be of one file, and follow one another.

        Raises:
            TypeError: a vector has another dimension.
        """
        first = rows[0]
        return cls(
            generation=first.generation,
            file_id=first.file_id,
            source_id=first.source_id,
            path=first.path,
            file_name=first.file_name,
            extension=first.extension,
            title=first.title,
            content_hash=first.content_hash,
            modified_at=first.modified_at,
            indexed_at=first.indexed_at,
            first=first.index,
            passages=Passages.of(Passage(row.text, row.words, row.passage, row.metadata) for row in rows),
            vectors=KnownVectors.of([row.vector for row in rows], dimension),
        )

    def __len__(self) -> int:
        return len(self.passages)

    def __iter__(self) -> Iterator[ChunkRow]:
        for index, (passage, vector) in enumerate(zip(self.passages, self.vectors, strict=True), self.first):
            yield ChunkRow(
                generation=self.generation,
                file_id=self.file_id,
                source_id=self.source_id,
                path=self.path,
                file_name=self.file_name,
                extension=self.extension,
                title=self.title,
                text=passage.text,
                words=passage.words,
                vector=vector,
                index=index,
                content_hash=self.content_hash,
                modified_at=self.modified_at,
                indexed_at=self.indexed_at,
                passage=passage.hash,
                metadata=passage.metadata,
            )

    def slice(self, start: int, stop: int) -> Self:
        """Return rows `start` up to, not including, `stop`, counted from the first one here."""
        return attrs.evolve(
            self,
            first=self.first + start,
            passages=self.passages.slice(start, stop),
            vectors=self.vectors.slice(start, stop),
        )


@frozen
class ChunkRows(Collection[ChunkRow]):
    """Rows of many files, that can be gone through one by one, or taken file by file without making any of them."""

    files: tuple[FileRows, ...]

    @classmethod
    def of(cls, rows: Collection[ChunkRow], dimension: int) -> "ChunkRows":
        """Put rows into columns, unless they are.

        Raises:
            TypeError: a vector has another dimension.
        """
        if isinstance(rows, ChunkRows):
            for file in rows.files:
                if file.vectors.rows.dimension != dimension:
                    raise TypeError(f"a vector has {file.vectors.rows.dimension} components instead of {dimension}")
            return rows
        return cls(tuple(FileRows.of(run, dimension) for run in _runs(list(rows))))

    def __len__(self) -> int:
        return sum(map(len, self.files))

    def __iter__(self) -> Iterator[ChunkRow]:
        for file in self.files:
            yield from file

    def __contains__(self, row: object) -> bool:
        return any(each == row for each in self)


def portions(files: Iterable[FileRows], rows: int) -> Iterator[ChunkRows]:
    """Gather files into portions of that many rows, but for the last one; a file may be cut."""
    portion: list[FileRows] = []
    room = rows
    for file in files:
        start = 0
        while len(file) - start >= room:
            portion.append(file.slice(start, start + room) if room < len(file) else file)
            yield ChunkRows(tuple(portion))
            start += room
            portion, room = [], rows
        if start < len(file):
            portion.append(file.slice(start, len(file)) if start else file)
            room -= len(file) - start
    if portion:
        yield ChunkRows(tuple(portion))


def _runs(rows: Sequence[ChunkRow]) -> Iterator[Sequence[ChunkRow]]:
    """Cut rows where those of another file begin, or some are missing."""
    ends = [at for at, (row, after) in enumerate(pairwise(rows), 1) if not _follows(after, row)]
    for start, end in pairwise([0, *ends, len(rows)]):
        if end > start:
            yield rows[start:end]


def _follows(row: ChunkRow, before: ChunkRow) -> bool:
    return row.index == before.index + 1 and _shared(row) == _shared(before)


def _shared(row: ChunkRow) -> tuple[object, ...]:
    return (
        *(row.generation, row.file_id, row.source_id, row.path, row.file_name, row.extension, row.title),
        *(row.content_hash, row.modified_at, row.indexed_at),
    )
