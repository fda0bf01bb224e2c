"""The port to file formats."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from attrs import field, frozen

from openmind.domain.documents import DocumentFacts, Picture, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import DESCRIBED, FileReason


@frozen(kw_only=True)
class ExtractorInfo:
    """What discovery must know of an extractor without importing it."""

    name: str
    version: int
    """Grows when the same bytes give another text; files are then read again."""
    extensions: frozenset[str]
    """Lower case, with the dot."""
    isolated: bool = True
    """Whether it must run in a disposable process: it parses with code that can crash or hang.

    One of another package always does, whatever it says here."""
    effort: int = 1
    """Order within a run, cheap files first: 0 plain text, 1 documents, 2 pictures and OCR."""
    code: bool = False
    """Whether it only reads files of sources that were added with `--code`."""
    pictures: bool = False
    """Whether it yields a `Picture` when `[extraction.images] model` is set. Only one that runs isolated may."""
    replaces: frozenset[str] = frozenset()
    """Names of extractors whose extensions it takes over where both claim them."""
    marks: tuple[bytes, ...] = ()
    """How files of this kind begin, for one that runs isolated: it also gets a file that begins like this and whose
    extension promises a reader without isolation, such as a PDF that is called `.txt`."""
    described_by: str = ""
    """That model; OpenMind fills it in."""

    @property
    def plain_key(self) -> str:
        """Name and version, `markdown/1`."""
        return f"{self.name}/{self.version}"

    @property
    def key(self) -> str:
        """Name and version, and the model that describes pictures, if one does: `image/1+model`."""
        return f"{self.plain_key}{DESCRIBED}{self.described_by}" if self.described_by else self.plain_key


@frozen(kw_only=True)
class Blob:
    """A file to extract: bytes on disk or in memory, with what is known of its type."""

    name: str
    """Displayable file name; only a hint."""
    path: Path | None = None
    data: bytes | None = field(default=None, repr=False)

    def head(self, size: int = 4_096) -> bytes:
        """Return the first `size` bytes, or fewer when the file is shorter.

        Raises:
            ExtractionFailed: the file is gone, or cannot be read.
        """
        if self.data is not None:
            return self.data[:size]
        assert self.path is not None
        with told_as_reasons(), self.path.open("rb") as file:
            return file.read(size)

    def read(self) -> bytes:
        """Return all bytes; only for extractors whose files are capped.

        Raises:
            ExtractionFailed: the file is gone, or cannot be read.
        """
        if self.data is not None:
            return self.data
        assert self.path is not None
        with told_as_reasons():
            return self.path.read_bytes()


@contextmanager
def told_as_reasons() -> Iterator[None]:
    """Translate what opening and reading a file can fail with; for extractors that open `Blob.path` themselves.

    Raises:
        ExtractionFailed
    """
    try:
        yield
    except FileNotFoundError as error:
        raise ExtractionFailed("the file is gone", reason=FileReason.VANISHED) from error
    except PermissionError as error:
        raise ExtractionFailed("the file may not be read", reason=FileReason.DENIED) from error
    except OSError as error:
        raise ExtractionFailed(f"the file cannot be read: {error.strerror or error}") from error


class Extractor(Protocol):
    """Turns one kind of file into segments of text. One object serves one thread."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts | Picture]:
        """Read a file piece by piece, in reading order.

        What was yielded before a failure is kept. A `Picture` is shown to the model that describes pictures, and of
        several the first. A file without text yields `DocumentFacts` whose reason
        says so. No network, nothing written, nothing read but the blob.

        Raises:
            ExtractionFailed: the file cannot be read (further); `reason` says why.
        """
        ...
