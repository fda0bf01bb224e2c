"""A sample of a table: what its passages are like on the whole, without reading all of them."""

from collections.abc import Sequence
from threading import Lock

import numpy as np
from attrs import define, field

from openmind_stores.lance.engine import Dataset

SAMPLE_ROWS = 2_000
STRETCHES = 8
"""Neighbouring rows are read at once, so a sample is a few stretches rather than many single rows."""
PREFIX_CHARS = 5
ENDINGS = ("ings", "ing", "ies", "ed", "es", "s")


Mean = np.ndarray[tuple[int], np.dtype[np.float32]]


@define
class Sample:
    """Some rows of one version of a table. Each column is read when it is first asked for."""

    data: Dataset
    _words: list[str] | None = field(default=None, init=False)
    _mean: "Mean | None" = field(default=None, init=False)

    def background(self, vector: bytes) -> float:
        """Mean cosine between a vector of unit length and those of the sample; 0 when there are none."""
        if self._mean is None:
            self._mean = self._read_mean()
        query = np.frombuffer(vector, "<f4")
        return float(query @ self._mean) if len(query) == len(self._mean) else 0.0

    def share(self, term: str) -> float:
        """Share of the passages that hold a term."""
        if self._words is None:
            self._words = self._read_words()
        needle = as_needle(term)
        return sum(needle in words for words in self._words) / len(self._words) if self._words else 0.0

    def _read_words(self) -> list[str]:
        columns = self.data.take_at(positions(self.data.count()), ("words",))
        return [f" {words} " for words in columns["words"]]

    def _read_mean(self) -> "Mean":
        columns = self.data.take_at(positions(self.data.count()), ("vector",))
        vectors = [vector for vector in columns["vector"] if isinstance(vector, bytes)]
        if not vectors:
            return np.zeros(self.data.dimension, np.float32)
        rows = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
        mean: Mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
        return mean


@define
class Samples:
    """The samples of the newest version of each table that was asked; shared by the threads of a process."""

    _by_table: dict[str, Sample] = field(factory=dict, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def of(self, table: str, data: Dataset) -> Sample:
        with self._lock:
            sample = self._by_table.get(table)
            if sample is None or sample.data.version != data.version:
                sample = self._by_table[table] = Sample(data)
            return sample


def positions(rows: int) -> Sequence[int]:
    if rows <= SAMPLE_ROWS:
        return range(rows)
    length = SAMPLE_ROWS // STRETCHES
    starts = [round(at * (rows - length) / (STRETCHES - 1)) for at in range(STRETCHES)]
    return [start + step for start in starts for step in range(length)]


def as_needle(term: str) -> str:
    """Make what a passage's padded words are searched for: longer English words are found in all their forms."""
    if not (term.isascii() and term.isalpha() and len(term) >= PREFIX_CHARS):
        return f" {term} "
    for ending in ENDINGS:
        if term.endswith(ending) and len(term) - len(ending) >= PREFIX_CHARS - 1:
            return f" {term.removesuffix(ending)}"
    return f" {term}"
