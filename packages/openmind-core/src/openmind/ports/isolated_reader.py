"""The port to disposable processes that read hostile files."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from attrs import field, frozen

from openmind.domain.documents import ExtractedDocument, Picture
from openmind.domain.files import FileReason
from openmind.domain.recognition import PageNews, PageText


@frozen(kw_only=True)
class ReadRequest:
    """A file to be read in isolation."""

    ticket: int
    """Names the request; comes back with the outcome."""
    path_bytes: bytes
    extractor: str
    size: int
    """Bytes; time limits grow with it."""
    ocr: bool = True
    """Whether OCR may be used."""
    defer_ocr: bool = False
    """Whether a file that needs OCR comes back `deferred` at once, to be asked for again when there is time."""
    recognised: tuple[PageText, ...] = field(default=(), repr=False)
    """What OCR read in this file before: it is not read again."""


@frozen(kw_only=True)
class ReadOutcome:
    """What became of a request."""

    ticket: int
    document: ExtractedDocument | None = None
    """None when nothing could be read; a document that was cut off says `partial`."""
    reason: FileReason = FileReason.OK
    message: str = ""
    deferred: bool = False
    """Whether nothing was read because it needs OCR."""
    picture: Picture | None = field(default=None, repr=False)
    """What a model may describe."""


class IsolatedReader(Protocol):
    """Runs extractors in processes that may die. Serves one thread."""

    def read(
        self,
        requests: Iterable[ReadRequest],
        *,
        while_waiting: Callable[[], None],
        recognised: Callable[[int, PageNews], None],
    ) -> Iterator[ReadOutcome]:
        """Read each file; exactly one outcome a request, in the order of the requests.

        A crash, a hang or a memory blow-up ends that one file with a reason and is never an error.

        Args:
            requests: read by the calling thread.
            while_waiting: called now and then, several times a second, while an outcome takes long; what it raises
                ends the work.
            recognised: called for each page when OCR comes to it, and when it was read or is known from before, with
                the ticket of its file: by the calling thread, before the outcome.
        """
        ...

    def standing_still(self) -> AbstractContextManager[None]:
        """Let nothing go on in the background until the context ends; what was under way then goes on."""
        ...

    def close(self) -> None:
        """End what is under way, at once. Safe to call twice."""
        ...
