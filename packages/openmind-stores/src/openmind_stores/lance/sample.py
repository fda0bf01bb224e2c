"""A sample of a table: what its passages are like on the whole, without reading all of them."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import cast

import numpy as np
from attrs import define, field, frozen
from openmind.domain.index import Visibility

from openmind_stores.lance.conditions import newer
from openmind_stores.lance.engine import Dataset
from openmind_stores.lance.errors import is_from_lance

SAMPLE_ROWS = 1_000
STRETCHES = 8
"""Neighbouring rows are read at once, so a sample is a few stretches rather than many single rows."""
TERMS_BY_HAND = 100
"""So many cost as much as the index, which who asks once, or a table that is just being filled, never has."""
PREFIX_CHARS = 5
ENDINGS = ("ings", "ing", "ies", "ed", "es", "s")


Mean = np.ndarray[tuple[int], np.dtype[np.float32]]


@define
class Sample:
    """Some rows of one version of a table. Each column is read when it is first asked for.

    It keeps no dataset, which would keep the caches alive that it was opened with.
    """

    version: int
    _words: "Passages | None" = field(default=None, init=False)
    _mean: "Mean | None" = field(default=None, init=False)
    _newer: tuple[Visibility, bool] | None = field(default=None, init=False)

    def has_newer(self, data: Dataset, visibility: Visibility) -> bool:
        """Whether some rows are newer than may be seen: mostly none are, and not asking each row saves a search time.

        Where that cannot be told, some may be.
        """
        last = self._newer
        if last is None or last[0].newest != visibility.newest:
            last = self._newer = (visibility, self._count_newer(data, visibility) > 0)
        return last[1]

    def _count_newer(self, data: Dataset, visibility: Visibility) -> int:
        try:
            return data.count(newer(visibility))
        except BaseException as error:
            if not is_from_lance(error):
                raise
            return 1  # the index of generations is damaged: the search itself has more to say of it

    def background(self, data: Dataset, vector: bytes) -> float:
        """Mean cosine between a vector of unit length and those of the sample; 0 when there are none."""
        if self._mean is None:
            self._mean = read_mean(data)
        query = np.frombuffer(vector, "<f4")
        return float(query @ self._mean) if len(query) == len(self._mean) else 0.0

    def share(self, data: Dataset, term: str) -> float:
        """Share of the passages that hold a term."""
        if self._words is None:
            self._words = Passages.of(read_words(data))
        return self._words.share(as_needle(term))


@define
class Passages:
    """The words of some passages, in one string: looking through one is faster than through thousands.

    Whoever has asked for many terms is likely to go on, and gets the others from an index of the words, which are there
    two hundred times faster.
    """

    text: bytes = field(repr=False)
    number: int
    _asked: int = field(default=0, init=False)
    _index: "WordIndex | None" = field(default=None, init=False, repr=False)

    @classmethod
    def of(cls, words: Sequence[str]) -> "Passages":
        return cls(b"\n".join(f" {each} ".encode() for each in words), len(words))

    def share(self, needle: bytes) -> float:
        """Share of the passages that hold some bytes: a blank and a word, or how one begins."""
        if not self.number:
            return 0.0
        self._asked += 1
        if self._index is None and self._asked > TERMS_BY_HAND:
            self._index = WordIndex.of(self.text.split(b"\n"))
            self.text = b""
        return (self._count(needle) if self._index is None else self._index.count(needle)) / self.number

    def _count(self, needle: bytes) -> int:
        holding, at = 0, self.text.find(needle)
        while at >= 0:
            holding += 1
            end = self.text.find(b"\n", at)
            at = self.text.find(needle, end) if end >= 0 else -1
        return holding


@frozen
class WordIndex:
    """Which passages hold a word."""

    words: Sequence[bytes]
    """In ascending order."""
    places: Mapping[bytes, Sequence[int]]

    @classmethod
    def of(cls, passages: Sequence[bytes]) -> "WordIndex":
        places: defaultdict[bytes, list[int]] = defaultdict(list)
        for number, passage in enumerate(passages):
            for word in set(passage.split()):
                places[word].append(number)
        return cls(sorted(places), dict(places))

    def count(self, needle: bytes) -> int:
        """How many passages hold a word, given between blanks, or one that begins like this."""
        word = needle.strip()
        if needle.endswith(b" "):
            return len(self.places.get(word, ()))
        first, end = bisect_left(self.words, word), bisect_left(self.words, word + b"\xff")
        return len({place for alike in self.words[first:end] for place in self.places[alike]})


@define
class Samples:
    """The samples of the newest version of each table that was asked; shared by the threads of a process."""

    _by_table: dict[str, Sample] = field(factory=dict, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def of(self, table: str, data: Dataset) -> Sample:
        with self._lock:
            sample = self._by_table.get(table)
            if sample is None or sample.version != data.version:
                sample = self._by_table[table] = Sample(data.version)
            return sample


def read_words(data: Dataset) -> list[str]:
    return cast("list[str]", data.take_at(positions(data.count()), ("words",))["words"])


def read_mean(data: Dataset) -> "Mean":
    columns = data.take_at(positions(data.count()), ("vector",))
    vectors = [vector for vector in columns["vector"] if isinstance(vector, bytes)]
    if not vectors:
        return np.zeros(data.dimension, np.float32)
    rows = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    mean: Mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
    return mean


def positions(rows: int) -> Sequence[int]:
    if rows <= SAMPLE_ROWS:
        return range(rows)
    length = SAMPLE_ROWS // STRETCHES
    starts = [round(at * (rows - length) / (STRETCHES - 1)) for at in range(STRETCHES)]
    return [start + step for start in starts for step in range(length)]


def as_needle(term: str) -> bytes:
    """Make what a passage's words, parted by blanks, are searched for.

    Longer English words are found in all their forms, about as the index stems them.
    """
    if not (term.isascii() and term.isalpha() and len(term) >= PREFIX_CHARS):
        return f" {term} ".encode(errors="replace")
    for ending in ENDINGS:
        if term.endswith(ending) and len(term) - len(ending) >= PREFIX_CHARS - 1:
            return f" {term.removesuffix(ending)}".encode()
    return f" {term}".encode()
