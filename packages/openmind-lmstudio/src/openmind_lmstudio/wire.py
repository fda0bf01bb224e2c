"""Typed access to JSON: nothing behind this module looks into a dictionary."""

import json
from collections.abc import Iterator, Mapping
from typing import TypeVar

from attrs import field, frozen

from openmind_lmstudio.errors import Nonsense

T = TypeVar("T")

LARGE = 32_768
"""Characters or bytes; replies of this size are vectors, and most of what a batch costs is reading their numbers."""


def encode(body: Mapping[str, object]) -> bytes:
    """Write JSON. Half a surrogate pair, which some file names and texts hold, becomes a question mark."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def decode(body: bytes | str) -> object:
    """Read JSON.

    Raises:
        Nonsense: it is none.
    """
    document = _decode_numbers(body) if len(body) >= LARGE else None
    if document is not None:
        return document
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Nonsense("The reply is not JSON") from error
    return document


def _decode_numbers(body: bytes | str) -> object:
    """Read a reply full of numbers five times as fast, where msgspec is installed, as it is beside the API.

    What it refuses is left to the standard library, which takes more and says what is wrong.
    """
    try:
        from msgspec import DecodeError
        from msgspec.json import decode as quickly
    except ImportError:
        return None
    try:
        return quickly(body)
    except (DecodeError, RecursionError):
        return None


@frozen
class Record:
    """A JSON object whose members are asked for with a type; a member of another type counts as absent."""

    members: Mapping[str, object] = field(repr=False)

    @classmethod
    def of(cls, document: object) -> "Record":
        """Take a document for an object; anything else is an object without members."""
        return cls(document if isinstance(document, dict) else {})

    def value(self, key: str) -> object:
        """Return a member of whatever type, None when there is none."""
        return self.members.get(key)

    def text(self, key: str) -> str:
        """Return a string, empty when there is none."""
        return self._typed(key, str) or ""

    def flag(self, key: str) -> bool:
        return self.members.get(key) is True

    def count(self, key: str) -> int | None:
        """Return a whole number of zero or more, if there is one."""
        value = self.members.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
            return None
        return int(value)

    def share(self, key: str) -> float:
        """Return a number from 0 to 1, 0 when there is none."""
        value = self.members.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            return 0.0
        return float(value)

    def record(self, key: str) -> "Record":
        return Record.of(self.members.get(key))

    def items(self, key: str) -> list[object]:
        """Return a list, empty when there is none."""
        return self._typed(key, list) or []

    def records(self, key: str) -> Iterator["Record"]:
        """Iterate over the objects of a list."""
        return (Record.of(item) for item in self.items(key) if isinstance(item, dict))

    def require_list(self, key: str) -> list[object]:
        """Return a list.

        Raises:
            Nonsense: there is none.
        """
        items = self._typed(key, list)
        if items is None:
            raise Nonsense(f"The reply lacks “{key}”")
        return items

    def _typed(self, key: str, kind: type[T]) -> T | None:
        value = self.members.get(key)
        return value if isinstance(value, kind) else None
