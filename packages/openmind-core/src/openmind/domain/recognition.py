"""Recognition: what OCR read on the picture of a page. It took seconds, so it is kept page by page."""

import hashlib

from attrs import frozen

from openmind.domain.documents import DocumentFacts, ExtractedDocument, Segment
from openmind.domain.files import WITHOUT_OCR

KEPT_AS = "ocr:"
"""Under names that begin with this the catalog keeps it, beside the text of the whole file."""
MISSED = "ocr_missed"
"""In the metadata: OCR was needed, and was switched off or could not start."""
_CONFIDENCE = "confidence"
_WARNING = "warning"


@frozen(kw_only=True)
class PageText:
    """What was read on a page."""

    name: str
    """Of the engine and the picture, see `picture_name`: what it read there once holds for every time."""
    text: str
    """Lines in reading order; empty when the page holds no text."""
    confidence: float = 1.0
    warning: str = ""


@frozen
class PageNews:
    """A page that OCR has come to, and where in its document it is."""

    read: PageText | None
    """None while it is being read."""
    page: int = 0
    """From 1; 0 when nobody counts."""
    pages: int = 0

    @property
    def place(self) -> str:
        """`page 12 of 300`, as far as it is known; empty for what has no pages."""
        return (f"page {self.page}" + (f" of {self.pages}" if self.pages else "")) if self.page else ""


def picture_name(engine: str, *, width: int, height: int, channels: int, pixels: bytes) -> str:
    """Name a picture by all that makes an engine read what it reads.

    Args:
        engine: its name and revision.
        width: of the picture.
        height: of the picture.
        channels: bytes of a pixel.
        pixels: of the picture.
    """
    digest = hashlib.sha256(b"%d %d %d " % (width, height, channels))
    digest.update(pixels)
    return f"{engine}/{digest.hexdigest()}"


def key_as_read(key: str, metadata: dict[str, object]) -> str:
    """Mark an extractor's key when what it read lacks what OCR would have read."""
    return key + WITHOUT_OCR if metadata.get(MISSED) is True else key


def as_document(read: PageText) -> ExtractedDocument:
    """Write a page as all kept texts are written."""
    segments = (Segment(text=read.text),) if read.text else ()
    return ExtractedDocument(
        segments=segments, facts=DocumentFacts(metadata={_CONFIDENCE: read.confidence, _WARNING: read.warning})
    )


def of_document(name: str, document: ExtractedDocument) -> PageText:
    """Read what `as_document` wrote."""
    metadata = document.facts.metadata
    confidence, warning = metadata.get(_CONFIDENCE), metadata.get(_WARNING)
    return PageText(
        name=name,
        text="".join(segment.text for segment in document.segments),
        confidence=confidence if isinstance(confidence, float) else 1.0,
        warning=warning if isinstance(warning, str) else "",
    )
