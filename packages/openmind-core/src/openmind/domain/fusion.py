"""Fusion: one score out of what both legs of a search found.

    score = w · √c · b / b*  +  (1 − w) · (v − m) / (1 − m)

where b is the BM25 of the passage and b* the best one of all passages, filters or not, v its cosine and m the mean
cosine between the query and all passages, w the weight of the words beside this embedder, and c the coverage: which
share of what was asked the best passage holds (`domain.relevance`). A leg that did not find the passage adds nothing.

Each part is anchored outside the list of candidates: BM25 at what was asked, cosines at what any passage has. So a
score of 0.8 means the same under every query, and a list of bad candidates gets no better by being all there is. Ranks
are not used: with a weak embedder, giving both legs equal places loses against words alone.
"""

from collections.abc import Hashable, Mapping
from math import sqrt
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def fuse(
    words: Mapping[K, float] | None,
    cosines: Mapping[K, float] | None,
    *,
    words_weight: float,
    coverage: float,
    background: float,
    best_words: float = 0.0,
) -> dict[K, float]:
    """Score every candidate of both legs, 0–1.

    Args:
        words: BM25 of the candidates of the words leg; None when the leg was not asked, or failed.
        cosines: cosine of the candidates of the vectors leg; None likewise. What one leg lacks goes to the other.
        words_weight: share of the words leg, 0–1, when both take part.
        coverage: share of what was asked that the best candidate holds, 0–1.
        background: mean cosine between the query and all passages.
        best_words: the best BM25 anywhere, where that is none of the candidates'.
    """
    weight = 1.0 if cosines is None else 0.0 if words is None else words_weight
    scores: dict[K, float] = {}
    best = max((best_words, *(words or {}).values()))
    for key, score in (words or {}).items():
        scores[key] = weight * sqrt(coverage) * _share(score, best)
    for key, cosine in (cosines or {}).items():
        scores[key] = scores.get(key, 0.0) + (1 - weight) * _share(cosine - background, 1 - background)
    return scores


def _share(part: float, whole: float) -> float:
    return min(1.0, max(0.0, part / whole)) if whole > 0 else 0.0
