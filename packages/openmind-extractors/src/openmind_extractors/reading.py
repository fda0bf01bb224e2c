"""Bytes of a blob, with the failures of the file system told as reasons."""

from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob, told_as_reasons

__all__ = ["read_all", "read_start", "told_as_reasons"]


def read_start(blob: Blob, size: int) -> bytes:
    """Return the first `size` bytes, or fewer when the file is shorter.

    Raises:
        ExtractionFailed: the file cannot be opened or read.
    """
    return blob.head(size)


def read_all(blob: Blob, limit: int, kind: str) -> bytes:
    """Return all bytes of a file that must be read whole.

    Args:
        blob: the file.
        limit: the most bytes that are read.
        kind: what the file is, for the message: `an HTML page`.

    Raises:
        ExtractionFailed: the file is larger, or cannot be read.
    """
    data = read_start(blob, limit + 1)
    if len(data) > limit:
        size = f"{limit / 1_000_000:.0f} MB"
        raise ExtractionFailed(f"{kind} of more than {size} is not read", reason=FileReason.TOO_BIG)
    return data
