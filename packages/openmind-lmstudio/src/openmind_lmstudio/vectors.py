"""Vectors out of an embeddings reply, each one checked."""

from itertools import repeat
from math import hypot, isfinite
from operator import mul

from openmind.domain.sentences import counted
from openmind.domain.vectors import Vectors

from openmind_lmstudio.errors import Nonsense
from openmind_lmstudio.wire import Record

_NUMBERS = {float, int}
_SMALLEST = 1e-20
"""A vector shorter than this has no direction."""
_UNIT = 1e-6


class NoVector(Nonsense):
    """What came for one text is no vector: nothing, not numbers, not finite, or zero throughout."""

    def __init__(self, index: int, model: str = "") -> None:
        super().__init__(
            f"{named(model)} answered with something that is no vector",
            hint="Load it again in the server, or choose another one with `openmind models update`.",
        )
        self.index = index


def named(model: str) -> str:
    """What a model is called in a sentence."""
    return f"“{model}”" if model else "The model"


def read_vectors(reply: Record, count: int, model: str = "") -> Vectors:
    """Read as many vectors as there were texts, in their order, and give them unit length.

    Raises:
        NoVector: one is none.
        Nonsense: there are more or fewer than texts, they are not numbered from 0, or differ in dimension.
    """
    rows = [_unit(row, index, model) for index, row in enumerate(_in_order(reply.require_list("data"), count, model))]
    dimensions = {len(row) for row in rows}
    if len(dimensions) != 1:
        raise Nonsense(f"{named(model)} answered with vectors of different dimensions")
    return Vectors.from_rows(rows, dimensions.pop())


def _in_order(data: list[object], count: int, model: str) -> list[object]:
    items = [Record.of(item) for item in data]
    if len(items) != count:
        raise Nonsense(f"{named(model)} answered with {counted(len(items), 'vector')} for {counted(count, 'text')}")
    places = [item.count("index") for item in items]
    rows: dict[int | None, object] = {place: item.value("embedding") for place, item in zip(places, items, strict=True)}
    if set(rows) != set(range(count)):
        raise Nonsense(f"{named(model)} answered with vectors that are not numbered as the texts are")
    return [rows[place] for place in range(count)]


def _unit(row: object, index: int, model: str) -> list[float]:
    if not isinstance(row, list) or not row or not _all_numbers(row):
        raise NoVector(index, model)
    try:
        length = hypot(*row)
    except OverflowError:
        raise NoVector(index, model) from None
    if not isfinite(length) or length < _SMALLEST:
        raise NoVector(index, model)
    if abs(length - 1) < _UNIT:
        return row
    return list(map(mul, row, repeat(1 / length)))


def _all_numbers(row: list[object]) -> bool:
    """Whether there are only numbers, and no booleans, which Python takes for numbers too."""
    kinds = list(map(type, row))
    return kinds.count(float) == len(kinds) or set(kinds) <= _NUMBERS
