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
    asked = unread | unseen
    if not asked:
        return found
    rest = view.candidates(
        evolve(
            query,
            words=query.words if unread else None,
            vector=query.vector if unseen else None,
            filter=ChunkFilter(visible=query.filter.visible, keys=tuple(sorted(asked))),
            limit=len(asked),
        )
    )
    return evolve(found, words=_merged(found.words, rest.words), vectors=_merged(found.vectors, rest.vectors))


def _merged(some: Iterable[Candidate], others: Iterable[Candidate]) -> tuple[Candidate, ...]:
    merged = {one.key: one for one in (*others, *some)}
    return tuple(sorted(merged.values(), key=lambda one: (-one.score, one.key)))


def _files(leg: Iterable[Candidate]) -> set[FileId]:
    return {one.key.file_id for one in leg}


def _keys(leg: Iterable[Candidate]) -> set[ChunkKey]:
    return {one.key for one in leg}
