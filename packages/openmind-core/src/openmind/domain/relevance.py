"""Relevance: whether the best of what was found has anything to do with what was asked.

Something is always found. It is taken for nothing when three witnesses agree: the best passages hold little of what
was asked, the nearest vector is far, and nothing exact was met. Measured on the questions of five collections put to
their own files and to each other's, this turns away one to four good questions in a hundred and nine strangers in ten.
"""

from collections.abc import Sequence
from math import log

from attrs import frozen

from openmind.domain.search import Explanation

COVERAGE_FLOOR = 0.35
"""With less of the query in the best passage, words alone do not make a result relevant."""
LONE_COVERAGE_FLOOR = 0.15
"""The same when there are no vectors to ask: lower, because a good passage in other words is all too likely. And with
less, a passage has next to nothing of the query."""
HIT_FLOOR = 0.25
"""Share of the best score below which a hit is left out that nothing else speaks for. On the questions of five
collections no answer has less than 0.37, and none was hidden."""
SAMPLED_PASSAGES = 1_000
"""Shares of passages are estimates from about so many: what is rarer than one of them is just rare."""
ASSUMED_PASSAGES, ASSUMED_SHARE = 20, 0.01
"""What is believed of a word before any passage was looked at: in a memory of three notes, that a word is in all of
them says little, and that it is in none says little too."""

_LEAST_STEM = 4
_ENDINGS = ("ings", "ing", "ies", "ed", "es", "s")


@frozen(kw_only=True)
class AskedWord:
    """One term of a query, and how much it says."""

    term: str
    rarity: float


@frozen(kw_only=True)
class Signals:
    """What speaks for a search result."""

    coverage: float
    """Best coverage among the candidates, 0–1."""
    cosine: float | None
    """Best cosine; None when no vectors were asked."""
    exact: bool = False
    """Whether a quoted phrase or an identifier was met whole."""


def is_relevant(signals: Signals, *, cosine_floor: float) -> bool:
    """Decide whether anything clearly relevant was found."""
    if signals.exact:
        return True
    if signals.cosine is None:
        return signals.coverage >= LONE_COVERAGE_FLOOR
    return signals.coverage >= COVERAGE_FLOOR or signals.cosine >= cosine_floor


def is_worth_showing(hit: Explanation, *, score: float, best: float, cosine_floor: float) -> bool:
    """Decide whether a hit stands beside a good one, or is only the next in a list that never ends.

    Args:
        hit: where the legs had it.
        score: its score.
        best: the score of the first hit.
        cosine_floor: the cosine from which on the nearest vector is relevant by itself.
    """
    if score >= HIT_FLOOR * best or hit.coverage >= LONE_COVERAGE_FLOOR:
        return True
    return hit.vector_rank == 1 and hit.cosine is not None and hit.cosine >= cosine_floor


def weigh(terms: Sequence[str], shares: Sequence[float], *, passages: int) -> tuple[AskedWord, ...]:
    """Weigh the terms of a query by how rare they are: what stands in every passage says nothing.

    Args:
        terms: analysed terms.
        shares: for each, the share of the passages that hold it, 0–1.
        passages: how many passages there are.
    """
    seen = min(passages, SAMPLED_PASSAGES)
    believed = [
        (min(1.0, max(0.0, share)) * seen + ASSUMED_SHARE * ASSUMED_PASSAGES) / (seen + ASSUMED_PASSAGES)
        for share in shares
    ]
    return tuple(
        AskedWord(term=term, rarity=log(1 + (1 - share) / share)) for term, share in zip(terms, believed, strict=True)
    )


def coverage(asked: Sequence[AskedWord], words: str) -> float:
    """Sum up how much of a query a passage holds, 0–1.

    Args:
        asked: the weighed terms.
        words: the passage's analysed words, separated by blanks.
    """
    whole = sum(word.rarity for word in asked)
    if not whole:
        return 0.0
    padded = f" {words} "
    return sum(word.rarity for word in asked if stem(word.term) in padded) / whole


def stem(term: str) -> str:
    """Make what the padded words of a passage are searched for: longer English words are met in all their forms."""
    if len(term) <= _LEAST_STEM or not (term.isascii() and term.isalpha()):
        return f" {term} "
    for ending in _ENDINGS:
        if term.endswith(ending) and len(term) - len(ending) >= _LEAST_STEM:
            return f" {term.removesuffix(ending)}"
    return f" {term}"


def holds_phrase(phrase: Sequence[str], words: str) -> bool:
    """Whether terms stand side by side in a passage's analysed words, as they are or in another English form."""
    if not phrase:
        return True
    wanted = [stem(term) for term in phrase]
    found = words.split()
    return any(
        all(need in f" {word} " for need, word in zip(wanted, found[at:], strict=False))
        for at in range(len(found) - len(wanted) + 1)
    )
