"""Word documents."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import IO, TypeVar
from xml.parsers.expat import ExpatError

from attrs import define, field, frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob

from openmind_extractors.archives import ARCHIVE_FAILURES, Archive, open_archive
from openmind_extractors.blocks import Block, BlockReader, segments
from openmind_extractors.decoding import decode
from openmind_extractors.html import MAX_HTML_BYTES, read_page
from openmind_extractors.losses import Losses
from openmind_extractors.ooxml import Properties, drawing_text, parts, read_properties
from openmind_extractors.safe_xml import parse, refuse_doctype
from openmind_extractors.word_preparation import prepared
from openmind_extractors.word_xml import Styles, read_part

Found = TypeVar("Found")

MAX_MAMMOTH_XML = 2_000_000
"""Text and notes together. Mammoth takes two to three seconds for a megabyte of XML; above this, which is about 300
pages, the XML is read directly, at a tenth of that."""

MAX_WORD_XML = 100_000_000
"""Even read as a stream, more takes longer than a file may."""

_MAIN = "word/document.xml"
_NOTES = ("footnotes", "endnotes", "comments")
_READ_BY_MAMMOTH = ("document", "styles", "numbering", *_NOTES)

_STYLE_MAP = """
comment-reference => sup
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
"""

_MAMMOTH_FAILURES = (
    *ARCHIVE_FAILURES,
    RecursionError,  # nested tables
    ExpatError,
    AttributeError,
    LookupError,
    TypeError,
)


@frozen
class DocxExtractor:
    """Reads Word documents: text, tables, notes, comments, headers, footers, text boxes, charts."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the facts first, then the document, then what stands beside it."""
        with open_archive(blob) as archive:
            losses = Losses()
            document = _Document.open(archive, losses)
            core = "docProps/core.xml"
            properties = losses.attempt(core, lambda: read_properties(archive.read_if_there(core)), Properties())
            body, method = document.body()
            facts = document.facts(properties, body, method)
            yield losses.told(facts)
            count = 0
            for segment in segments(body):
                count += 1
                yield segment
            for label, blocks in document.beside(body, method):
                for segment in segments(blocks, within=(Place(kind="part", label=label),)):
                    count += 1
                    yield segment
            if not count:
                note = "the document holds no text"
                facts = DocumentFacts(metadata={"file_type": "docx"}, reason=FileReason.EMPTY, note=note)
            if losses or not count:
                yield losses.told(facts)


