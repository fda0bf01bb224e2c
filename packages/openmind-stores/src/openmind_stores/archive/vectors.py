"""The vectors of an archive: whether a search can reckon with them."""

from collections.abc import Sequence
from typing import Final

import numpy as np

TOLERANCE: Final = 0.01
"""Of the squared length: half precision, in which some tables keep vectors, shortens it by less than a thousandth."""


def are_unit(vectors: Sequence[bytes], dimension: int) -> bool:
    """Whether all are little-endian float32 of that many components, finite and of unit length."""
    if any(len(vector) != 4 * dimension for vector in vectors):
        return False
    rows = np.frombuffer(b"".join(vectors), "<f4").reshape(-1, dimension)
    squared = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
    return bool(np.all(np.abs(squared - 1.0) <= TOLERANCE))  # a NaN is within no tolerance
