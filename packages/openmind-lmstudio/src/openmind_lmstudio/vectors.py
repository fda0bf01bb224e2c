"""Vectors out of an embeddings reply, each one checked."""

from itertools import repeat
from math import hypot, isfinite
from operator import mul

from openmind.domain.vectors import Vectors

from openmind_lmstudio.errors import Nonsense
from openmind_lmstudio.wire import Record

_NUMBERS = {float, int}
_SMALLEST = 1e-20
"""A vector shorter than this has no direction."""
_UNIT = 1e-6


class NoVector(Nonsense):
    """What came for one text is no vector: nothing, not numbers, not finite, or zero throughout."""

    def __init__(self, index: int) -> None:
        super().__init__("The reply holds something that is no vector")
        self.index = index


def read_vectors(reply: Record, count: int) -> Vectors:
    """Read as many vectors as there were texts, in their order, and give them unit length.

    Raises:
        NoVector: one is none.
        Nonsense: there are more or fewer than texts, they are not numbered from 0, or differ in dimension.
    """
    rows = [_unit(row, index) for index, row in enumerate(_in_order(reply.require_list("data"), count))]
    dimensions = {len(row) for row in rows}
    if len(dimensions) != 1:
        raise Nonsense("The reply holds vectors of different dimensions")
    return Vectors.from_rows(rows, dimensions.pop())


def _in_order(data: list[object], count: int) -> list[object]:
    items = [Record.of(item) for item in data]
    if len(items) != count:
        raise Nonsense(f"The reply holds {len(items)} vectors for {count} texts")
    places = [item.count("index") for item in items]
    rows: dict[int | None, object] = {place: item.value("embedding") for place, item in zip(places, items, strict=True)}
    if set(rows) != set(range(count)):
        raise Nonsense("The vectors of the reply are not numbered as the texts are")
    return [rows[place] for place in range(count)]


def _unit(row: object, index: int) -> list[float]:
    if not isinstance(row, list) or not row or not _all_numbers(row):
        raise NoVector(index)
    try:
        length = hypot(*row)
    except OverflowError:
        raise NoVector(index) from None
    if not isfinite(length) or length < _SMALLEST:
        raise NoVector(index)
    if abs(length - 1) < _UNIT:
        return row
    return list(map(mul, row, repeat(1 / length)))


def _all_numbers(row: list[object]) -> bool:
    """Whether there are only numbers, and no booleans, which Python takes for numbers too."""
    kinds = list(map(type, row))
    return kinds.count(float) == len(kinds) or set(kinds) <= _NUMBERS
