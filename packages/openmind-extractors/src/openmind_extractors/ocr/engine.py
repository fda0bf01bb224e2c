"""An OCR engine as extractors use it: started when it is needed, spared where there is nothing to read."""

from attrs import define, field
from openmind.domain.errors import ExtractionFailed
from openmind.domain.text import clean
from openmind.plugins.registries import ExtractionTools
from openmind.ports.ocr_engine import OcrEngine, OcrText, PageImage
from PIL import Image, ImageFilter

from openmind_extractors.page_text import mend
from openmind_extractors.text_quality import has_lost_spaces

MIN_INK_SHARE = 0.0002
"""Pixels that stand out from the paper; a single line of ten letters on A4 has twice as many."""

MIN_EDGE_SHARE = 0.0003
"""Pixels on an edge; a photo of the sky has fewer, any text has more."""

_LOOKED_AT_PIXELS = 1_500
_STANDS_OUT = 48
_IS_EDGE = 60

LOW_CONFIDENCE = 0.7
"""The engine's own figure; below, its text is a guess."""


@define
class Recognition:
    """The recognition of one document's pages, and what has to be told of it."""

    _tools: ExtractionTools
    engine_name: str = ""
    error: str = ""
    """Why there is no recognition, or why a page failed."""
    pages: int = 0
    """Pages that were read."""
    doubtful: list[int] = field(factory=list)
    """Pages of whose text the engine itself is unsure; 0 for a picture that is its own document."""
    warnings: list[str] = field(factory=list)
    _engine: OcrEngine | None = None
    _is_started: bool = False

    @property
    def is_wanted(self) -> bool:
        """Whether recognition is switched on and has not failed to start."""
        return self._tools.ocr is not None and not (self._is_started and self._engine is None)

    def read(self, image: PageImage) -> str | None:
        """Recognise a page; None when there is no engine, or when it fails on this page."""
        engine = self._start()
        if engine is None:
            return None
        try:
            found = engine.read(image)
        except ExtractionFailed as failure:
            self.error = failure.told
            return None
        if found.warning and not found.text:
            self.error = found.warning
            return None
        self.pages += 1
        if found.warning:
            self.doubtful.append(image.page)
        self._judge(found)
        return mend(clean(found.text))

    def _start(self) -> OcrEngine | None:
        if not self._is_started:
            self._is_started = True
            try:
                self._engine = self._tools.ocr() if self._tools.ocr else None
            except ExtractionFailed as failure:
                self.error = failure.told
            else:
                self.engine_name = self._engine.name if self._engine else ""
        return self._engine

    def _judge(self, found: OcrText) -> None:
        """Remember what makes the text doubtful."""
        warning = found.warning
        if not warning and has_lost_spaces(found.text):
            warning = "spaces between words were not recognised"
        if not warning and found.text and found.confidence < LOW_CONFIDENCE:
            warning = "the text was hard to recognise"
        if warning and warning not in self.warnings:
            self.warnings.append(warning)

    def metadata(self, renderer: str = "") -> dict[str, object]:
        """Return what to record: that text was recognised, by what, how well.

        Args:
            renderer: what made pictures of the pages; named with the engine.
        """
        told: dict[str, object] = {"ocr_used": self.pages > 0}
        if self.pages:
            told["ocr_engine"] = f"{self.engine_name}+{renderer}" if renderer else self.engine_name
            told["ocr_quality"] = "low" if self.warnings else "good"
        if self.warnings:
            told["ocr_warnings"] = list(self.warnings)
        error = self.error or (self.warnings[0] if self.doubtful else "")
        if error:
            told["ocr_error"] = error
        return told


def is_blank(image: PageImage) -> bool:
    """Whether a page is certainly without text: one even colour, or soft shades without an edge."""
    picture = as_picture(image).convert("L")
    factor = max(image.width, image.height) // _LOOKED_AT_PIXELS
    picture = picture.reduce(factor) if factor > 1 else picture  # the edges of huge letters are soft
    histogram = picture.histogram()
    total = picture.width * picture.height
    paper = max(range(256), key=histogram.__getitem__)
    ink = total - sum(histogram[max(0, paper - _STANDS_OUT) : paper + _STANDS_OUT + 1])
    if ink < MIN_INK_SHARE * total:
        return True
    edges = picture.filter(ImageFilter.FIND_EDGES)
    if min(edges.size) > 4:
        edges = edges.crop((1, 1, edges.width - 1, edges.height - 1))  # the filter leaves the border as it was
    return sum(edges.histogram()[_IS_EDGE:]) < MIN_EDGE_SHARE * total


def as_picture(image: PageImage) -> Image.Image:
    """Return the page as a picture of Pillow."""
    mode = "L" if image.channels == 1 else "RGB"
    return Image.frombytes(mode, (image.width, image.height), image.pixels)
