"""PDF documents: page by page, with recognition only where the text cannot be used."""

from collections.abc import Iterator, Sequence
from itertools import chain, repeat

from attrs import define, evolve, field, frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.recognition import MISSED
from openmind.domain.text import clean
from openmind.plugins.registries import ExtractionTools
from openmind.ports.extractor import Blob

from openmind_extractors.chapters import Chapters
from openmind_extractors.letter_spacing import LEAST_LETTERS, joined_letters
from openmind_extractors.limits import divided
from openmind_extractors.losses import Losses
from openmind_extractors.ocr.engine import Recognition, is_blank
from openmind_extractors.page_text import RunningHeads, mend
from openmind_extractors.pdf_bombs import refuse_bombs
from openmind_extractors.pdfium import (
    MAX_ANNOTATIONS,
    MAX_BOOKMARKS,
    Bookmark,
    Note,
    PdfiumDocument,
    PdfiumPage,
    open_pdfium,
)
from openmind_extractors.pypdf_pages import PypdfPages
from openmind_extractors.reading import told_as_reasons
from openmind_extractors.text_quality import Measures, Usability

MAX_PAGES = 5_000
"""More pages than any book has; a document may claim a hundred thousand that are all the same."""

MAX_OCR_PAGES = 2_000
"""At 5 to 10 seconds a page this is half a day."""

WINDOWS = (1, 4)
"""Pages that are looked at together before they are handed on: the first by itself, then those that show which lines
return on each. From there on each page is handed on as soon as it is read, so that the end of a reader takes none but
the page it was at."""

MAX_ODD_SHARE = 0.02
"""Unusual characters on a page before pypdf is asked; the marks of divided words are some."""

BLANK_TEST_DPI = 50

_TOO_LARGE = "too large to be recognised; print the document to a PDF with pages of an ordinary size"
_NOTHING_FOUND = "no text was found on them"


