"""PDFium, used as it wants to be: one thread, and everything closed in order."""

import ctypes
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from attrs import frozen
from openmind.domain.documents import DocumentFacts
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob
from openmind.ports.ocr_engine import PageImage

from openmind_extractors.letter_spacing import CharBox
from openmind_extractors.limits import MAX_HEADING_CHARS, MAX_METADATA_CHARS
from openmind_extractors.raised_figures import apart
from openmind_extractors.titles import sensible_title

RENDER_DPI = 160
"""Recognition shrinks pictures to 2,000 pixels, which A4 has at 170 dpi; more only costs memory."""

MAX_RENDER_PIXELS = 12_000_000
"""A page may say that it is 70 metres wide."""

MIN_RENDER_DPI = 20
"""Below, nothing can be read: the page is a plan or a trick."""

LARGE_PICTURE_SHARE = 0.25
"""Of the page: a scan, or a picture that may hold text."""

MANY_STROKES = 200
"""Lines of a frame or a table are dozens; letters that were turned into curves are one each."""

MAX_BOOKMARKS = 10_000
MAX_BOOKMARK_DEPTH = 8

POINTING_SLACK = 5.0
"""Points by which a bookmark may point into its title."""

MAX_ANNOTATIONS = 2_000
"""Comments and fields of one page; a form has some hundred."""

MAX_ATTACHMENTS = 50
"""Attachments whose names are kept: they go with each passage."""

_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?")


@frozen
class Bookmark:
    """An entry of the document's own table of contents."""

    level: int
    title: str
    page: int
    left: float = 0.0
    top: float = 0.0
    """The place that it points at, in points from the left and from the bottom of the page; 0 when it names none."""


@frozen
class Note:
    """What somebody wrote on a page: a comment, or the value of a form field."""

    kind: str
    """`annotation` or `form`, as segments have it."""
    text: str


class _TextPage(Protocol):
    def get_text_bounded(self, left: float | None = None, *, top: float | None = None) -> str: ...
    def get_text_range(self) -> str: ...
    def close(self) -> None: ...


