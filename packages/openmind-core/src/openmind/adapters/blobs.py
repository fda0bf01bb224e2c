"""Files as extractors that run in this process get them."""

import os
from pathlib import Path

from openmind.adapters.regular_files import open_regular
from openmind.ports.extractor import Blob

SMALL_BYTES = 1_000_000
"""Files up to this size are read in one go when they are opened."""


def read_blob(path_bytes: bytes, name: str) -> Blob:
    """Name a file for an extractor that runs in process.

    Raises:
        ExtractionFailed: it is no regular file any more, or may not be read.
    """
    descriptor = open_regular(path_bytes)
    try:
        data = _whole(descriptor)
    finally:
        os.close(descriptor)
    return Blob(name=name, path=Path(os.fsdecode(path_bytes)), data=data)


def _whole(descriptor: int) -> bytes | None:
    """Read a small file that is open already, so that it need not be opened again; None leaves it to the extractor."""
    size = os.fstat(descriptor).st_size
    if size > SMALL_BYTES:
        return None
    try:
        data = os.read(descriptor, size + 1)
    except OSError:  # whoever reads it next says why it cannot be
        return None
    return data if len(data) == size else None  # it grows or shrinks at this moment
