"""Follows logs as they grow, through rotation and deletion."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from attrs import define, field
from openmind.domain.errors import UsageError

from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.render.clean import one_line

LOOK_EVERY_S = 0.3
BLOCK = 65_536


@define
class Followed:
    """A log and how far it was shown."""

    path: Path
    name: str = ""
    """Stands before each line when several logs are shown."""
    _at: int = field(default=0, init=False)
    _file: int = field(default=0, init=False)
    _rest: bytes = field(default=b"", init=False)

    def fresh(self) -> list[str]:
        """Read the whole lines that were added."""
        try:
            state = self.path.stat()
            if state.st_ino != self._file or state.st_size < self._at:  # it was rotated, or written anew
                self._at, self._file, self._rest = 0, state.st_ino, b""
            with self.path.open("rb") as file:
                file.seek(self._at)
                data = file.read()
        except OSError:
            return []
        self._at += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [line.decode("utf-8", "replace") for line in lines]


def last_lines(log: Followed, count: int) -> None:
    """Print the last lines of a log."""
    lines = log.fresh()
    _print(log, lines[-count:] if count else [])


def follow(logs: Sequence[Followed], *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Print what is added to logs until Ctrl-C."""
    try:
        while True:
            sleep(LOOK_EVERY_S)
            for log in logs:
                _print(log, log.fresh())
    except KeyboardInterrupt:
        return  # which is how one leaves


def stream_lm_studio() -> int:
    """Show what LM Studio is asked, by its own program.

    Raises:
        UsageError: `lms` is not installed.
    """
    program = shutil.which("lms")
    if program is None:
        raise UsageError(
            "The program `lms` is not found here",
            hint="It comes with LM Studio: start LM Studio once, then run `npx lmstudio install-cli`.",
        )
    try:
        return OK if subprocess.run([program, "log", "stream"], check=False).returncode == 0 else FAILED
    except KeyboardInterrupt:
        return OK


def _print(log: Followed, lines: Iterable[str]) -> None:
    for line in lines:
        before = f"{log.name}: " if log.name else ""
        sys.stdout.write(f"{before}{one_line(line)}\n")
    sys.stdout.flush()