@frozen
class PdfiumPage:
    """A page that is open."""

    index: int
    _page: Any
    _forms: Any

    def text(self) -> str:
        """Return the text within the page's borders, as PDFium orders it."""
        textpage: _TextPage = self._page.get_textpage()
        try:
            text = textpage.get_text_bounded()
            if self._page.get_rotation():
                # Of lines along the page's other side PDFium only keeps apart those it is not asked to bound.
                whole = textpage.get_text_range()
                return whole if _letters(whole) == _letters(text) else text
            return apart(text, textpage)
        finally:
            textpage.close()

    def boxes_of(self, lines: Sequence[str]) -> list[list[CharBox]]:
        """Return where the characters of some lines stand; nothing of lines that are not found or do not lie flat."""
        if not lines or self._page.get_rotation():
            return [[] for _ in lines]
        textpage = self._page.get_textpage()
        try:
            text = textpage.get_text_range()
            return [_boxes(textpage, text.find(line), len(line)) for line in lines]
        finally:
            textpage.close()

    def text_from(self, bookmark: Bookmark) -> str:
        """Return the text below and right of the place that a bookmark points at; empty when it points at none."""
        if bookmark.top <= 0 or self._page.get_rotation():
            return ""
        textpage: _TextPage = self._page.get_textpage()
        try:
            return textpage.get_text_bounded(left=bookmark.left - POINTING_SLACK, top=bookmark.top)
        finally:
            textpage.close()

    def shows_more_than_text(self) -> bool:
        """Whether a picture covers a good part of the page, or so much is drawn that it may be letters."""
        import pypdfium2.raw as raw

        width, height = self._page.get_size()
        area, drawn = 0.0, 0
        for item in self._page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH), max_depth=3):
            if item.type == raw.FPDF_PAGEOBJ_PATH:
                drawn += 1
            else:
                left, bottom, right, top = item.get_bounds()
                area += abs(right - left) * abs(top - bottom)
            if area > LARGE_PICTURE_SHARE * width * height or drawn > MANY_STROKES:
                return True
        return False

    def render(self, dpi: float = RENDER_DPI) -> PageImage | None:
        """Render the page in grey, smaller where it is huge; None when it cannot be, or nothing could be read then."""
        import pypdfium2

        width, height = self._page.get_size()
        scale = dpi / 72
        pixels = width * height * scale * scale
        if pixels > MAX_RENDER_PIXELS:
            scale *= (MAX_RENDER_PIXELS / pixels) ** 0.5
        if scale * 72 < min(MIN_RENDER_DPI, dpi) or not width or not height:
            return None
        try:
            bitmap = self._page.render(scale=scale, grayscale=True)
        except pypdfium2.PdfiumError:  # no memory for the picture, or a side too long for it
            return None
        try:
            stride, columns, rows = bitmap.stride, bitmap.width, bitmap.height
            data = bytes(bitmap.buffer)
        finally:
            bitmap.close()
        if stride != columns:
            data = b"".join(data[row * stride : row * stride + columns] for row in range(rows))
        return PageImage(pixels=data, width=columns, height=rows, channels=1)

    def notes(self) -> tuple[tuple[Note, ...], int]:
        """Return comments and filled-in form fields in the order of the page, and how many there are of all kinds."""
        import pypdfium2.raw as raw

        found = []
        count = raw.FPDFPage_GetAnnotCount(self._page)
        for index in range(min(count, MAX_ANNOTATIONS)):
            annotation = raw.FPDFPage_GetAnnot(self._page, index)
            if not annotation:
                continue
            try:
                note = self._note(annotation)
            finally:
                raw.FPDFPage_CloseAnnot(annotation)
            if note:
                found.append(note)
        return tuple(found), count

    def _note(self, annotation: Any) -> Note | None:
        import pypdfium2.raw as raw

        subtype = raw.FPDFAnnot_GetSubtype(annotation)
        if subtype == raw.FPDF_ANNOT_WIDGET:
            return self._form_value(annotation)
        if subtype in {raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP}:
            return None
        text = _wide_string(lambda buffer, size: raw.FPDFAnnot_GetStringValue(annotation, b"Contents", buffer, size))
        return Note("annotation", text) if text else None

    def _form_value(self, annotation: Any) -> Note | None:
        import pypdfium2.raw as raw

        if self._forms is None:
            return None
        value = _wide_string(
            lambda buffer, size: raw.FPDFAnnot_GetFormFieldValue(self._forms, annotation, buffer, size)
        )
        if not value or value == "Off":
            return None
        name = _wide_string(
            lambda buffer, size: raw.FPDFAnnot_GetFormFieldAlternateName(self._forms, annotation, buffer, size)
        ) or _wide_string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldName(self._forms, annotation, buffer, size))
        return Note("form", f"{name}: {value}" if name else value)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _boxes(textpage: Any, first: int, count: int) -> list[CharBox]:
    """Return where some characters of a page's text stand; nothing when the text has no such place."""
    import pypdfium2.raw as raw

    found = []
    for offset in range(count if first >= 0 else 0):
        index = raw.FPDFText_GetCharIndexFromTextIndex(textpage, first + offset)
        if index < 0:
            return []
        left, bottom, right, top = textpage.get_charbox(index)
        found.append(CharBox(left, right, top - bottom))
    return found


def _place(target: Any) -> tuple[float, float]:
    """Return the place on its page that a destination names, from the left and from the bottom."""
    import pypdfium2.raw as raw

    mode, values = target.get_view()
    if mode == raw.PDFDEST_VIEW_XYZ and len(values) >= 2:
        return values[0], values[1]
    if mode in {raw.PDFDEST_VIEW_FITH, raw.PDFDEST_VIEW_FITBH} and values:
        return 0.0, values[0]
    if mode == raw.PDFDEST_VIEW_FITR and len(values) == 4:
        return values[0], values[3]
    return 0.0, 0.0


