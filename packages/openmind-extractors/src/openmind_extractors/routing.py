"""The reader for a file, chosen by its content; its name is only a hint."""

import codecs
from collections.abc import Iterator

from attrs import define, field
from openmind.domain.documents import DocumentFacts, Picture, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.paths import extension_of
from openmind.plugins.registries import ExtractionTools
from openmind.ports.extractor import Blob, Extractor

from openmind_extractors.archives import open_archive
from openmind_extractors.decoding import decode
from openmind_extractors.plain import PlainExtractor
from openmind_extractors.plugin import TEXT_EXTENSIONS
from openmind_extractors.reading import read_start
from openmind_extractors.sniffing import SNIFF_BYTES, FileKind, sniff

_TEXTUAL = frozenset({"html", "csv", "mail", "notebook"})
"""Formats without a mark of their own: their files begin with anything."""

_OLE_SEARCH_BYTES = 1_000_000
"""The directory of an old Office file, which tells what it is, mostly stands within this."""

_TEXT_BYTES = 65_536
"""Enough to tell text from other bytes."""

_NOT_OF_ITS_KIND = frozenset({FileReason.DAMAGED, FileReason.TOO_BIG})
"""What readers say of text that begins like their files: letters in place of a size are a very large one."""

_OLD_OFFICE = tuple(name.encode("utf-16-le") for name in ("WordDocument", "Workbook", "PowerPoint Document"))

_MAIN_PARTS = {
    "word/": "docx",
    "ppt/": "pptx",
    "xl/": "sheets",
}
_MIME_TYPES = {
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.spreadsheet": "sheets",
}


@define
class RoutedExtractor:
    """Reads a file with the reader for what it really is."""

    own: str
    """The format that the file's extension promises."""
    _tools: ExtractionTools
    _built: dict[str, Extractor] = field(factory=dict)

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts | Picture]:
        """Yield what the right reader yields.

        Text that only speaks of a kind of files, in the words that they begin with, is read as the text it is.

        Raises:
            ExtractionFailed: the content is of a kind that is not read, or cannot be read.
        """
        begun = False
        try:
            name = route(self.own, blob)
            if name not in self._built:
                self._built[name] = build(name, self._tools)
            for each in self._built[name].extract(blob):
                begun = True
                yield each
        except ExtractionFailed as error:
            if begun or error.reason not in _NOT_OF_ITS_KIND or not _is_written_text(blob):
                raise
            yield from PlainExtractor(kinds=frozenset(FileKind)).extract(blob)


def route(own: str, blob: Blob) -> str:
    """Name the format of a file whose extension promises the format `own`.

    Raises:
        ExtractionFailed: nothing here reads files of its kind.
    """
    if extension_of(blob.name) in TEXT_EXTENSIONS:
        own = "text"  # what begins like a document comes here under any name
    head = read_start(blob, SNIFF_BYTES)
    if len(head) < SNIFF_BYTES and not head.strip():
        told = "there is nothing but blanks in it" if head else "there is not a single byte in it"
        raise ExtractionFailed(told, reason=FileReason.EMPTY)
    kind = sniff(head)
    if kind is FileKind.UNKNOWN and own not in _TEXTUAL and _is_text(blob, certainly=own == "image"):
        return "csv" if own == "sheets" else "text"
    if kind is FileKind.UNKNOWN or (own in _TEXTUAL and kind in {FileKind.XML, FileKind.SVG}):
        return own
    if kind is FileKind.PDF:
        return "pdf"
    if kind in {FileKind.PICTURE, FileKind.HEIC}:
        return "image"
    if kind is FileKind.ZIP:
        return _office_format(own, blob)
    if kind is FileKind.HTML:
        return own if own in {"mail", "notebook"} else "html"
    if kind is FileKind.OLE:
        raise _ole(blob)
    raise ExtractionFailed(
        f"the name says {own}, but this is {kind.told}, which is not read", reason=FileReason.UNSUPPORTED
    )


def _is_text(blob: Blob, *, certainly: bool) -> bool:
    """Whether a file without the mark that its kind has is plain text under a wrong name.

    Args:
        blob: the file.
        certainly: whether only UTF-8 counts. Broken pictures may look like text in the encodings of other days.
    """
    start = read_start(blob, _TEXT_BYTES)
    if b"%PDF" in start or b"\0" in start:
        return False  # a document behind what some server put before it, or broken
    try:
        decoded = decode(start, cut=True)
        return bool(decoded.text.strip()) and not (certainly and decoded.encoding not in {"ascii", "utf-8"})
    except ExtractionFailed:
        return False


def _is_written_text(blob: Blob) -> bool:
    """Whether a file that has the extension of text holds nothing else, as far as its beginning tells."""
    start = read_start(blob, _TEXT_BYTES)
    if extension_of(blob.name) not in TEXT_EXTENSIONS or b"\0" in start:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)  # which may end within a character
    except UnicodeDecodeError:
        return False
    return True


def _office_format(own: str, blob: Blob) -> str:
    """Look into a ZIP container."""
    with open_archive(blob) as archive:
        if archive.size("mimetype") < SNIFF_BYTES:
            mime = archive.read_if_there("mimetype").strip()
            if mime in _MIME_TYPES:
                return _MIME_TYPES[mime]
        for folder, name in _MAIN_PARTS.items():
            if any(member.startswith(folder) for member in archive.names):
                return name
        if "META-INF/container.xml" in archive.names:
            return "epub"
    if own in {"docx", "pptx", "sheets", "odt", "epub"}:
        return own  # its reader says what is missing
    raise ExtractionFailed(f"the name says {own}, but this is an archive", reason=FileReason.UNSUPPORTED)


def _ole(blob: Blob) -> ExtractionFailed:
    """Tell an old Office file from a new one that is encrypted: both come in the same container."""
    data = read_start(blob, _OLE_SEARCH_BYTES)
    if any(name in data for name in _OLD_OFFICE):
        return ExtractionFailed(
            "this is an old Office document",
            reason=FileReason.UNSUPPORTED,
            hint="Open it and save it as .docx, .xlsx or .pptx.",
        )
    return ExtractionFailed("the document is protected by a password", reason=FileReason.ENCRYPTED)


def build(name: str, tools: ExtractionTools) -> Extractor:
    """Build the reader of a format; what it needs is imported here and not before."""
    match name:
        case "html":
            from openmind_extractors.html import HtmlExtractor

            return HtmlExtractor()
        case "text":
            from openmind_extractors.plain import PlainExtractor

            return PlainExtractor()
        case "docx":
            from openmind_extractors.docx import DocxExtractor

            return DocxExtractor()
        case "csv":
            from openmind_extractors.tabular import TabularExtractor

            return TabularExtractor()
        case "pdf":
            from openmind_extractors.pdf import PdfExtractor

            return PdfExtractor(tools)
        case "image":
            from openmind_extractors.image import ImageExtractor

            return ImageExtractor(tools)
        case "notebook":
            from openmind_extractors.notebook import NotebookExtractor

            return NotebookExtractor()
        case "mail":
            from openmind_extractors.mail import MailExtractor

            return MailExtractor()
        case "sheets":
            from openmind_extractors.sheets import SheetsExtractor

            return SheetsExtractor()
        case "pptx":
            from openmind_extractors.slides import SlidesExtractor

            return SlidesExtractor()
        case "odt":
            from openmind_extractors.opendocument import OpenDocumentExtractor

            return OpenDocumentExtractor()
        case "epub":
            from openmind_extractors.epub import EpubExtractor

            return EpubExtractor()
        case _:
            raise ExtractionFailed(f"there is no reader named {name}", reason=FileReason.UNSUPPORTED)
