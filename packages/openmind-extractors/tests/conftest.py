"""What the tests of every format share: reading bytes through the registered extractor."""

import socket
import zipfile
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from attrs import define, field, frozen
from openmind.domain.config import ExtractionConfig
from openmind.domain.documents import DocumentFacts, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.paths import extension_of
from openmind.plugins.registries import ExtractionTools, ExtractorRegistry
from openmind.ports.extractor import Blob
from openmind.ports.ocr_engine import OcrEngine, OcrText, PageImage
from openmind_extractors import plugin
from PIL import Image, ImageDraw, ImageFont


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


Content = list[str] | bytes
"""Lines of text on a page, or a whole content stream."""


def pdf(
    *pages: Content,
    extra: Sequence[str | bytes] = (),
    catalog: str = "",
    page: str = "",
    info: str = "",
    resources: str = "",
    size: tuple[int, int] = (595, 842),
    outline: Sequence[tuple[str, int] | tuple[str, int, int]] = (),
) -> bytes:
    """Write a PDF by hand: objects 1 to 3 are catalogue, pages and font, then come `extra`, then each page.

    Args:
        pages: what stands on each page.
        extra: more objects, from number 4 on.
        catalog: entries of the catalogue.
        page: entries of each page.
        info: entries of the information dictionary.
        resources: entries of each page's resources.
        size: width and height of a page, in points.
        outline: bookmarks: title and page, from 0; and how far above the bottom of the page they point.
    """
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects: list[bytes] = [b"", b"", font.encode(), *(x if isinstance(x, bytes) else x.encode() for x in extra)]
    kids = []
    for content in pages:
        stream = content if isinstance(content, bytes) else text_stream(content)
        objects.append(b"<< /Length %d >> stream\n" % len(stream) + stream + b"\nendstream")
        box = f"/MediaBox [0 0 {size[0]} {size[1]}] /Contents {len(objects)} 0 R"
        fonts = f"/Resources << /Font << /F1 3 0 R >> {resources} >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R {box} {fonts} {page} >>".encode())
        kids.append(len(objects))
    references = " ".join(f"{kid} 0 R" for kid in kids)
    objects[1] = f"<< /Type /Pages /Kids [{references}] /Count {len(kids)} >>".encode()
    if outline:
        root = len(objects) + 1
        first, last = root + 1, root + len(outline)
        objects.append(f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R >>".encode())
        for number, (title, target, *top) in enumerate(outline, start=first):
            view = f"/XYZ 50 {top[0]} 0" if top else "/Fit"
            following = f"/Next {number + 1} 0 R" if number < last else ""
            entry = f"/Title ({title}) /Parent {root} 0 R {following} /Dest [{kids[target]} 0 R {view}]"
            objects.append(f"<< {entry} >>".encode())
        catalog += f" /Outlines {root} 0 R"
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode()
    objects.append(f"<< {info} >>".encode())
    return write_objects(objects, f"/Root 1 0 R /Info {len(objects)} 0 R")


def text_stream(lines: Sequence[str], *, left: int = 50) -> bytes:
    """Write lines of text one below the other."""
    shown = "\n".join(
        "(" + line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") + ") Tj T*" for line in lines
    )
    return f"BT /F1 10 Tf 12 TL {left} 800 Td\n{shown}\nET".encode("cp1252", "replace")


def write_objects(objects: Sequence[bytes], trailer: str) -> bytes:
    """Write numbered objects, their table and the trailer of a PDF."""
    data = b"%PDF-1.7\n"
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table
    return data + f"trailer << /Size {len(objects) + 1} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()


def scan(picture: Image.Image) -> tuple[str | bytes, bytes]:
    """Return a picture as an object of a PDF, and the content of a page that it fills."""
    packed = BytesIO()
    picture.convert("L").save(packed, "JPEG", quality=90)
    head = f"<< /Type /XObject /Subtype /Image /Width {picture.width} /Height {picture.height} "
    head += (
        f"/ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode /Length {len(packed.getvalue())} >> stream\n"
    )
    return head.encode() + packed.getvalue() + b"\nendstream", b"q 595 0 0 842 0 0 cm /Im1 Do Q"


def picture_of(text: str, *, size: tuple[int, int] = (1_000, 300), height: int = 40, mode: str = "L") -> Image.Image:
    """Draw text in black on white, with the font that comes with Pillow."""
    picture = Image.new(mode, size, "white")
    ImageDraw.Draw(picture).text((30, 30), text, font=ImageFont.load_default(height), fill="black")
    return picture


def printed(*lines: str) -> Image.Image:
    """Print lines with the fonts that PDFium brings, which know more letters than Pillow's."""
    import pypdfium2

    stream = text_stream(lines).replace(b"10 Tf 12 TL 50 800", b"16 Tf 22 TL 30 60")
    with pypdfium2.PdfDocument(pdf(stream, size=(420, 90))) as document:
        return document[0].render(scale=2, grayscale=True).to_pil()


def encoded(picture: Image.Image, kind: str, **options: object) -> bytes:
    packed = BytesIO()
    picture.save(packed, kind, **options)
    return packed.getvalue()


@define
class FakeOcr:
    """Reads what it is told; remembers what it was shown."""

    texts: list[str | Exception] = field(factory=list)
    name: str = "fake"
    revision: str = "1"
    warning: str = ""
    confidence: float = 0.99
    seen: list[PageImage] = field(factory=list)

    def read(self, page: PageImage) -> OcrText:
        self.seen.append(page)
        text = self.texts[(len(self.seen) - 1) % len(self.texts)]
        if isinstance(text, Exception):
            raise text
        return OcrText(text=text, confidence=self.confidence, warning=self.warning)


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    """Build documents byte by byte: no file is kept in the repository."""
    return SimpleNamespace(
        pack=pack,
        paragraph=paragraph,
        word=word,
        W=W,
        pdf=pdf,
        text_stream=text_stream,
        write_objects=write_objects,
        scan=scan,
        picture_of=picture_of,
        printed=printed,
        encoded=encoded,
        ocr=FakeOcr,
    )


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that reads a file may reach another machine."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
