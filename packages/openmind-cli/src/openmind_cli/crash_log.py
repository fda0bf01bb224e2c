"""Keeps what is needed to find a bug, and nothing of what a person has in their files."""

import json
import os
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from openmind.adapters.home import Home
from openmind.domain.errors import OpenMindError
from openmind.domain.traces import traced


def _now() -> datetime:
    return datetime.now(UTC)


def record_crash(error: BaseException, *, now: Callable[[], datetime] = _now) -> Path | None:
    """Append the error to the log of the home, or to a temporary file where there is no home.

    Messages of exceptions are left out: they may quote a document, a query or a token.

    Returns:
        The file, or None when none could be written.
    """
    entry = {"time": now().isoformat(), "level": "critical", "event": "crash", "errors": traced(error)}
    for folder in (_log_folder(), Path(tempfile.gettempdir())):
        if folder is not None:
            try:
                return _append(folder, json.dumps(entry))
            except OSError:
                continue
    return None


def _log_folder() -> Path | None:
    """The log folder of the home; a home is not created for the sake of a log."""
    home = Home.at(None)
    try:
        home.require()
    except OpenMindError:
        return None
    return home.logs


def _append(folder: Path, line: str) -> Path:
    if folder.name == "logs":
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / "openmind.log"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    else:
        # Not a fixed name: another user may have put a link there.
        handle, name = tempfile.mkstemp(prefix="openmind-crash-", suffix=".log", dir=folder)
        path = Path(name)
    with os.fdopen(handle, "a", encoding="utf-8") as log:
        log.write(line + "\n")
    return path