@frozen
class PdfExtractor:
    """Reads PDF documents."""

    tools: ExtractionTools

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield what is known first, then each page, then the final facts."""
        with told_as_reasons():
            refuse_bombs(blob)
        second = PypdfPages(blob)
        try:
            with open_pdfium(blob) as document:
                reading = _Reading(document, second, self.tools, document.facts())
                yield reading.facts
                yield from reading.pages()
                yield reading.final_facts()
                return
        except ExtractionFailed as failure:
            refusal = failure
        yield from _by_pypdf(second, refusal)


@frozen
class _Page:
    """A page after its text was read."""

    index: int
    text: str
    usability: Usability
    notes: tuple[Note, ...] = ()
    wants_ocr: bool = False


@define
class _Reading:
    """One document on its way through."""

    document: PdfiumDocument
    second: PypdfPages
    tools: ExtractionTools
    facts: DocumentFacts
    recognition: Recognition = field(init=False)
    path: Chapters = field(init=False)
    heads: RunningHeads = field(factory=RunningHeads)
    losses: Losses = field(factory=Losses)
    broken: list[int] = field(factory=list)
    waiting: list[int] = field(factory=list)
    """Pages that hold something but no usable text, and were not recognised."""
    pictured: list[int] = field(factory=list)
    """Pages that show something on which recognition found no line of text: a photo, or a failure to see one."""
    has_text: bool = False
    has_own_text: bool = False

    def __attrs_post_init__(self) -> None:
        self.recognition = Recognition(self.tools)
        bookmarks = self.document.bookmarks()
        if len(bookmarks) > MAX_BOOKMARKS:
            self.losses.add(f"only the first {MAX_BOOKMARKS:,} bookmarks were read")
        self.path = Chapters.of(bookmarks[:MAX_BOOKMARKS])

    def pages(self) -> Iterator[Segment | DocumentFacts]:
        """Yield the pages in order."""
        for window in self._windows():
            self.heads.learn([page.text for page in window])
            for page in window:
                yield from self._page(page)

    def _windows(self) -> Iterator[list[_Page]]:
        window: list[_Page] = []
        sizes = chain(WINDOWS, repeat(1))
        size = next(sizes)
        for index in range(min(len(self.document), MAX_PAGES)):
            try:
                with self.document.page(index) as page:
                    window.append(self._read(page))
            except ExtractionFailed:
                self._read_broken(index, window)
            if len(window) >= size:
                yield window
                size = next(sizes)
                window = []
        yield window

    def _read(self, page: PdfiumPage) -> _Page:
        """Read a page's own text, and see whether it will do."""
        min_chars = self.tools.config.ocr.min_text_chars_per_page
        measures = self._better(page.index, Measures.of(page.text()))
        if measures.lengths.count(1) >= LEAST_LETTERS:
            measures = Measures.of(joined_letters(measures.text, page.boxes_of))
        verdict = measures.usability(min_chars=min_chars)
        wants_ocr = verdict in {Usability.EMPTY, Usability.UNUSUAL, Usability.GLUED}
        if verdict is Usability.SPARSE:
            wants_ocr = page.shows_more_than_text()
        notes, count = page.notes()
        self.losses.beyond(MAX_ANNOTATIONS, count, f"notes and fields of page {page.index + 1}")
        return _Page(page.index, mend(measures.text), verdict, notes, wants_ocr)

    def _read_broken(self, index: int, window: list[_Page]) -> None:
        """Take what pypdf can read of a page that PDFium cannot open."""
        text = ""
        if self.second.has_pages(len(self.document)):  # else it counts differently, and this is another page
            text = mend(self.second.text(index))
        if text:
            window.append(_Page(index, text, Usability.OK))
        else:
            self.broken.append(index + 1)

    def _better(self, index: int, first: Measures) -> Measures:
        """Return pypdf's text where PDFium is known to be worse and pypdf's is better."""
        if not (first.is_letter_spaced or first.unusual_share > MAX_ODD_SHARE or first.is_right_to_left):
            return first
        if not self.second.has_pages(len(self.document)):
            return first
        second = Measures.of(self.second.text(index))
        if len(second.text) * 2 < len(first.text):
            return first
        if first.is_letter_spaced:
            return first if second.is_letter_spaced else second
        return second if second.unusual_share < first.unusual_share else first

    def _page(self, page: _Page) -> Iterator[Segment | DocumentFacts]:
        """Yield the parts of a page."""
        place = Place(kind="page", start=page.index + 1, label=self.document.label(page.index))
        text = self.heads.strip(page.text)
        self.has_own_text = self.has_own_text or bool(text)
        if page.wants_ocr:
            recognised = self._recognise(page)
            if len(recognised) > len(text) or (recognised and page.usability is not Usability.SPARSE):
                text = recognised
            if not text:
                yield self.facts  # a sign of life for whoever waits for the next page
        for path, part in self.path.divide(page.index, text, self._below):
            self.has_text = True
            yield Segment(text=part, locator=(place, *path))
        for note in page.notes:
            self.has_text = True
            for part in divided(clean(note.text)):
                yield Segment(text=part, locator=(place, *self.path.places), kind=note.kind)

    def _below(self, bookmark: Bookmark) -> str:
        """Return the text of a page from the place on that a bookmark points at."""
        try:
            with self.document.page(bookmark.page) as page:
                return mend(page.text_from(bookmark))
        except ExtractionFailed:
            return ""

    def _recognise(self, page: _Page) -> str:
        """Recognise a page; what could not be done is remembered."""
        wanted = self.recognition.is_wanted and self.recognition.pages < MAX_OCR_PAGES
        with self.document.page(page.index) as opened:
            image = opened.render() if wanted else opened.render(BLANK_TEST_DPI)
        if image is None:
            self.recognition.error = self.recognition.error or _TOO_LARGE
            self.waiting.append(page.index + 1)
            return ""
        if is_blank(image):
            return ""
        counted = evolve(image, page=page.index + 1, pages=len(self.document))
        text = self.recognition.read(counted) if wanted else None
        if text is None:
            self.waiting.append(page.index + 1)
        elif not text:
            self.pictured.append(page.index + 1)
        return text or ""

    def final_facts(self) -> DocumentFacts:
        """Sum up: what was read how, and what is missing."""
        used = self.recognition.pages > 0
        metadata: dict[str, object] = {
            **self.facts.metadata,
            "extraction_method": ("text+ocr" if self.has_own_text else "ocr") if used else "text",
            **self.recognition.metadata("" if self.recognition.engine_name == "ocrmypdf" else "pypdfium2"),
        }
        if self.pictured and not self.has_text:
            metadata.setdefault("ocr_error", _NOTHING_FOUND)
        if self.waiting and not self.recognition.is_wanted:
            metadata[MISSED] = True
        reason, note = self._reason()
        facts = evolve(self.facts, metadata=metadata, reason=reason, note=note)
        return self.losses.told(facts) if self.has_text else facts

    def _reason(self) -> tuple[FileReason, str]:
        is_off = "text recognition is off" if self.tools.ocr is None else ""
        why = is_off or self.recognition.error
        if not self.has_text:
            if self.waiting:
                return FileReason.NEEDS_OCR, f"its pages are pictures{f': {why}' if why else ''}"
            if self.pictured:
                return FileReason.NEEDS_OCR, f"its pages are pictures: {_NOTHING_FOUND}"
            if self.broken:
                raise ExtractionFailed("no page of the document can be read")
            if self.facts.metadata.get("form") == "xfa":
                return FileReason.UNSUPPORTED, "this is a dynamic form, which only Adobe's reader shows"
            return FileReason.EMPTY, "its pages are blank"
        told = []
        if len(self.document) > MAX_PAGES:
            told.append(f"only the first {MAX_PAGES:,} of {len(self.document):,} pages were read")
        if self.broken:
            told.append(f"{_numbers(self.broken)} cannot be read")
        if self.waiting:
            told.append(f"{_numbers(self.waiting)} could not be recognised{f' ({why})' if why else ''}")
        if self.recognition.doubtful:
            told.append(f"{_numbers(self.recognition.doubtful)}: {self.recognition.warnings[0]}")
        return (FileReason.PARTIAL, "; ".join(told)) if told else (FileReason.OK, "")


def _numbers(pages: Sequence[int]) -> str:
    """Name pages, a few of them: `pages 3, 7 and 5 more`."""
    shown = ", ".join(map(str, pages[:5]))
    more = f" and {len(pages) - 5} more" if len(pages) > 5 else ""
    return f"page{'s' if len(pages) > 1 else ''} {shown}{more}"


def _by_pypdf(pages: PypdfPages, refusal: ExtractionFailed) -> Iterator[Segment | DocumentFacts]:
    """Read a document that PDFium refuses; when pypdf cannot either, PDFium's reason stands."""
    try:
        count = pages.count()
    except ExtractionFailed as failure:
        raise (failure if failure.reason is FileReason.ENCRYPTED else refusal) from failure
    metadata: dict[str, object] = {"file_type": "pdf", "page_count": count, "extraction_method": "pypdf"}
    read = 0
    for index in range(min(count, MAX_PAGES)):
        text = mend(pages.text(index))
        if text:
            read += 1
            yield Segment(text=text, locator=(Place(kind="page", start=index + 1),))
    if not read:
        raise refusal
    partial = read < count
    note = f"{read} of {count} pages could be read" if partial else ""
    yield DocumentFacts(metadata=metadata, reason=FileReason.PARTIAL if partial else FileReason.OK, note=note)
