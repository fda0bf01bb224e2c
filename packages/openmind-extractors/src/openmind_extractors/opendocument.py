"""OpenDocument texts."""

from collections.abc import Iterator, Mapping

from attrs import define, evolve, field, frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob

from openmind_extractors.archives import open_archive
from openmind_extractors.blocks import Block, BlockReader, segments
from openmind_extractors.ooxml import read_properties
from openmind_extractors.safe_xml import parse

MAX_CONTENT_XML = 100_000_000
"""Even read as a stream, more takes longer than a file may."""

_SKIPPED = frozenset(
    {"tracked-changes", "hidden-text", "hidden-paragraph", "note-citation", "automatic-styles", "forms"}
)
_ELEMENTS = {
    "p": "p",
    "list-item": "li",
    "table": "table",
    "table-row": "tr",
    "table-cell": "td",
    "line-break": "br",
    "annotation": "p",
    "note-body": "p",
}


@frozen
class OpenDocumentExtractor:
    """Reads `.odt`."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the facts first, then the text, then headers and footers."""
        with open_archive(blob) as archive:
            if b"encryption-data" in archive.read_if_there("META-INF/manifest.xml"):
                raise ExtractionFailed("the document is protected by a password", reason=FileReason.ENCRYPTED)
            if "content.xml" not in archive.names:
                raise ExtractionFailed("this is no OpenDocument text", reason=FileReason.UNSUPPORTED)
            if archive.size("content.xml") > MAX_CONTENT_XML:
                raise ExtractionFailed("the document is too long to be read", reason=FileReason.TOO_BIG)
            properties = read_properties(archive.read_if_there("meta.xml"))
            body = _read(archive.read("content.xml"))
            styles = archive.read_if_there("styles.xml")
            around = _read(styles, only_within=frozenset({"header", "footer"})) if styles else []
        title = properties.title or next((block.text for block in body if block.level == 1), "")
        metadata: dict[str, object] = {"file_type": "odt", "extraction_method": "xml", **properties.metadata}
        facts = DocumentFacts(title=title, metadata=metadata)
        if not body and not around:
            facts = evolve(facts, reason=FileReason.EMPTY, note="the document holds no text")
        yield facts
        yield from segments(body)
        once = {block.text: block for block in around if any(char.isalpha() for char in block.text)}
        yield from segments(once.values(), within=(Place(kind="part", label="header"),))


@define
class _Reader:
    """Turns elements of OpenDocument into blocks."""

    only_within: frozenset[str]
    blocks: BlockReader = field(factory=BlockReader)
    _levels: list[int] = field(factory=list)
    _skipping: int = 0
    _inside: int = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._skipping or name in _SKIPPED:
            self._skipping += 1
        elif name in self.only_within:
            self._inside += 1
        elif name == "h":
            level = attributes.get("outline-level", "1")
            self._levels.append(min(max(int(level), 1), 6) if level.isdecimal() else 1)
            self.blocks.start(f"h{self._levels[-1]}", {})
        elif name in _ELEMENTS:
            self.blocks.start(_ELEMENTS[name], {})
        elif name in {"s", "tab"}:
            self._add(" ")

    def end(self, name: str) -> None:
        if self._skipping:
            self._skipping -= 1
        elif name in self.only_within:
            self._inside -= 1
        elif name == "h" and self._levels:
            self.blocks.end(f"h{self._levels.pop()}")
        elif name in _ELEMENTS and name != "line-break":
            self.blocks.end(_ELEMENTS[name])

    def text(self, text: str) -> None:
        if not self._skipping:
            self._add(text)

    def _add(self, text: str) -> None:
        if self._inside or not self.only_within:
            self.blocks.text(text)


def _read(data: bytes, *, only_within: frozenset[str] = frozenset()) -> list[Block]:
    reader = _Reader(only_within)
    parse(data, start=reader.start, end=reader.end, text=reader.text)
    return reader.blocks.finish()
