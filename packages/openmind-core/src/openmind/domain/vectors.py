"""Vectors: many rows of float32 in one buffer."""

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

from attrs import field, frozen

FLOAT_BYTES = 4


@frozen
class Vectors:
    """N vectors of `dimension` components: little-endian float32, row after row, in one buffer.

    Made so that core needs no numpy: `numpy.frombuffer(vectors.data, "<f4").reshape(len(vectors), -1)` costs nothing.
    """

    data: bytes = field(repr=False)
    dimension: int

    def __attrs_post_init__(self) -> None:
        if self.dimension < 1 or len(self.data) % (FLOAT_BYTES * self.dimension):
            raise TypeError(f"{len(self.data)} bytes are no rows of {self.dimension} float32")

    @classmethod
    def empty(cls, dimension: int) -> "Vectors":
        return cls(b"", dimension)

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[float]], dimension: int) -> "Vectors":
        """Pack rows of numbers; a row of another length is a `TypeError`."""
        flat = array("f")
        for row in rows:
            if len(row) != dimension:
                raise TypeError(f"a vector has {len(row)} components instead of {dimension}")
            flat.fromlist(row if isinstance(row, list) else list(row))  # three times as fast as extend
        if sys.byteorder == "big":
            flat.byteswap()
        return cls(flat.tobytes(), dimension)

    @classmethod
    def concat(cls, parts: Sequence["Vectors"], dimension: int) -> "Vectors":
        if any(part.dimension != dimension for part in parts):
            raise TypeError(f"vectors of different dimensions cannot be joined into {dimension}")
        return cls(b"".join(part.data for part in parts), dimension)

    def __len__(self) -> int:
        return len(self.data) // (FLOAT_BYTES * self.dimension)

    def slice(self, start: int, stop: int) -> "Vectors":
        """Return rows `start` up to, not including, `stop`."""
        width = FLOAT_BYTES * self.dimension
        return Vectors(self.data[start * width : stop * width], self.dimension)

    def row_bytes(self, index: int) -> bytes:
        width = FLOAT_BYTES * self.dimension
        return self.data[index * width : (index + 1) * width]

    def rows(self) -> list[list[float]]:
        """Unpack into lists of floats."""
        flat = array("f")
        flat.frombytes(self.data)
        if sys.byteorder == "big":
            flat.byteswap()
        return [list(flat[at : at + self.dimension]) for at in range(0, len(flat), self.dimension)]


@frozen
class KnownVectors:
    """The vectors of N passages, as far as there are any."""

    rows: Vectors
    """N rows; zeros where there is none."""
    missing: frozenset[int] = frozenset()
    """Which passages have none."""

    @classmethod
    def of(cls, vectors: Sequence[bytes | None], dimension: int) -> Self:
        """Put vectors, each of them float32 bytes or None, into one buffer.

        Raises:
            TypeError: one has another dimension.
        """
        size = FLOAT_BYTES * dimension
        for vector in vectors:
            if vector is not None and len(vector) != size:
                raise TypeError(f"a vector has {len(vector) // FLOAT_BYTES} components instead of {dimension}")
        blank = bytes(size)
        data = b"".join([blank if vector is None else vector for vector in vectors])
        return cls(Vectors(data, dimension), frozenset(at for at, vector in enumerate(vectors) if vector is None))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[bytes | None]:
        return (None if at in self.missing else self.rows.row_bytes(at) for at in range(len(self)))

    def slice(self, start: int, stop: int) -> Self:
        """Return those of passages `start` up to, not including, `stop`."""
        missing = frozenset(at - start for at in self.missing if start <= at < stop)
        return type(self)(self.rows.slice(start, stop), missing)
