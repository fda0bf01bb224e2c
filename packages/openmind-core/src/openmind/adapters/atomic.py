"""Replaces files so that a reader sees the old content or the new, never half, also after a power cut."""

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write a file through a temporary one beside it.

    Raises:
        OSError: the file is as it was before.
    """
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder last; a system that cannot do that for folders is left alone."""
    if os.name != "posix":
        return
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
