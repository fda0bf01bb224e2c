"""Bytes of a blob, with the failures of the file system told as reasons."""

from collections.abc import Iterator
from contextlib import contextmanager

from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob


@contextmanager
def told_as_reasons() -> Iterator[None]:
    """Translate what opening and reading a file can fail with."""
    try:
        yield
    except FileNotFoundError as error:
        raise ExtractionFailed("the file is gone", reason=FileReason.VANISHED) from error
    except PermissionError as error:
        raise ExtractionFailed("the file may not be read", reason=FileReason.DENIED) from error
    except OSError as error:
        raise ExtractionFailed(f"the file cannot be read: {error.strerror or error}") from error


def read_start(blob: Blob, size: int) -> bytes:
    """Return the first `size` bytes, or fewer when the file is shorter.

    Raises:
        ExtractionFailed: the file cannot be opened or read.
    """
    if blob.data is not None:
        return blob.data[:size]
    with told_as_reasons():
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
