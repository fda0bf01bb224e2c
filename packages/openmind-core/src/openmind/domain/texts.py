"""Texts: many strings in one buffer."""

from array import array
from collections.abc import Iterable, Iterator
from typing import Self

from attrs import field, frozen

LENGTH_BYTES = 4


@frozen
class Texts:
    """N texts: UTF-8, one after the other, in one buffer, and the size of each.

    Tens of thousands of passages wait for a commit. Held as strings, each would be an object that is made, copied and
    looked at several times on its way from a worker process to a table; as buffers they only change hands.
    """

    data: bytes = field(repr=False)
    sizes: bytes = field(repr=False)
    """Bytes of each text: 32-bit integers in the byte order of the machine."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Pack strings; half characters, which UTF-8 cannot say, become question marks."""
        encoded = [text.encode("utf-8", "replace") for text in texts]
        return cls(b"".join(encoded), array("i", map(len, encoded)).tobytes())

    def __len__(self) -> int:
        return len(self.sizes) // LENGTH_BYTES

    def __iter__(self) -> Iterator[str]:
        start = 0
        for size in memoryview(self.sizes).cast("i"):
            yield str(self.data[start : start + size], "utf-8")
            start += size

    def slice(self, start: int, stop: int) -> Self:
        """Return texts `start` up to, not including, `stop`."""
        sizes = memoryview(self.sizes).cast("i")
        first = sum(sizes[:start])
        after = first + sum(sizes[start:stop])
        return type(self)(self.data[first:after], self.sizes[start * LENGTH_BYTES : stop * LENGTH_BYTES])
