"""What the two legs of a search found, once the catalog has confirmed it."""

from collections.abc import Iterator, Mapping

from attrs import frozen

from openmind.domain.chunks import ChunkKey
from openmind.domain.files import FileBrief
from openmind.domain.fusion import fuse
from openmind.domain.ids import FileId
from openmind.domain.models import RetrievalProfile
from openmind.domain.ranking import Ranked
from openmind.domain.search import Explanation
from openmind.ports.chunk_store import Candidate

Leg = Mapping[ChunkKey, Candidate]
"""Candidates by key, best first."""


@frozen(kw_only=True)
class Legs:
    """Candidates of visible passages."""

    words: Leg | None
    """None when the leg was not asked, or failed."""
    vectors: Leg | None
    best_words: float = 0.0
    """The best score of the words leg anywhere, where filters left it with less."""
    runs: frozenset[ChunkKey] = frozenset()
    """Candidates of the words leg that hold the whole query word for word: worth as much as its best one besides."""
    files: Mapping[FileId, FileBrief]
    """The files of all candidates."""
    background: float
    """Mean cosine between the query and all passages."""
    full: bool
    """Whether a leg gave as many as were asked for, so that there may be more."""
    notes: tuple[str, ...] = ()
    """A sentence for each leg that failed."""

    def __iter__(self) -> Iterator[Candidate]:
        return iter({**(self.vectors or {}), **(self.words or {})}.values())

    @property
    def best_cosine(self) -> float | None:
        """None when no vectors were asked."""
        return None if self.vectors is None else max((one.score for one in self.vectors.values()), default=-1.0)

    def first(self, count: int) -> tuple[ChunkKey, ...]:
        """Return the best of each leg."""
        return (*list(self.words or ())[:count], *list(self.vectors or ())[:count])

    def ranked(self, profile: RetrievalProfile, *, coverage: float) -> list[Ranked]:
        """Score every candidate; `coverage` is the share of the query that the best passage holds."""
        scores = fuse(
            self._words_scores(),
            None if self.vectors is None else {key: one.score for key, one in self.vectors.items()},
            words_weight=profile.words_weight,
            coverage=coverage,
            background=self.background,
            best_words=self.best_words,
        )
        files = self.files
        return [
            Ranked(key=one.key, score=scores[one.key], path=files[one.key.file_id].path, passage=one.passage)
            for one in self
        ]

    def _words_scores(self) -> dict[ChunkKey, float] | None:
        if self.words is None:
            return None
        best = max((one.score for one in self.words.values()), default=0.0)
        return {key: one.score + best * (key in self.runs) for key, one in self.words.items()}

    def explain(self, key: ChunkKey, coverage: float) -> Explanation:
        """Say where each leg had a passage."""
        words_rank, words_score = _place(self.words, key)
        vector_rank, cosine = _place(self.vectors, key)
        return Explanation(
            words_rank=words_rank,
            words_score=words_score,
            vector_rank=vector_rank,
            cosine=cosine,
            coverage=coverage,
        )


def _place(leg: Leg | None, key: ChunkKey) -> tuple[int, float] | tuple[None, None]:
    if leg is None or key not in leg:
        return None, None
    return list(leg).index(key) + 1, leg[key].score
