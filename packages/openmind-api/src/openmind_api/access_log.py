"""The access log: one JSON line for each request, without query, body or token."""

import errno
import json
import os
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from attrs import define, field, frozen
from openmind.domain.traces import traced

MAX_BYTES = 2 * 1024 * 1024
"""Then a new file begins; one former file is kept."""
FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT
FLAGS |= getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""What stands there in place of a file is neither followed nor waited for: that would hold up every request."""


@frozen(kw_only=True)
class AccessLine:
    """What is noted about one request."""

    request_id: str
    method: str
    path: str
    status: int
    """0 when the client left before there was an answer."""
    bytes: int
    seconds: float


@define(eq=False)
class _LogFile:
    """A file of lines, bounded: a full one is kept beside the next. Thread-safe.

    One that cannot be written, as on a full disk, is no reason to fail, nor to complain at each request. Where it was
    deleted meanwhile, as by `openmind flush`, a new one is begun. Plain calls of the system, as each request makes
    them: `logging` takes four times as long for the same.
    """

    path: str
    tell: Callable[[str], None]
    _opened: tuple[int, int, int] | None = field(default=None, init=False)
    """Descriptor, device and inode."""
    _failed: bool = field(default=False, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    def append(self, line: bytes) -> None:
        """Write a line; that lines are lost is told with the first of them."""
        with self._lock:
            try:
                self._write(line)
            except OSError:
                failed_before, self._failed = self._failed, True
                if not failed_before:
                    self.tell(f"{self.path} cannot be written. Requests are answered, and not noted meanwhile.")
            else:
                self._failed = False

    def close(self) -> None:
        """Close the file; it is opened again when a line is written."""
        opened, self._opened = self._opened, None
        if opened is not None:
            with suppress(OSError):  # what could not be written before cannot be now
                os.close(opened[0])

    def _write(self, line: bytes) -> None:
        found = self._found()
        if found is not None and found.st_size + len(line) > MAX_BYTES and stat.S_ISREG(found.st_mode):
            self.close()
            os.replace(self.path, f"{self.path}.1")  # noqa: PTH105  as quick as can be
            found = None
        if self._opened is None or found is None or self._opened[1:] != (found.st_dev, found.st_ino):
            self.close()
            self._opened = self._open()
        number = self._opened[0]
        if os.write(number, line) != len(line):
            os.ftruncate(number, 0 if found is None else found.st_size)  # half a line is none
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _found(self) -> os.stat_result | None:
        try:
            return os.lstat(self.path)
        except FileNotFoundError:
            return None

    def _open(self) -> tuple[int, int, int]:
        with suppress(OSError):  # the home may be gone, too; it is not for a log to make it
            Path(self.path).parent.mkdir(mode=0o700, exist_ok=True)
        number = os.open(self.path, FLAGS, 0o600)
        known = os.fstat(number)
        if not stat.S_ISREG(known.st_mode):
            os.close(number)
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return number, known.st_dev, known.st_ino


class ServerLog:
    """Writes `api.jsonl`: requests, and failures that are bugs.

    Args:
        path: the file; its folder is made where it is missing.
        now: tells the time.
        tell: takes a sentence for a person when the file cannot be written: one until it can be again.
    """

    def __init__(
        self,
        path: Path,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._now = now
        self._file = _LogFile(str(path), tell)

    def access(self, line: AccessLine) -> None:
        """Note a request."""
        self._write(
            {
                "event": "request",
                "request_id": line.request_id,
                "method": line.method,
                "path": line.path,
                "status": line.status,
                "bytes": line.bytes,
                "ms": round(line.seconds * 1000, 2),
            }
        )

    def bug(self, request_id: str, error: BaseException) -> None:
        """Note where an unforeseen error came from."""
        self._write({"event": "bug", "request_id": request_id, "errors": traced(error)})

    def warning(self, sentence: str) -> None:
        """Note what a person should know about the server itself."""
        self._write({"event": "warning", "message": sentence})

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, entry: dict[str, object]) -> None:
        text = json.dumps({"time": self._now().isoformat(timespec="milliseconds"), **entry}, ensure_ascii=True)
        self._file.append(f"{text}\n".encode("ascii"))