def _wide_string(read: Any) -> str:
    """Call a function of PDFium that fills a buffer with UTF-16 and says how many bytes that takes."""
    size = read(None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    read(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace").strip()


@frozen
class PdfiumDocument:
    """A document that is open."""

    _document: Any

    def __len__(self) -> int:
        return len(self._document)

    @contextmanager
    def page(self, index: int) -> Iterator[PdfiumPage]:
        """Open a page.

        Raises:
            ExtractionFailed: this page is broken.
        """
        import pypdfium2

        try:
            page = self._document[index]
        except pypdfium2.PdfiumError as error:
            raise ExtractionFailed(f"page {index + 1} is broken") from error
        try:
            yield PdfiumPage(index, page, self._document.formenv)
        finally:
            page.close()

    def label(self, index: int) -> str:
        """Return what the document calls the page, when that is not its number."""
        label = str(self._document.get_page_label(index)).strip()
        return "" if label == str(index + 1) else label[:MAX_HEADING_CHARS]

    def bookmarks(self) -> list[Bookmark]:
        """Return the document's own table of contents, as far as the limits go."""
        found: list[Bookmark] = []
        for item in self._document.get_toc(max_depth=MAX_BOOKMARK_DEPTH):
            target = item.get_dest()
            page = target.get_index() if target else None
            title = " ".join(item.get_title().split())
            if page is not None and title:
                found.append(Bookmark(item.level + 1, title[:MAX_HEADING_CHARS], page, *_place(target)))
            if len(found) > MAX_BOOKMARKS:  # one more shows that there are
                break
        return found

    def facts(self) -> DocumentFacts:
        """Return title, author, dates and what else the document says of itself."""
        import pypdfium2.raw as raw

        told = {key: " ".join(value.split()) for key, value in self._document.get_metadata_dict().items()}
        metadata: dict[str, object] = {"file_type": "pdf", "page_count": len(self)}
        for key, name in (("Author", "author"), ("Subject", "subject"), ("Keywords", "keywords")):
            if told.get(key):
                metadata[name] = told[key][:MAX_METADATA_CHARS]
        for key, name in (("CreationDate", "created"), ("ModDate", "modified")):
            date = iso_date(told.get(key, ""))
            if date:
                metadata[name] = date
        if raw.FPDF_GetSecurityHandlerRevision(self._document) >= 0:
            metadata["restricted"] = True  # opens without a password, but its author forbids some uses
        if self._document.get_formtype() in {raw.FORMTYPE_XFA_FULL, raw.FORMTYPE_XFA_FOREGROUND}:
            metadata["form"] = "xfa"
        attachments = self._document.count_attachments()
        if attachments > 0:
            names = (
                self._document.get_attachment(index).get_name() for index in range(min(attachments, MAX_ATTACHMENTS))
            )
            metadata["attachments"] = [name[:MAX_HEADING_CHARS] for name in names]
        return DocumentFacts(title=sensible_title(told.get("Title", "")), metadata=metadata)


@contextmanager
def open_pdfium(blob: Blob) -> Iterator[PdfiumDocument]:
    """Open a document.

    Raises:
        ExtractionFailed: it has a password, or PDFium does not take it for a PDF.
    """
    import pypdfium2
    import pypdfium2.raw as raw

    try:
        document = pypdfium2.PdfDocument(blob.data if blob.data is not None else blob.path)
    except pypdfium2.PdfiumError as error:
        raise _refusal(str(error)) from error
    try:
        if document.get_formtype() != raw.FORMTYPE_NONE:
            document.init_forms()
        yield PdfiumDocument(document)
    finally:
        document.close()


def _refusal(told: str) -> ExtractionFailed:
    if "password" in told.lower() or "security" in told.lower():
        return ExtractionFailed("the document is protected by a password", reason=FileReason.ENCRYPTED)
    return ExtractionFailed("it is cut off, or no PDF")


def iso_date(value: str) -> str:
    """Turn `D:20240102030405+01'00'` into `2024-01-02T03:04:05`; empty when it is no date."""
    match = _DATE.match(value)
    if not match:
        return ""
    year, month, day, hour, minute, second = match.groups()
    date = "-".join(part for part in (year, month, day) if part)
    return f"{date}T{hour}:{minute}:{second or '00'}" if day and hour and minute else date
