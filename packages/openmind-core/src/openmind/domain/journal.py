"""The journal: what happened, in words of our own and in numbers. What people wrote, or look for, is never in it."""

from typing import Protocol

Fact = str | int | float | bool | None


class Journal(Protocol):
    """Notes events for whoever has to find out what went wrong. Thread-safe; never fails."""

    def note(self, event: str, **facts: Fact) -> None:
        """Note an event.

        Args:
            event: its name, such as `index.finished`.
            facts: numbers, ids, states and codes; text that is none of these is left out.
        """
        ...


class Silence:
    """A journal that nobody reads."""

    def note(self, event: str, **facts: Fact) -> None:
        """Forget the event."""


SILENCE = Silence()
