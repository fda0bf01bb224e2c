"""OpenDocument texts."""

from collections.abc import Iterator, Mapping

from attrs import define, evolve, field, frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob

from openmind_extractors.archives import Archive, open_archive
from openmind_extractors.blocks import Block, BlockReader, segments
from openmind_extractors.hidden_text import HiddenText, find_hidden
from openmind_extractors.losses import Losses
from openmind_extractors.ooxml import Properties, read_properties
from openmind_extractors.safe_xml import parse

MAX_CONTENT_XML = 100_000_000
"""Even read as a stream, more takes longer than a file may."""

_MANIFEST = "META-INF/manifest.xml"
_SKIPPED = frozenset(
    {"tracked-changes", "note-citation", "automatic-styles", "forms", "meta-date-string", "creator-initials"}
)
_ELEMENTS = {
    "p": "p",
    "list-item": "li",
    "table": "table",
    "table-row": "tr",
    "table-cell": "td",
    "line-break": "br",
}
_BESIDE = frozenset({"note-body", "annotation"})
"""What stands amid a line and is read after its paragraph."""
_PARAGRAPHS = frozenset({"p", "h", "span"})
_AROUND = ("header", "footer")
"""Each also as `header-left` and `header-first`."""


@frozen
class OpenDocumentExtractor:
    """Reads `.odt`."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the facts first, then the text, then headers and footers."""
        with open_archive(blob) as archive:
            losses = Losses()
            if b"encryption-data" in losses.attempt(_MANIFEST, lambda: archive.read_if_there(_MANIFEST), b""):
                raise ExtractionFailed("the document is protected by a password", reason=FileReason.ENCRYPTED)
            if "content.xml" not in archive.names:
                raise ExtractionFailed("this is no OpenDocument text", reason=FileReason.UNSUPPORTED)
            if archive.size("content.xml") > MAX_CONTENT_XML:
                raise ExtractionFailed("the document is too long to be read", reason=FileReason.TOO_BIG)
            properties = losses.attempt(
                "meta.xml", lambda: read_properties(archive.read_if_there("meta.xml")), Properties()
            )
            styles, hidden = losses.attempt("styles.xml", lambda: _styles(archive), (b"", find_hidden(b"", b"")))
            content = archive.read("content.xml")
            body = _read(content, find_hidden(content, styles))
            around = {part: _read(styles, hidden, only_within=part) for part in _AROUND} if styles else {}
        title = properties.title or next((block.text for block in body if block.level == 1), "")
        metadata: dict[str, object] = {"file_type": "odt", "extraction_method": "xml", **properties.metadata}
        facts = DocumentFacts(title=title, metadata=metadata)
        if not body and not any(around.values()):
            facts = evolve(facts, reason=FileReason.EMPTY, note="the document holds no text")
        yield losses.told(facts)
        yield from segments(body)
        for part, blocks in around.items():
            once = {block.text: block for block in blocks if any(char.isalpha() for char in block.text)}
            yield from segments(once.values(), within=(Place(kind="part", label=part),))


@define
class _Reader:
    """Turns elements of OpenDocument into blocks."""

    hidden: HiddenText
    only_within: str
    blocks: BlockReader = field(factory=BlockReader)
    _levels: list[int] = field(factory=list)
    _shown: list[bool] = field(factory=lambda: [True])
    """Whether text is shown, for each paragraph and span that is open."""
    _count: int = 0
    """Paragraphs and headings so far, those that are left out, too."""
    _skipping: int = 0
    _inside: int = 0
    _comments: int = 0
    _around_notes: list[BlockReader] = field(factory=list)
    """The readers of what notes stand in, while a note is read."""
    _notes: list[Block] = field(factory=list)
    """Those of the paragraph that is open."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._count += name in {"p", "h"}
        if self._skipping or self._is_left_out(name, attributes):
            self._skipping += 1
        elif self._is_around(name):
            self._inside += 1
        else:
            if name in _PARAGRAPHS:
                self._shown.append(self._shows(name, attributes))
            self._begin(name, attributes)

    def _is_left_out(self, name: str, attributes: Mapping[str, str]) -> bool:
        is_date_of_comment = self._comments > 0 and name == "date"
        return name in _SKIPPED or is_date_of_comment or self.hidden.hides(name, attributes)

    def _is_around(self, name: str) -> bool:
        return bool(self.only_within) and name.split("-")[0] == self.only_within

    def _shows(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Whether the text of a paragraph or a span is shown."""
        if name != "span" and self._count in self.hidden.paragraphs:
            return False
        shown = self.hidden.shows(name, attributes)
        return self._shown[-1] if shown is None else shown

    def _begin(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "h":
            level = attributes.get("outline-level", "1")
            self._levels.append(min(max(int(level), 1), 6) if level.isdecimal() else 1)
            self.blocks.start(f"h{self._levels[-1]}", {})
        elif name in _BESIDE:
            self._comments += name == "annotation"
            self._around_notes.append(self.blocks)
            self.blocks = BlockReader()
        elif name in _ELEMENTS or (name == "creator" and self._comments):
            self.blocks.start(_ELEMENTS.get(name, "p"), {})
        elif name in {"s", "tab"}:
            self._add(" ")

    def end(self, name: str) -> None:
        if self._skipping:
            self._skipping -= 1
            return
        if self._is_around(name):
            self._inside -= 1
        elif name == "h" and self._levels:
            self.blocks.end(f"h{self._levels.pop()}")
        elif name in _BESIDE:
            self._notes += self.blocks.finish()
            self.blocks = self._around_notes.pop()
            self._comments -= name == "annotation"
        elif (name in _ELEMENTS and name != "line-break") or (name == "creator" and self._comments):
            self.blocks.end(_ELEMENTS.get(name, "p"))
        if name in _PARAGRAPHS:
            self._shown.pop()
        if name in {"p", "h"} and not self._around_notes:
            self._add_notes()

    def finish(self) -> list[Block]:
        """Return all blocks."""
        self._add_notes()
        return self.blocks.finish()

    def _add_notes(self) -> None:
        for note in self._notes:
            self.blocks.add(note)
        self._notes = []

    def text(self, text: str) -> None:
        if not self._skipping:
            self._add(text)

    def _add(self, text: str) -> None:
        if self._shown[-1] and (self._inside or not self.only_within):
            self.blocks.text(text)


def _styles(archive: Archive) -> tuple[bytes, HiddenText]:
    """Return the part with the styles, headers and footers, and what is hidden in it."""
    styles = archive.read_if_there("styles.xml")
    return styles, find_hidden(styles, b"")


def _read(data: bytes, hidden: HiddenText, *, only_within: str = "") -> list[Block]:
    reader = _Reader(hidden, only_within)
    parse(data, start=reader.start, end=reader.end, text=reader.text)
    return reader.finish()