@frozen
class _Document:
    """A Word document whose parts were checked."""

    archive: Archive
    main: str
    styles: Styles
    losses: Losses

    @classmethod
    def open(cls, archive: Archive, losses: Losses) -> "_Document":
        candidates = [_MAIN, *parts(archive, "word/", "document")]
        main = next((name for name in candidates if name in archive.names), None)
        if main is None:
            raise ExtractionFailed("this is no Word document: it has no main part", reason=FileReason.UNSUPPORTED)
        if archive.size(main) > MAX_WORD_XML:
            raise ExtractionFailed("the document is too long to be read", reason=FileReason.TOO_BIG)
        name = "word/styles.xml"
        styles = losses.attempt(name, lambda: Styles.read(archive.read_if_there(name)), Styles.read(b""))
        return cls(archive, main, styles, losses)

    def body(self) -> tuple[list[Block], str]:
        """Return the blocks of the text, and what read them."""
        notes = (self.archive.size(f"word/{name}.xml") for name in _NOTES)
        if self.archive.size(self.main) + sum(notes) <= MAX_MAMMOTH_XML:
            try:
                return _by_mammoth(self._file()), "mammoth"
            except (ExtractionFailed, *_MAMMOTH_FAILURES):
                pass  # the direct way tells what is wrong, or reads it all the same
        return read_part(self.archive.read(self.main), self.styles), "xml"

    def _file(self) -> IO[bytes]:
        """Return the document as mammoth may see it: without entities, hidden text and what it does not know."""
        for name in _READ_BY_MAMMOTH:
            refuse_doctype(self.archive.read_if_there(f"word/{name}.xml"))
        return prepared(self.archive, self.main, self.styles)

    def beside(self, body: list[Block], method: str) -> Iterator[tuple[str, list[Block]]]:
        """Return what is not part of the running text, each with a name for its place."""
        archive = self.archive
        if method == "xml":
            for label in _NOTES:
                yield label, self._read([f"word/{label}.xml"])
        else:
            yield "text boxes", self._text_boxes(body)
        yield "header", self._read(parts(archive, "word/", "header"))
        yield "footer", self._read(parts(archive, "word/", "footer"))
        charts = (*parts(archive, "word/charts/", "chart"), *parts(archive, "word/diagrams/", "data"))
        yield "chart", [Block(text) for name in charts for text in self._part(name, drawing_text)]
        for name in sorted(archive.names):
            if name.startswith("word/") and name.endswith((".htm", ".html", ".xhtml")):
                yield "inserted page", self._part(name, partial(self._page, name))

    def _part(self, name: str, read: Callable[[bytes], list[Found]]) -> list[Found]:
        """Read what is beside the text: where it is damaged, the text is still worth having."""
        return self.losses.attempt(name, lambda: read(self.archive.read(name)), [])

    def _page(self, name: str, data: bytes) -> list[Block]:
        is_cut = len(data) > MAX_HTML_BYTES
        if is_cut:
            self.losses.add(f"only the first {MAX_HTML_BYTES // 1_000_000} MB of {name} were read")
        return read_page(decode(data[:MAX_HTML_BYTES], html=True, cut=is_cut).text).blocks

    def _read(self, names: list[str]) -> list[Block]:
        """Read parts, each text once: the same header is often there for even and odd pages."""
        blocks = [
            block
            for name in names
            if name in self.archive.names
            for block in self._part(name, lambda data: read_part(data, self.styles))
            if any(char.isalpha() for char in block.text)
        ]
        return list({block.text: block for block in blocks}.values())

    def _text_boxes(self, body: list[Block]) -> list[Block]:
        """Return the text boxes that mammoth did not see: it only knows the old way of writing them."""
        data = self.archive.read(self.main)
        if b"txbxContent" not in data:
            return []
        seen = "\n".join(block.text for block in body)
        return [block for block in read_part(data, self.styles, only_text_boxes=True) if block.text not in seen]

    def facts(self, properties: Properties, body: list[Block], method: str) -> DocumentFacts:
        title = properties.title or next((" ".join(b.text.split()) for b in body if b.level == 1), "")
        metadata: dict[str, object] = {"file_type": "docx", "extraction_method": method, **properties.metadata}
        return DocumentFacts(title=title, metadata=metadata)


_NOTE_ID = re.compile(r"(footnote|endnote|comment)-\d+")


@define
class _MammothHtml:
    """Passes the elements of mammoth's output on, without links back from notes to the text.

    All notes come behind the text: from the first on, each stands in the part of its kind.
    """

    reader: BlockReader = field(factory=BlockReader)
    _skipping: int = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        note = _NOTE_ID.fullmatch(attributes.get("id", "")) if name == "li" or name == "dt" else None
        if note:
            self.reader.part = f"{note[1]}s"
            name = "div" if name == "li" else name  # a note is no item of a list of the author's
        is_back_link = name == "a" and "-ref-" in attributes.get("href", "")
        if self._skipping or is_back_link or not self.reader.start(name, attributes):
            self._skipping += 1

    def end(self, name: str) -> None:
        if self._skipping:
            self._skipping -= 1
        else:
            self.reader.end(name)

    def text(self, text: str) -> None:
        if not self._skipping:
            self.reader.text(text)


def _by_mammoth(file: IO[bytes]) -> list[Block]:
    import mammoth  # only the process that reads documents needs it

    result = mammoth.convert_to_html(
        file,
        style_map=_STYLE_MAP,
        include_embedded_style_map=False,
        external_file_access=False,
        convert_image=lambda image: [mammoth.html.text(image.alt_text)] if image.alt_text else [],
    )
    html = _MammothHtml()
    parse(f"<html>{result.value}</html>".encode(), start=html.start, end=html.end, text=html.text)
    return html.reader.finish()
