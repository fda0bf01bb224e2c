"""What a reader leaves out of a file, so that a person is told of it."""

from collections.abc import Callable
from typing import TypeVar

from attrs import define, evolve, field
from openmind.domain.documents import DocumentFacts
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason

Read = TypeVar("Read")

_SHOWN = 5
"""Losses that are named; of a file with hundreds the sentence would not end."""


@define
class Losses:
    """What was not read of a file, in the order in which it was noticed. It is false while that is nothing."""

    _notes: dict[str, None] = field(factory=dict)

    def __bool__(self) -> bool:
        return bool(self._notes)

    def add(self, note: str) -> None:
        """Remember what was left out, in words that begin amid a sentence; the same is told once."""
        self._notes[note] = None

    def beyond(self, limit: int, total: int, things: str) -> None:
        """Remember that of so many things only the first were read, if there are more than the limit."""
        if total > limit:
            self.add(f"only the first {limit:,} of {total:,} {things} were read")

    def attempt(self, part: str, read: Callable[[], Read], otherwise: Read) -> Read:
        """Read a part that the rest can do without; of one that is damaged remember it, and go on with something else.

        Raises:
            ExtractionFailed: it fails for another reason than damage.
        """
        try:
            return read()
        except ExtractionFailed as failure:
            if failure.reason is not FileReason.DAMAGED:
                raise
            self.add(f"{part} was left out: {failure.message[0].lower()}{failure.message[1:].rstrip('.')}")
            return otherwise

    def told(self, facts: DocumentFacts) -> DocumentFacts:
        """Return the facts of a document with what was left out of it: it is `partial`, if that is anything.

        Raises:
            ExtractionFailed: nothing else was read.
        """
        if not self._notes:
            return facts
        if facts.reason not in {FileReason.OK, FileReason.PARTIAL}:
            raise ExtractionFailed(self.note)
        note = "; ".join(filter(None, (facts.note, self.note)))
        return evolve(facts, reason=FileReason.PARTIAL, note=note)

    @property
    def note(self) -> str:
        """What was left out, a few of many."""
        shown = list(self._notes)
        more = f"; and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        return "; ".join(shown[:_SHOWN]) + more
