"""The file in the home that holds what providers learnt about their models."""

import json
from contextlib import suppress
from pathlib import Path
from threading import Lock

from attrs import define, field

from openmind.adapters.atomic import replace_file

MOST_NOTES = 200
"""Of more, the oldest are forgotten."""
MAX_BYTES = 100_000


@define
class NotebookFile:
    """Keeps notes as one JSON object, readable by the owner alone.

    Two processes that write at once may lose a note of one of them: it is learnt again. A file that is damaged, or
    cannot be written, is an empty one; and nothing is written where there is no home.
    """

    path: Path
    section: str
    """Whose notes these are; other sections of the file are left alone."""
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    def look_up(self, name: str) -> str:
        """See the port."""
        with self._lock:
            return self._read().get(self._full(name), "")

    def note(self, name: str, told: str) -> None:
        """See the port."""
        with self._lock:
            notes = self._read()
            if notes.get(self._full(name)) == told:
                return
            notes.pop(self._full(name), None)
            notes[self._full(name)] = told
            newest = dict(list(notes.items())[-MOST_NOTES:])
            with suppress(OSError):
                replace_file(self.path, json.dumps(newest, ensure_ascii=True, indent=1).encode())

    def _full(self, name: str) -> str:
        return f"{self.section} {name}"

    def _read(self) -> dict[str, str]:
        try:
            with self.path.open("rb") as file:
                found = json.loads(file.read(MAX_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {key: value for key, value in found.items() if isinstance(value, str)}
