"""Makes values fit for SQLite, and groups them."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

BATCH = 1_000
"""How many values go into one statement, so that a long stream never stands in memory as a whole."""

_LARGEST = 2**63 - 1


def text(value: str) -> str:
    """Replace lone surrogates, which no database takes."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def integer(value: int) -> int:
    """Bring a number of any size into 64 bits; a file's date may be absurd."""
    return max(-_LARGEST - 1, min(_LARGEST, value))


def array(values: Iterable[object]) -> str:
    """Pack values into the one parameter that `json_each` unpacks."""
    return json.dumps(list(values))


def batches(values: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    """Cut a stream into lists."""
    iterator = iter(values)
    while batch := list(islice(iterator, size)):
        yield batch
