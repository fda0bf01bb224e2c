"""Passages of one file that only lack a generation, column by column."""

from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self

from attrs import field, frozen

from openmind.domain.texts import Texts

HASH_BYTES = 8


class Passage(NamedTuple):
    """What is known of a passage before it is stored."""

    text: str
    words: str
    """The analysed words of text, context, file name and path."""
    hash: int
    """`passage_hash` of the text."""
    metadata: str
    """JSON; see `packing.chunk_metadata`."""


@frozen
class Passages:
    """N passages in reading order. Going through them makes an object of each, passing them on makes none."""

    texts: Texts
    words: Texts
    metadata: Texts
    hashes: bytes = field(repr=False)
    """Signed 64-bit integers in the byte order of the machine."""

    @classmethod
    def of(cls, passages: Iterable[Passage]) -> Self:
        """Put passages into columns."""
        texts, words, hashes, metadata = zip(*passages, strict=True) if (passages := list(passages)) else ((),) * 4
        return cls(Texts.of(texts), Texts.of(words), Texts.of(metadata), array("q", hashes).tobytes())

    def __len__(self) -> int:
        return len(self.texts)

    def __iter__(self) -> Iterator[Passage]:
        hashes = memoryview(self.hashes).cast("q")
        return map(Passage, self.texts, self.words, hashes, self.metadata)

    @property
    def size_bytes(self) -> int:
        """What they take in memory."""
        return len(self.hashes) + sum(len(each.data) + len(each.sizes) for each in self._columns)

    def slice(self, start: int, stop: int) -> Self:
        """Return passages `start` up to, not including, `stop`."""
        texts, words, metadata = (each.slice(start, stop) for each in self._columns)
        return type(self)(texts, words, metadata, self.hashes[start * HASH_BYTES : stop * HASH_BYTES])

    @property
    def _columns(self) -> tuple[Texts, Texts, Texts]:
        return self.texts, self.words, self.metadata
