"""Plain text, logs and light markup."""

from collections.abc import Iterator

from attrs import frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.paths import extension_of
from openmind.domain.text import clean
from openmind.ports.extractor import Blob

from openmind_extractors.decoding import REPLACED_PARTIAL, DecodedText, decode
from openmind_extractors.limits import MAX_SEGMENT_CHARS, MAX_TEXT_CHARS, SEGMENT_CHARS
from openmind_extractors.outline import HeadingFinder, asciidoc_headings, org_headings, rst_headings, sections
from openmind_extractors.reading import read_start
from openmind_extractors.sniffing import FileKind, sniff

_HEADINGS: dict[str, HeadingFinder] = {
    ".rst": rst_headings,
    ".org": org_headings,
    ".adoc": asciidoc_headings,
    ".asciidoc": asciidoc_headings,
}
READ_AS_TEXT = frozenset({FileKind.UNKNOWN, FileKind.HTML, FileKind.XML, FileKind.SVG})


@frozen
class PlainExtractor:
    """Reads text as it is written, in few large segments whose line numbers are exact."""

    kinds: frozenset[FileKind] = READ_AS_TEXT
    """What the file may look like by its first bytes."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the facts first, then the text."""
        file = read_text(blob, kinds=self.kinds)
        find = _HEADINGS.get(extension_of(blob.name))
        if find is None:
            yield file.facts(file_type="text")
            yield from text_segments(file.text)
            return
        lines = file.text.split("\n")
        headings = find(lines)
        yield file.facts(file_type="text", title=_org_title(lines) or (headings[0].title if headings else ""))
        for section in sections(len(lines), headings):
            text = "\n".join(lines[section.start : section.stop])
            yield from text_segments(text, first_line=section.start + 1, path=section.path)


@frozen
class TextFile:
    """The text of a file with what a person should know of how it was read."""

    text: str
    """Clean, lines ended by a line feed alone."""
    decoded: DecodedText
    reason: FileReason
    note: str

    def facts(self, *, file_type: str, title: str = "", **metadata: object) -> DocumentFacts:
        """Return the facts of the document."""
        told: dict[str, object] = {
            "file_type": file_type,
            "extraction_method": "text",
            "encoding": self.decoded.encoding,
            "encoding_source": self.decoded.source,
            **metadata,
        }
        return DocumentFacts(title=title, metadata=told, reason=self.reason, note=self.note)


def read_text(blob: Blob, *, html: bool = False, kinds: frozenset[FileKind] = READ_AS_TEXT) -> TextFile:
    """Read and decode a text file up to the limit.

    Raises:
        ExtractionFailed: its content is not text.
    """
    data, cut = _read(blob)
    kind = sniff(data)
    if kind not in kinds:
        raise ExtractionFailed(
            f"the name says text, but this is {kind.told}",
            reason=FileReason.UNSUPPORTED,
            hint="Give the file the extension of what it is.",
        )
    decoded = decode(data, html=html, cut=cut)
    text = clean(decoded.text.removesuffix("\ufffd") if cut else decoded.text)
    reason, note = _judge(text, decoded, cut=cut)
    return TextFile(text, decoded, reason, note)


def _read(blob: Blob) -> tuple[bytes, bool]:
    """Return the bytes up to the limit, ended at a line where there is one, and whether more follow."""
    data = read_start(blob, MAX_TEXT_CHARS + 1)
    if len(data) <= MAX_TEXT_CHARS:
        return data, False
    end = data.rfind(b"\n", MAX_TEXT_CHARS // 2, MAX_TEXT_CHARS)
    return data[: end + 1 if end > 0 else MAX_TEXT_CHARS], True


def _judge(text: str, decoded: DecodedText, *, cut: bool) -> tuple[FileReason, str]:
    if not text.strip():
        return FileReason.EMPTY, "the file holds no text"
    if cut:
        return FileReason.PARTIAL, f"only the first {MAX_TEXT_CHARS // 1_000_000} MB of this text were read"
    if zeros := decoded.text.count("\0"):
        return FileReason.PARTIAL, f"zero bytes, which no text has, were left out: {zeros:,}"
    if decoded.replaced_share > REPLACED_PARTIAL:
        share = f"{decoded.replaced_share:.0%}"
        return FileReason.PARTIAL, f"{share} of the characters could not be decoded (read as {decoded.encoding})"
    return FileReason.OK, ""


def text_segments(text: str, *, first_line: int = 1, path: tuple[Place, ...] = ()) -> Iterator[Segment]:
    """Divide text between paragraphs where it is long; each part knows its lines."""
    start, line = 0, first_line
    while start < len(text):
        stop = _stop(text, start)
        part = text[start:stop]
        breaks = part.count("\n")
        if not part.isspace():
            yield _segment(part, line, path)
        start, line = stop, line + breaks


def _segment(part: str, line: int, path: tuple[Place, ...]) -> Segment:
    """Build the segment of a part, without the blank lines around it."""
    body = part.lstrip("\n")
    line += len(part) - len(body)
    body = body.rstrip()
    last = line + body.count("\n")
    return Segment(text=body, locator=(*path, Place(kind="lines", start=line, end=last)))


def _stop(text: str, start: int) -> int:
    """Choose where a segment ends: after a paragraph, else after a line, else anywhere."""
    if len(text) - start <= SEGMENT_CHARS:
        return len(text)
    limit = start + SEGMENT_CHARS
    for separator in ("\n\n", "\n"):
        found = text.rfind(separator, start + 1, limit)
        if found > 0:
            return found + len(separator)
    found = text.find("\n", limit)
    end = len(text) if found < 0 else found + 1
    return min(end, start + MAX_SEGMENT_CHARS)


def _org_title(lines: list[str]) -> str:
    """Return what `#+TITLE:` says near the top of an Org file."""
    for line in lines[:30]:
        if line[:8].lower() == "#+title:":
            return line[8:].strip()
    return ""
