"""Ranking: which of the scored passages become hits."""

from collections import Counter
from collections.abc import Iterable

from attrs import evolve, frozen

from openmind.domain.chunks import ChunkKey


@frozen(kw_only=True)
class Ranked:
    """A passage with its score."""

    key: ChunkKey
    score: float
    path: str
    passage: int
    """Hash of its text: equal passages have the same."""
    also_at: tuple[str, ...] = ()
    """Other paths that hold the same passage, see `_how_near`."""


def arrange(scored: Iterable[Ranked], *, limit: int, per_file: int) -> tuple[Ranked, ...]:
    """Choose the best passages: equal ones once, naming the other places, and at most `per_file` of one file.

    Equal scores stand in order of path and index, so that the same memory always answers alike. Of equal passages the
    best one is shown, whose path has more of the query; the other places follow from the fewest folders to the most.

    Args:
        scored: candidates in any order.
        limit: most passages.
        per_file: most passages of one file; 0 means no limit.
    """
    ordered = sorted(scored, key=lambda one: (-one.score, one.path, one.key.index))
    places: dict[int, list[str]] = {}
    for one in ordered:
        paths = places.setdefault(one.passage, [])
        if one.path not in paths:
            paths.append(one.path)
    chosen: list[Ranked] = []
    shown: set[int] = set()
    taken: Counter[str] = Counter()
    for one in ordered:
        if len(chosen) == limit:
            break
        if one.passage in shown or (per_file and taken[one.key.file_id] == per_file):
            continue
        shown.add(one.passage)
        taken[one.key.file_id] += 1
        others = (path for path in places[one.passage] if path != one.path)
        chosen.append(evolve(one, also_at=tuple(sorted(others, key=_how_near))))
    return tuple(chosen)


def _how_near(path: str) -> tuple[int, str]:
    """Order places of the same passage: what lies in fewer folders comes first, then by path."""
    return path.count("/"), path
