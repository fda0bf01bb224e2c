"""What the tests of every format share: reading bytes through the registered extractor."""

import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from attrs import frozen
from openmind.domain.config import ExtractionConfig
from openmind.domain.documents import DocumentFacts, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.paths import extension_of
from openmind.plugins.registries import ExtractionTools, ExtractorRegistry
from openmind.ports.extractor import Blob
from openmind.ports.ocr_engine import OcrEngine
from openmind_extractors import plugin


@frozen
class Reading:
    """Everything that came of one file."""

    segments: tuple[Segment, ...]
    facts: DocumentFacts
    failure: ExtractionFailed | None

    @property
    def reason(self) -> FileReason:
        return self.failure.reason if self.failure else self.facts.reason

    @property
    def note(self) -> str:
        return self.failure.message if self.failure else self.facts.note

    @property
    def text(self) -> str:
        return "\n".join(segment.text for segment in self.segments)

    def where(self, needle: str) -> str:
        """Tell the place of the first segment that holds the words: `page 2 › heading Methods`."""
        segment = next(segment for segment in self.segments if needle in segment.text)
        return " › ".join(
            f"{place.kind} {place.label or place.start}" + (f"–{place.end}" if place.end else "")
            for place in segment.locator
        )

    def of_kind(self, kind: str) -> list[str]:
        return [segment.text for segment in self.segments if segment.kind == kind]


Read = Callable[..., Reading]


@pytest.fixture(scope="session")
def registry() -> ExtractorRegistry:
    registry = ExtractorRegistry()
    registry.distribution = "openmind-extractors"
    plugin.openmind_register_extractors(registry)
    return registry


@pytest.fixture(scope="session")
def read(registry: ExtractorRegistry) -> Read:
    """Read bytes, or a path, with the extractor that is registered for the name's extension."""

    def read(
        name: str,
        data: bytes | Path,
        *,
        ocr: Callable[[], OcrEngine] | None = None,
        config: ExtractionConfig | None = None,
    ) -> Reading:
        extension = extension_of(name)
        entry = next(e.value for e in registry.entries.values() if extension in e.value.info.extensions)
        tools = ExtractionTools(config=config or ExtractionConfig(), ocr=ocr)
        blob = Blob(name=name, data=data) if isinstance(data, bytes) else Blob(name=name, path=data)
        return collect(entry.factory(tools).extract(blob))

    return read


def collect(pieces: Iterator[Segment | DocumentFacts]) -> Reading:
    segments: list[Segment] = []
    facts = DocumentFacts()
    try:
        for piece in pieces:
            if isinstance(piece, Segment):
                segments.append(piece)
            else:
                facts = piece
    except ExtractionFailed as failure:
        return Reading(tuple(segments), facts, failure)
    return Reading(tuple(segments), facts, None)


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def pack(members: dict[str, str | bytes]) -> bytes:
    """Pack members into a ZIP container, in order."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return packed.getvalue()


def paragraph(text: str, *, style: str = "", run: str = "") -> str:
    """Write a paragraph of WordprocessingML."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r>{run}<w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def word(body: str, **parts: str | bytes) -> bytes:
    """Pack a Word document; parts are named `header1`, `footnotes`, … or by their whole path."""
    types = '<Default Extension="xml" ContentType="application/xml"/>'
    relations = "".join(
        f'<Relationship Id="{kind}" Type="{OFFICE}/{kind}" Target="{kind}.xml"/>'
        for kind in ("styles", "footnotes", "endnotes", "comments")
        if kind in parts
    )
    package = "http://schemas.openxmlformats.org/package/2006"
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" '
        f'Type="{OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{package}/relationships">{relations}</Relationships>',
        "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
    }
    for name, content in parts.items():
        members[name if "/" in name else f"word/{name}.xml"] = content
    return pack(members)


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """Build documents byte by byte: no file is kept in the repository."""
    return SimpleNamespace(pack=pack, paragraph=paragraph, word=word, W=W)
