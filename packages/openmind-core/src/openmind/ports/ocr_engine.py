"""The port to optical character recognition."""

from typing import Protocol

from attrs import frozen


@frozen(kw_only=True)
class PageImage:
    """A rendered page: 8-bit grey or RGB pixels, row after row without padding."""

    pixels: bytes
    width: int
    height: int
    channels: int
    """1 or 3."""
    page: int = 0
    """Which one of its document it is, from 1, to tell how far the reading is; 0 when nobody counts."""
    pages: int = 0


@frozen(kw_only=True)
class OcrText:
    """What was read on a page."""

    text: str
    """Lines in reading order; empty when the page holds no text."""
    confidence: float = 1.0
    """0–1."""
    warning: str = ""
    """What a person should know: lost spaces, a script the model cannot read."""


class OcrEngine(Protocol):
    """Reads text from pictures of pages. One object serves one thread."""

    @property
    def name(self) -> str:
        """What ran, for metadata: `rapidocr`."""
        ...

    @property
    def revision(self) -> str:
        """Another one when the same picture may give another text: what was read before is then not used again."""
        ...

    def read(self, page: PageImage) -> OcrText:
        """Read one page.

        Raises:
            ExtractionFailed: the engine cannot run, or failed on this page.
        """
        ...
