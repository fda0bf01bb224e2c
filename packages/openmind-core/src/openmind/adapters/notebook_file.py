"""The file in the home that holds what providers learnt about their models."""

import json
from contextlib import suppress
from pathlib import Path
from threading import Lock

from attrs import define, field

from openmind.adapters.atomic import replace_file

MOST_NOTES = 200
"""Of more in one section, the oldest are forgotten."""
MAX_NAME, MAX_NOTE = 500, 200
"""Characters; a longer note, or one with a longer name, is not kept."""
MAX_BYTES = 1_000_000
"""A larger file is neither written nor read."""


Notes = dict[str, dict[str, str]]
"""By section and name, the oldest first."""


@define
class NotebookFile:
    """Keeps notes as one JSON object with an object for each section, readable by the owner alone.

    A section may hold so many notes of such a length that none takes the room of another. Two processes that write at
    once may lose a note of one of them: it is learnt again. A file that is damaged is an empty one; what cannot be
    written, or is no text, is not kept; and nothing is written where there is no home.
    """

    path: Path
    section: str
    """Whose notes these are; other sections of the file are left alone."""
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    def look_up(self, name: str) -> str:
        """See the port."""
        with self._lock:
            return self._read().get(self.section, {}).get(name, "") if is_text(name, MAX_NAME) else ""

    def note(self, name: str, told: str) -> None:
        """See the port."""
        if not (is_text(name, MAX_NAME) and is_text(told, MAX_NOTE)):
            return
        with self._lock:
            notes = self._read()
            own = notes.setdefault(self.section, {})
            if own.pop(name, None) == told:
                return
            own[name] = told
            notes[self.section] = dict(list(own.items())[-MOST_NOTES:])
            written = json.dumps(notes, ensure_ascii=True, indent=1).encode()
            if len(written) <= MAX_BYTES:
                with suppress(OSError):
                    replace_file(self.path, written)

    def _read(self) -> Notes:
        try:
            with self.path.open("rb") as file:
                found = json.loads(file.read(MAX_BYTES + 1))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {section: texts_of(notes) for section, notes in found.items() if isinstance(notes, dict)}


def texts_of(notes: dict[str, object]) -> dict[str, str]:
    return {name: told for name, told in notes.items() if isinstance(told, str)}


def is_text(told: object, most_chars: int) -> bool:
    """Whether it is text, as the port asks for, and not too long: a stranger's provider may hand over anything."""
    return isinstance(told, str) and len(told) <= most_chars
