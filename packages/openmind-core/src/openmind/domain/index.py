"""The identity of an index, and what of it may be seen."""

import hashlib
import re
from collections.abc import Iterable
from enum import StrEnum

from attrs import frozen

from openmind.domain.ids import Generation
from openmind.domain.models import EmbedderIdentity

FIRST_TABLE = "chunks"
"""Name of the first table in the chunk store; later ones have a number behind it."""


@frozen(kw_only=True)
class IndexIdentity:
    """What an index was made with. A different embedder needs another table, the others a new generation."""

    embedder: EmbedderIdentity
    chunking: int
    """Version of the chunking policy."""
    analyser: int
    """Version of the analyser of words."""

    @property
    def key(self) -> str:
        text = f"{self.embedder.key}/{self.chunking}/{self.analyser}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class TableState(StrEnum):
    """`live` is searched; `filling` is completed beside it; `dead` waits to be dropped."""

    LIVE = "live"
    FILLING = "filling"
    DEAD = "dead"


@frozen(kw_only=True)
class IndexTable:
    """A chunk table as the catalog knows it."""

    id: int
    name: str
    """Name of the table in the chunk store: `chunks`, `chunks_2`, …"""
    identity: IndexIdentity
    state: TableState


def next_name(tables: Iterable[IndexTable]) -> str:
    """Name a table as none is named: after the highest number there is."""
    highest = max((table.id for table in tables), default=0)
    return f"{FIRST_TABLE}_{highest + 1}" if highest else FIRST_TABLE


def is_own_name(name: str) -> bool:
    """Whether OpenMind gives such names to tables; others in its folder are a person's own."""
    return re.fullmatch(rf"{FIRST_TABLE}(_\d+)?", name) is not None


@frozen(kw_only=True)
class Visibility:
    """Which generations a reader of one snapshot may see.

    A row is visible when its generation is at most `newest` and in none of the `dead` ranges. This only keeps
    invisible rows from crowding out visible ones; the join with the catalog decides.
    """

    newest: Generation
    dead: tuple[tuple[Generation, Generation], ...] = ()
    """Ranges (first, last), both included, ascending, disjoint."""


def as_ranges(generations: list[Generation]) -> tuple[tuple[Generation, Generation], ...]:
    """Fold ascending generations into ranges of neighbours."""
    ranges: list[tuple[Generation, Generation]] = []
    for generation in generations:
        if ranges and generation <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(generation, ranges[-1][1]))
        else:
            ranges.append((generation, generation))
    return tuple(ranges)
