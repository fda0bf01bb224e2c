"""Writes `openmind.log`: one JSON object a line, bounded, for its owner only, without a word of what people wrote."""

import json
import os
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from attrs import field, frozen

from openmind.domain.journal import Fact

LOG_FILE = "openmind.log"
MAX_BYTES = 1_000_000
"""Then the file becomes `openmind.log.1`, and that one `openmind.log.2`."""
KEPT = 2
"""Former files that are kept."""
MOST_CHARS = 32
"""Tokens have at least so many characters; ids, states and codes have fewer."""
_WORD = re.compile(r"[A-Za-z0-9_.:+-]*")
"""What an id, a state, a code or a version looks like; no sentence and no path does."""
LEFT_OUT = "…"


def utc_now() -> datetime:
    return datetime.now(UTC)


@frozen
class JsonlJournal:
    """A `Journal` in a file that several processes append to.

    Each event opens the file, so that it may be moved or deleted at any time, and is written in one piece, so that
    two processes never mix.
    """

    path: Path
    now: Callable[[], datetime] = utc_now
    max_bytes: int = MAX_BYTES
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False, eq=False)

    def note(self, event: str, **facts: Fact) -> None:
        """See the protocol; a log that cannot be written is no reason to fail."""
        entry = {
            "time": self.now().isoformat(timespec="milliseconds"),
            "pid": os.getpid(),
            "event": event,
            **{name: _harmless(fact) for name, fact in facts.items()},
        }
        line = (json.dumps(entry, ensure_ascii=True) + "\n").encode()
        with suppress(OSError), self._lock:
            self._append(line)

    def _append(self, line: bytes) -> None:
        if not self.path.parent.is_dir():  # a home is not made for the sake of a log
            return
        number = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.write(number, line)
            full = os.fstat(number).st_size >= self.max_bytes
            mine = os.fstat(number).st_ino
        finally:
            os.close(number)
        if full and self.path.stat().st_ino == mine:  # else another process was faster
            self._rotate()

    def _rotate(self) -> None:
        for number in range(KEPT, 0, -1):
            former = self.path if number == 1 else self.path.with_name(f"{self.path.name}.{number - 1}")
            with suppress(FileNotFoundError):
                former.replace(self.path.with_name(f"{self.path.name}.{number}"))


def _harmless(fact: Fact) -> Fact:
    """Leave out text that may be anything but a word of our own."""
    if isinstance(fact, float):
        return round(fact, 3)
    if isinstance(fact, str):
        return fact if len(fact) < MOST_CHARS and _WORD.fullmatch(fact) else LEFT_OUT
    return fact
