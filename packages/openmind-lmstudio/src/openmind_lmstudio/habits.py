"""What the models of a server are known to do with their thoughts."""

import re
import threading

from openmind_lmstudio.models import Dialect
from openmind_lmstudio.readiness import Ready
from openmind_lmstudio.thinking import thinks_unmarked

_THINKING_NAME = re.compile(r"think|reason|(^|[-_/.])(r1|qwq|z1)([-_.:@]|$)", re.IGNORECASE)


class Habits:
    """Tells whether a model's answer may begin within a thought. Thread-safe; forgotten with the process.

    A chat template that opens a thought does so every time, so one whole answer settles it for a model and a
    reasoning setting.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._unmarked: dict[tuple[str, str | None], bool] = {}

    def may_think_unmarked(self, ready: Ready, reasoning: str | None) -> bool:
        """By what was seen; before anything was, by what the server and the model's name tell."""
        with self._lock:
            seen = self._unmarked.get((ready.model.key, reasoning))
        if seen is not None:
            return seen
        told = ready.dialect is Dialect.NATIVE and not ready.model.reasoning
        return not told or _THINKING_NAME.search(ready.model.key) is not None

    def note(self, ready: Ready, reasoning: str | None, answer: str) -> None:
        """Learn from a whole answer, as it came."""
        if answer.strip():
            with self._lock:
                place = (ready.model.key, reasoning)
                self._unmarked[place] = self._unmarked.get(place, False) or thinks_unmarked(answer)
