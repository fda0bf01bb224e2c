"""Rows that the promises are tried on, and questions to a store."""

import math
import struct
from collections.abc import Collection

from openmind.domain.chunks import ChunkRow, passage_hash
from openmind.domain.ids import FileId, Generation, SourceId
from openmind.domain.index import Visibility
from openmind.ports.chunk_store import (
    Candidate,
    CandidateQuery,
    Candidates,
    ChunkFilter,
    ChunkStore,
    WordsQuery,
)

TABLE = "chunks"
DIMENSION = 3
EVERYTHING = Visibility(newest=Generation(2**40))


def unit(*components: float) -> bytes:
    """Pack a vector scaled to length one, of components that half precision can say, so that all come back alike."""
    length = math.hypot(*components)
    halves = struct.unpack(spelled := f"<{len(components)}e", struct.pack(spelled, *(c / length for c in components)))
    return struct.pack(f"<{len(components)}f", *halves)


def row(
    generation: int,
    index: int,
    words: str,
    *,
    file: str = "",
    source: str = "src_a",
    path: str = "",
    vector: bytes | None = None,
    modified_at: float = 1.5,
) -> ChunkRow:
    """Make a row; what a test does not speak of follows from the rest."""
    path = path or f"/home/ada/{generation}.txt"
    return ChunkRow(
        generation=Generation(generation),
        file_id=FileId(file or f"file_{generation}"),
        source_id=SourceId(source),
        path=path,
        file_name=path.rpartition("/")[2],
        extension="." + path.rpartition(".")[2],
        title="",
        text=words.upper(),
        words=words,
        vector=vector,
        index=index,
        content_hash="c0ffee",
        modified_at=modified_at,
        indexed_at="2026-01-02T03:04:05Z",
        passage=passage_hash(words),
    )


def keys(found: Collection[Candidate]) -> list[tuple[int, int]]:
    return [(candidate.key.generation, candidate.key.index) for candidate in found]


def ask(
    store: ChunkStore,
    *terms: str,
    phrases: tuple[tuple[str, ...], ...] = (),
    vector: bytes | None = None,
    where: ChunkFilter | None = None,
    limit: int = 100,
    table: str = TABLE,
) -> Candidates:
    words = WordsQuery(terms=terms, phrases=phrases) if terms or phrases else None
    query = CandidateQuery(words=words, vector=vector, filter=where or ChunkFilter(visible=EVERYTHING), limit=limit)
    with store.open(table) as view:
        return view.candidates(query)


def counted(store: ChunkStore, table: str = TABLE) -> dict[tuple[int, str], int]:
    return {(generation, file_id): rows for generation, file_id, rows in store.counts(table)}
