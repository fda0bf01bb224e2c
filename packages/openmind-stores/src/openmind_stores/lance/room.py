"""Whether the disk takes more: asked when a write failed and left a file that ends too soon."""

import errno
import tempfile
from pathlib import Path

PROBE_BYTES = 1 << 20
"""What an index spills to the disk at once, or more."""
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def has_room(folder: Path) -> bool:
    """Write a file, and let it vanish. What keeps it from being written for another reason says nothing of room."""
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            left = memoryview(bytes(PROBE_BYTES))
            while left:
                left = left[file.write(left) :]
    except OSError as error:
        return error.errno not in _NO_ROOM
    return True
