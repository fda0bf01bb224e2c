"""The port to a provider's notebook: what it learnt about its models, kept from one process to the next."""

from typing import Protocol


class Notebook(Protocol):
    """Keeps short notes under short names. Thread-safe; never raises.

    What is kept must be cheap to learn again: a notebook may forget anything at any time. The one in the home keeps, of
    each provider, the 200 newest notes of at most 200 characters.
    """

    def look_up(self, name: str) -> str:
        """Return a note, empty when there is none."""
        ...

    def note(self, name: str, told: str) -> None:
        """Keep a note in place of the one of that name."""
        ...


class Forgetful:
    """A notebook without paper."""

    def look_up(self, name: str) -> str:
        return ""

    def note(self, name: str, told: str) -> None:
        return


FORGETFUL: Notebook = Forgetful()
"""For whoever keeps nothing."""
