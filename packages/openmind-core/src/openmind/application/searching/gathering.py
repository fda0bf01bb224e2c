"""Candidates of both legs, gathered so that where a leg was cut off changes neither who is seen nor any score.

A leg gives so many candidates and no more. Two things would follow from that alone: one long file may fill a leg and
keep every other file out of it; and a passage that one leg gave and the other had just cut off would be scored as if
the other had nothing to say of it, so that its score would depend on who else was in the memory, or on the filter.
"""

from collections.abc import Iterable

from attrs import evolve

from openmind.domain.chunks import ChunkKey
from openmind.domain.ids import FileId
from openmind.ports.chunk_store import Candidate, CandidateQuery, Candidates, ChunkFilter, ChunkView


def gather(view: ChunkView, query: CandidateQuery, *, files: int) -> Candidates:
    """Ask both legs, and whatever else it takes: three further times at most, each as dear as the first or cheaper.

    Args:
        view: what is asked.
        query: what is looked for.
        files: a full leg with candidates of fewer files is asked once more without these.

    Raises:
        StoreDamaged: the table cannot be read.
    """
    found = view.candidates(query)
    words, vectors = found.words, found.vectors
    if _is_crowded(words, query.limit, files):
        apart = _without(query, words)
        words = _merged(words, view.candidates(evolve(apart, vector=None)).words)
    if _is_crowded(vectors, query.limit, files):
        apart = _without(query, vectors)
        vectors = _merged(vectors, view.candidates(evolve(apart, words=None)).vectors)
    return _completed(view, query, evolve(found, words=words, vectors=vectors))


def _is_crowded(leg: tuple[Candidate, ...], limit: int, files: int) -> bool:
    return len(leg) >= limit and len(_files(leg)) < files


def _without(query: CandidateQuery, leg: Iterable[Candidate]) -> CandidateQuery:
    return evolve(query, filter=evolve(query.filter, without_files=tuple(sorted(_files(leg)))))


def _completed(view: ChunkView, query: CandidateQuery, found: Candidates) -> Candidates:
    """Let each leg that was cut off score what only the other one gave; that has passed the filter already."""
    by_words, by_vectors = _keys(found.words), _keys(found.vectors)
    unread = by_vectors - by_words if len(by_words) >= query.limit else set[ChunkKey]()
    unseen = by_words - by_vectors if len(by_vectors) >= query.limit else set[ChunkKey]()
    words, vectors = found.words, found.vectors
    if unread:
        words = _merged(words, view.candidates(evolve(_among(query, unread), vector=None)).words)
    if unseen:
        vectors = _merged(vectors, view.candidates(evolve(_among(query, unseen), words=None)).vectors)
    return evolve(found, words=words, vectors=vectors)


def _among(query: CandidateQuery, keys: set[ChunkKey]) -> CandidateQuery:
    return evolve(query, filter=ChunkFilter(visible=query.filter.visible, keys=tuple(sorted(keys))), limit=len(keys))


def _merged(some: Iterable[Candidate], others: Iterable[Candidate]) -> tuple[Candidate, ...]:
    merged = {one.key: one for one in (*others, *some)}
    return tuple(sorted(merged.values(), key=lambda one: (-one.score, one.key)))


def _files(leg: Iterable[Candidate]) -> set[FileId]:
    return {one.key.file_id for one in leg}


def _keys(leg: Iterable[Candidate]) -> set[ChunkKey]:
    return {one.key for one in leg}
