"""The lock of the server: one home is served once, and whoever starts a second server learns where the first one is."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from openmind.domain.errors import HomeServed, HomeUnusable

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK_MODE = 0o600
MOST_CHARS = 200
_CANNOT_LOCK = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP})
"""A home that may not be written, or lies where there are no locks, is served all the same."""


@frozen(kw_only=True)
class SoleServer:
    """The one server of a home."""

    announce: Callable[[str], None]
    """Notes the address for whoever comes second."""
    is_sole: Callable[[], bool]
    """Whether the lock still is what others meet: false once its file was deleted, by whomever."""


@contextmanager
def sole_server(path: Path) -> Iterator[SoleServer]:
    """Be the one server of a home.

    The lock belongs to the operating system and dies with its holder; what a killed server left in the file harms
    nobody. The file stays: whoever deletes it lets a second server in, so the first one has to look and end.

    Args:
        path: the lock file; made when it is missing.

    Raises:
        HomeServed: another process serves this home.
        HomeUnusable: the lock file cannot be made.
    """
    with _held(path) as held:
        server = _holder(path) if held else NO_LOCK
        server.announce("")  # the former server may have been killed
        yield server
        server.announce("")


@contextmanager
def _held(path: Path) -> Iterator[bool]:
    """Hold the lock; gives False where there are no locks."""
    from filelock import FileLock  # costs more than many a command, which locks nothing

    lock = FileLock(
        path, timeout=0, mode=LOCK_MODE, thread_local=False, fallback_to_soft=False, preserve_lock_file=True
    )
    held = _is_got(lock, path)
    try:
        yield held
    finally:
        lock.release()


def server_of(path: Path) -> str:
    """Say where a home is served, `at http://127.0.0.1:8765` or `by another process`; empty while it is not.

    Args:
        path: the lock file; it is not made.
    """
    if not os.path.isfile(path):  # noqa: PTH113  a home that nobody may look into has no server either
        return ""
    try:
        with _held(path):
            return ""
    except HomeServed:
        return _where(path)
    except HomeUnusable:
        return ""


def _is_got(lock: "BaseFileLock", path: Path) -> bool:
    from filelock import Timeout

    try:
        lock.acquire()
    except Timeout as error:
        raise _served(path) from error
    except NotImplementedError:
        return False
    except OSError as error:
        if error.errno in _CANNOT_LOCK:
            return False
        raise HomeUnusable(
            f"{path} cannot be used: {error.strerror or error}", hint="Move it away: OpenMind makes it anew."
        ) from error
    return True


NO_LOCK = SoleServer(announce=lambda _: None, is_sole=lambda: True)
"""For a home that cannot be locked: it is left alone."""


def _holder(path: Path) -> SoleServer:
    mine = _identity(path)

    def is_sole() -> bool:
        return _identity(path) == mine

    def announce(address: str) -> None:
        if is_sole():
            with suppress(OSError):  # Windows lets nobody write to a locked file
                path.write_text(address, encoding="utf-8")

    return SoleServer(announce=announce, is_sole=is_sole)


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file has the name; None when none has."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _served(path: Path) -> HomeServed:
    return HomeServed(
        f"This memory, {path.parent}, is served {_where(path)} already",
        hint="Use that server, or end it first: all programs can share one.",
    )


def _where(path: Path) -> str:
    address = _address(path)
    return f"at {address}" if address else "by another process"


def _address(path: Path) -> str:
    """What the first server noted; empty before it listens, and where nobody may read a locked file."""
    try:
        with path.open(encoding="utf-8") as file:
            told = file.read(MOST_CHARS).strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return told if told.startswith("http://127.0.0.1:") and told.isprintable() else ""
