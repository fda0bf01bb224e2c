"""The two locks of a home: both belong to the operating system, so they die with their holder."""

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import field, frozen
from openmind.domain.errors import IndexingBusy, StoreError

from openmind_stores.sqlite.errors import busy, not_local, translate_os

LOCK_MODE = 0o600
POLL_S = 0.005

_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP})


@frozen
class CatalogLock:
    """Held for the milliseconds of a write to the catalog; excludes threads and processes alike.

    SQLite has a lock of its own, but before 3.51.3 two connections that write or checkpoint at the same moment could
    damage a database in WAL mode. Under this lock they never do.
    """

    path: Path
    timeout_s: float = 5.0
    _thread: threading.Lock = field(factory=threading.Lock, init=False, eq=False, repr=False)

    @contextmanager
    def hold(self, catalog: Path) -> Iterator[None]:
        """Hold the lock.

        Raises:
            StoreBusy: others held it for longer than the timeout.
            StoreReadOnly, StoreError: the lock file cannot be made.
        """
        deadline = time.monotonic() + self.timeout_s
        if not self._thread.acquire(timeout=self.timeout_s):
            raise busy(catalog)
        try:
            with _os_lock(self.path, max(0.0, deadline - time.monotonic())) as held:
                if not held:
                    raise busy(catalog)
                yield
        finally:
            self._thread.release()


@contextmanager
def hold_index_lock(path: Path, *, rests: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Hold the right to write passages; never waits.

    Args:
        path: the lock file.
        rests: asked when somebody else has it: whether that is a background job that is paused.

    Raises:
        IndexingBusy: another process, or another thread of this one, has it.
    """
    with _os_lock(path, 0.0) as held:
        if not held:
            pid = _read_pid(path)
            who = f"the process {pid}" if pid else "another process"
            if rests():
                raise IndexingBusy(
                    f"{who} holds this memory, and its background job is paused",
                    hint="`openmind index resume` lets it go on; `openmind index stop` ends it.",
                )
            raise IndexingBusy(
                f"{who} is indexing this memory", hint="Wait until it is done; `openmind status` shows how far it is."
            )
        _write_pid(path, str(os.getpid()))
        yield
        _write_pid(path, "")


@contextmanager
def _os_lock(path: Path, timeout_s: float) -> Iterator[bool]:
    """Take a lock file; yields whether it was got. The file stays: deleting it would let two holders in."""
    from filelock import FileLock, Timeout  # costs more than a whole `openmind status`, which takes no lock

    lock = FileLock(
        path,
        timeout=timeout_s,
        mode=LOCK_MODE,
        thread_local=False,
        poll_interval=POLL_S,
        fallback_to_soft=False,
        preserve_lock_file=True,
    )
    try:
        path.parent.stat()  # a home that is not there would be made, for everyone to look into
        lock.acquire()
    except FileNotFoundError as error:
        raise StoreError(f"{path.parent} is not there", hint="Run `openmind init` to create it.") from error
    except Timeout:
        yield False
        return
    except OSError as error:
        if error.errno in _NO_LOCKS:
            raise not_local(path) from error
        raise translate_os(error, path) from error
    except NotImplementedError as error:
        raise not_local(path) from error
    try:
        yield True
    finally:
        lock.release()


def _write_pid(path: Path, text: str) -> None:
    """Note who holds the lock, for people; the lock itself does not depend on it."""
    with suppress(OSError):  # Windows lets nobody write to a locked file
        path.write_text(text, encoding="ascii")


def _read_pid(path: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int(path.read_text(encoding="ascii"))
    return None
