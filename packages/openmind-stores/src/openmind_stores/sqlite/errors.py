"""The one place where the failures of SQLite become OpenMind's."""

import errno
import sqlite3
from pathlib import Path

from openmind.domain.errors import CatalogDamaged, StoreBusy, StoreError, StoreFull, StoreReadOnly

_PRIMARY = 0xFF
"""The low byte of an extended result code is the primary one."""

_WRITE_REFUSED = frozenset({sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE})
"""A quota or a limit on file sizes shows up here; SQLite keeps SQLITE_FULL for a full device."""


def translate(error: sqlite3.Error, path: Path) -> StoreError:
    """Say in OpenMind's words what went wrong with the catalog at `path`."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    if _is_undecodable(error):  # the reason itself would show what is stored
        return damaged(path, "it holds text that is none")
    primary = code & _PRIMARY
    if primary == sqlite3.SQLITE_FULL or code in _WRITE_REFUSED:
        return full(path)
    if primary == sqlite3.SQLITE_READONLY:
        return read_only(path)
    if primary in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}:
        return busy(path)
    if primary in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return damaged(path, str(error))
    if primary == sqlite3.SQLITE_CANTOPEN:
        return StoreError(f"{path} cannot be opened", hint="Check that it exists and that you may read it.")
    return StoreError(f"{path} cannot be used: {error}")


def _is_undecodable(error: sqlite3.Error) -> bool:
    """Whether Python, not SQLite, found a text that is not UTF-8; nothing but its words tells that."""
    return not hasattr(error, "sqlite_errorcode") and str(error).startswith("Could not decode to UTF-8")


def translate_os(error: OSError, path: Path) -> StoreError:
    """Say in OpenMind's words why a file of the home could not be made or locked."""
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return read_only(path)
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return full(path)
    hint = "Move it away: OpenMind makes it anew." if error.errno == errno.EISDIR else ""
    return StoreError(f"{path} cannot be used: {error.strerror or error}", hint=hint)


def damaged(path: Path, reason: str) -> CatalogDamaged:
    return CatalogDamaged(
        f"{path} is damaged: {reason}",
        hint="Restore it from a backup. To begin anew, move it and the folder lancedb away, then run "
        "`openmind source add FOLDER`.",
    )


def full(path: Path) -> StoreFull:
    return StoreFull(
        f"there is no space left to write {path}",
        hint="Free some disk space and try again; what was remembered before is as it was.",
    )


def read_only(path: Path) -> StoreReadOnly:
    return StoreReadOnly(
        f"{path} cannot be written to",
        hint="Check the permissions of the folder; searching still works.",
    )


def busy(path: Path) -> StoreBusy:
    return StoreBusy(
        f"another process is writing to {path} and did not finish in time",
        hint="Try again in a moment.",
    )


def not_local(path: Path) -> StoreError:
    return StoreError(
        f"the file system of {path.parent} has no locks that programs can rely on",
        hint="Choose a home on a local disk; a network folder does not do.",
    )
