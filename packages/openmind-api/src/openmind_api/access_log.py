"""The access log: one JSON line for each request, without query, body or token."""

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

from attrs import frozen
from openmind.domain.traces import traced

MAX_BYTES = 2 * 1024 * 1024
"""Then a new file begins; one former file is kept."""


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


class _Quiet(RotatingFileHandler):
    """A log that cannot be written, as on a full disk, is no reason to fail, nor to complain at each request.

    Where the file was deleted meanwhile, as by `openmind flush`, a new one is begun.
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        super().__init__(path, maxBytes=MAX_BYTES, backupCount=1, encoding="utf-8", delay=True)
        self._tell = tell
        self._failed = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; that lines are lost is told with the first of them."""
        failed_before, self._failed = self._failed, False
        if not Path(self.baseFilename).exists():
            if self.stream is not None:
                with suppress(OSError):  # what could not be written before cannot be now
                    self.stream.close()
            self.stream = None  # opened when it is written to
            with suppress(OSError):  # the home may be gone, too; it is not for a log to make it
                Path(self.baseFilename).parent.mkdir(mode=0o700, exist_ok=True)
        super().emit(record)
        if self._failed and not failed_before:
            self._tell(f"{self.baseFilename} cannot be written. Requests are answered, and not noted meanwhile.")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  the name is logging's
        """Remember it."""
        self._failed = True


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
        self._handler = _Quiet(path, tell)

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
        self._handler.close()

    def _write(self, entry: dict[str, object]) -> None:
        text = json.dumps({"time": self._now().isoformat(timespec="milliseconds"), **entry}, ensure_ascii=True)
        self._handler.handle(logging.LogRecord("openmind.api", logging.INFO, "", 0, text, None, None))
