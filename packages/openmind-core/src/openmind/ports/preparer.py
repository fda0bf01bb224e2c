"""The port to where files are prepared: this process, or worker processes."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from openmind.domain.preparation import Preparation, PreparationRequest


class Preparer(Protocol):
    """Prepares files. Serves one thread."""

    def prepare(
        self, requests: Iterable[PreparationRequest], *, while_waiting: Callable[[], None]
    ) -> Iterator[Preparation]:
        """Prepare each request; exactly one outcome a request, in the order of the requests.

        `requests` is read ahead only as far as the bytes under way stay within a bound. A failure is an outcome,
        never an error, whatever the file does.

        Args:
            requests: read by the calling thread.
            while_waiting: called now and then, several times a second, while an outcome takes long; what it raises
                ends the work.
        """
        ...

    def standing_still(self) -> AbstractContextManager[None]:
        """Let nothing go on in the background until the context ends; what was under way then goes on."""
        ...

    def close(self) -> None:
        """End what is under way, at once. Safe to call twice."""
        ...
