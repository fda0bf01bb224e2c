"""What the models of a server are known to do with their thoughts."""

import re
import threading

from openmind.ports.notebook import FORGETFUL, Notebook

from openmind_lmstudio.models import Dialect
from openmind_lmstudio.readiness import Ready
from openmind_lmstudio.thinking import thinks_unmarked

_THINKING_NAME = re.compile(r"think|reason|(^|[-_/.])(r1|qwq|z1)([-_.:@]|$)", re.IGNORECASE)


_THINKS, _SPEAKS = "thinks", "speaks"


class Habits:
    """Tells whether a model's answer may begin within a thought. Thread-safe.

    A chat template that opens a thought does so every time, so one whole answer settles it for a build of a model on a
    server, and a reasoning setting. A model that thought once is held back for good.

    Args:
        notebook: where that is kept; of the answers themselves nothing is.
        server: its address.
    """

    def __init__(self, notebook: Notebook = FORGETFUL, *, server: str = "") -> None:
        self._lock = threading.Lock()
        self._notebook = notebook
        self._server = server
        self._seen: dict[str, str] = {}

    def may_think_unmarked(self, ready: Ready, reasoning: str | None) -> bool:
        """By what was seen; before anything was, by what the server and the model's name tell."""
        with self._lock:
            seen = self._known(self._place(ready, reasoning))
        if seen:
            return seen == _THINKS
        told = ready.dialect is Dialect.NATIVE and not ready.model.reasoning
        return not told or _THINKING_NAME.search(ready.model.key) is not None

    def note(self, ready: Ready, reasoning: str | None, answer: str) -> None:
        """Learn from a whole answer, as it came."""
        if answer.strip():
            place = self._place(ready, reasoning)
            with self._lock:
                before = self._known(place)
                now = _THINKS if before == _THINKS or thinks_unmarked(answer) else _SPEAKS
                if now != before:
                    self._seen[place] = now
                    self._notebook.note(place, now)

    def _place(self, ready: Ready, reasoning: str | None) -> str:
        return " ".join((self._server, ready.model.key, ready.model.revision or "-", reasoning or "-"))

    def _known(self, place: str) -> str:
        if place not in self._seen and (told := self._notebook.look_up(place)) in (_THINKS, _SPEAKS):
            self._seen[place] = told
        return self._seen.get(place, "")
