"""The second opinion on a PDF: pypdf, for pages and files that PDFium reads badly or not at all."""

import logging
from io import BytesIO
from typing import TYPE_CHECKING

from attrs import define
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob

if TYPE_CHECKING:  # importing pypdf takes a second; few files need it
    from pypdf import PdfReader


@define
class PypdfPages:
    """The pages of a document, read on request; opening it waits for the first request."""

    _blob: Blob
    _reader: "PdfReader | None" = None
    _is_broken: bool = False

    def text(self, index: int) -> str:
        """Return a page's text, or nothing where pypdf cannot read it."""
        if self._is_broken:
            return ""
        try:
            return self._open().pages[index].extract_text()
        except ExtractionFailed:
            self._is_broken = True
            return ""
        except _failures():
            return ""  # one bad page says nothing of the others

    def has_pages(self, count: int) -> bool:
        """Whether the document has so many pages."""
        try:
            return self.count() == count
        except ExtractionFailed:
            return False

    def count(self) -> int:
        """Return the number of pages.

        Raises:
            ExtractionFailed: the file cannot be opened.
        """
        try:
            return len(self._open().pages)
        except _failures() as error:
            raise ExtractionFailed(f"its pages cannot be read ({error})"[:300]) from error

    def _open(self) -> "PdfReader":
        """Open the document, with the empty password where it has one.

        Raises:
            ExtractionFailed: it is damaged, or its password is not empty.
        """
        if self._reader is not None:
            return self._reader
        from pypdf import PdfReader

        logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells each flaw it mends
        try:
            source = BytesIO(self._blob.data) if self._blob.data is not None else self._blob.path
            assert source is not None
            reader = PdfReader(source)
            if reader.is_encrypted and not reader.decrypt(""):
                raise ExtractionFailed("the document is protected by a password", reason=FileReason.ENCRYPTED)
        except _failures() as error:
            raise ExtractionFailed(f"its pages cannot be read ({error})"[:300]) from error
        self._reader = reader
        return reader


def _failures() -> tuple[type[Exception], ...]:
    """Return what pypdf raises on purpose, and what it lets through of a broken file."""
    from pypdf.errors import DependencyError, PyPdfError

    return (
        PyPdfError,
        DependencyError,
        ArithmeticError,
        AssertionError,
        AttributeError,
        LookupError,
        NotImplementedError,
        OSError,
        RecursionError,
        TypeError,
        ValueError,
    )
