"""Saved mails: who wrote what to whom, with the text of attachments."""

import email
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime
from itertools import islice

from attrs import define, evolve, field, frozen
from openmind.domain.documents import DocumentFacts, Locator, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.paths import extension_of
from openmind.domain.text import clean
from openmind.ports.extractor import Blob

from openmind_extractors.blocks import segments
from openmind_extractors.decoding import decode
from openmind_extractors.html import read_page
from openmind_extractors.limits import MAX_HEADING_CHARS, MAX_METADATA_CHARS, divided
from openmind_extractors.losses import Losses
from openmind_extractors.plain import text_segments
from openmind_extractors.reading import read_all

MAX_MAIL_BYTES = 50_000_000
"""Mail servers take 25 to 50 MB."""

MAX_PARTS = 1_000
"""A digest has dozens of parts."""

MAX_ATTACHMENT_BYTES = 5_000_000
"""Text of one part; what follows in a longer one is data."""

MAX_NAMES = 50
"""Names of attachments among the metadata, which go with each passage; the text has them all."""

MAX_DEPTH = 50
"""Levels that are kept of a mail whose parts are nested too deeply for the standard library."""

_NESTING = re.compile(rb"^content-type:\s{0,9}(?:multipart/|message/rfc822)", re.IGNORECASE | re.MULTILINE)

SAME_SHARE = 0.5
"""Of the words of an HTML version that the plain one has, too; with fewer it is another text, such as "your program
does not show HTML"."""

_TEXT_NAMES = frozenset({".txt", ".text", ".md", ".markdown", ".csv", ".tsv", ".log", ".rst", ".org", ".html", ".htm"})
"""Attachments that are text whatever their type says; many programs send all files as bytes."""

BODY = Place(kind="body", label="text")
"""What a mail says itself, beside its headers and attachments."""

_SHOWN = ("From", "To", "Cc", "Date", "Subject")


@frozen
class MailExtractor:
    """Reads mails as they are saved by mail programs."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the facts first, then headers, body and attachments."""
        data = read_all(blob, MAX_MAIL_BYTES, "a mail").removeprefix(BOM_UTF8)
        try:
            message, is_whole = _parse(data)
            pieces = _pieces(message)
        except (RecursionError, ValueError, LookupError, TypeError, AttributeError, MessageError) as error:
            raise ExtractionFailed("the mail is broken: it cannot be taken apart") from error
        headers = _headers(message)
        if not data.strip():
            raise ExtractionFailed("the file holds nothing", reason=FileReason.EMPTY)
        if not any(headers.values()):
            raise ExtractionFailed("this is no mail: it has no headers", reason=FileReason.UNSUPPORTED)
        losses = Losses()
        if not is_whole:
            losses.add(f"only {MAX_DEPTH} levels of parts within parts were read")
        losses.beyond(MAX_PARTS, len(pieces), "parts")
        attachments = [piece.name for piece in pieces[:MAX_PARTS] if piece.name]
        facts = _facts(headers, attachments)
        yield losses.told(facts)
        if attachments:
            headers["Attachments"] = ", ".join(attachments)
        yield from _shown(headers)
        reading = _Reading(losses)
        for piece in pieces[:MAX_PARTS]:
            yield from reading.segments(piece)
        if losses:
            yield losses.told(facts)


def _parse(data: bytes) -> tuple["Message[str, str]", bool]:
    """Parse a mail, one that is nested too deeply as far as that goes; say whether that is all of it."""
    try:
        return email.message_from_bytes(data), True
    except RecursionError:
        levels = _NESTING.finditer(data)
        end = next((found.start() for found in islice(levels, MAX_DEPTH, None)), len(data))
        return email.message_from_bytes(data[:end]), False


@frozen
class _Piece:
    """A part that holds something, or a mail within the mail, of which the headers are meant."""

    part: "Message[str, str]"
    name: str
    """Of its file; empty when it is no attachment."""
    within: tuple[Place, ...]
    """The mail it belongs to, where that is not the file itself."""
    plain: str = ""
    """The same as plain text, for one of several versions."""
    is_mail: bool = False


def _pieces(message: "Message[str, str]") -> list[_Piece]:
    """Return the parts in order, without recursion."""
    found: list[_Piece] = []
    pending = [_Piece(message, "", ())]
    while pending:
        piece = pending.pop()
        payload = piece.part.get_payload()
        name = _file_name(piece.part)
        if not isinstance(payload, list):
            within = (*piece.within, _attachment(len(found), name)) if name else piece.within
            found.append(evolve(piece, name=name, within=within))
            continue
        children = [child for child in payload if isinstance(child, Message)]
        if piece.part.get_content_type() == "message/rfc822" and children:
            label = name or _header(children[0], "Subject") or "forwarded mail"
            piece = _Piece(children[0], name, (_attachment(len(found), label),), is_mail=True)
            found.append(piece)
        elif piece.part.get_content_type() == "multipart/alternative":
            piece = evolve(piece, plain=_plain_version(children))
        pending.extend(evolve(piece, part=child, name="", is_mail=False) for child in reversed(children))
    return found


def _attachment(before: int, name: str) -> Place:
    """Return the place of a part. Its number among all parts tells it from another one of the same name."""
    return Place(kind="attachment", start=before + 1, label=name[:MAX_HEADING_CHARS])


def _plain_version(versions: list["Message[str, str]"]) -> str:
    plain = (part for part in versions if part.get_content_type() == "text/plain" and not _file_name(part))
    return next((text for part in plain if (text := _text(part)[0]).strip()), "")


def _headers(message: "Message[str, str]") -> dict[str, str]:
    return {name: _header(message, name) for name in _SHOWN}


def _shown(headers: dict[str, str], within: tuple[Place, ...] = ()) -> Iterator[Segment]:
    lines = [f"{name}: {value}" for name, value in headers.items() if value]
    for text in divided("\n".join(lines)):
        yield Segment(text=text, locator=(*within, Place(kind="part", label="headers")))


def _facts(headers: dict[str, str], attachments: list[str]) -> DocumentFacts:
    metadata: dict[str, object] = {"file_type": "mail", "extraction_method": "email"}
    metadata.update(
        {name.lower(): value[:MAX_METADATA_CHARS] for name, value in headers.items() if value and name != "Subject"}
    )
    with suppress(ValueError, IndexError, TypeError):  # a date that is none stays as it is written
        metadata["date"] = parsedate_to_datetime(headers["Date"]).isoformat()
    if attachments:
        metadata["attachments"] = [name[:MAX_HEADING_CHARS] for name in attachments[:MAX_NAMES]]
    return DocumentFacts(title=headers["Subject"][:MAX_METADATA_CHARS], metadata=metadata)


def _header(message: "Message[str, str]", name: str) -> str:
    """Decode a header; one in no known encoding is shown as it is."""
    return " ".join(clean(_words(_raw(message, name))).split())


def _raw(message: "Message[str, str]", name: str) -> str:
    """Return a header as it is written; one with bytes that none may have is decoded as text is."""
    raw = next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")
    if raw.isascii():
        return raw
    try:
        return decode(raw.encode("utf-8", "surrogateescape")).text
    except (ExtractionFailed, UnicodeEncodeError):
        return raw.encode("utf-8", "replace").decode()


def _words(raw: str) -> str:
    """Decode the encoded words of a header, `=?utf-8?q?J=C3=BCrgen?=`; what stands beside them may be any text."""
    if "=?" not in raw:
        return raw
    try:
        parts = decode_header(raw)
        if raw.isascii():
            return str(make_header(parts))
        return "".join(
            part if isinstance(part, str) else part.decode(charset or "raw-unicode-escape", "replace")
            for part, charset in parts
        )
    except (LookupError, ValueError, MessageError):
        return raw


def _file_name(part: "Message[str, str]") -> str:
    headers: Message[str, str] = Message()
    for name in ("Content-Disposition", "Content-Type"):
        if raw := _raw(part, name):
            headers[name] = raw
    try:
        name = headers.get_filename() or ""
    except (LookupError, ValueError, TypeError, MessageError):
        return ""
    return " ".join(clean(_words(name)).split())


@define
class _Reading:
    """The parts of a mail on their way through, and how far the text of each mail within it is counted."""

    losses: Losses
    _lines: dict[Locator, int] = field(factory=dict)
    _blocks: dict[Locator, int] = field(factory=dict)

    def segments(self, piece: _Piece) -> Iterator[Segment]:
        """Yield the text of a part: as lines of that part, as paragraphs where it is a page."""
        if piece.is_mail:
            yield from _shown(_headers(piece.part), piece.within)
            return
        text, is_cut = _text(piece.part, piece.name)
        text = clean(text)
        if not _is_html(piece.part, piece.name):
            # Lines of a part are no lines of the file.
            within = piece.within if piece.name else (*piece.within, BODY)
            first = self._lines.get(within, 1)
            self._lines[within] = first + text.rstrip("\n").count("\n") + 1
            yield from text_segments(text, first_line=first, path=within)
        else:
            blocks = read_page(text).blocks
            words = {word for block in blocks for word in block.text.split()}
            if not piece.name and len(words.intersection(piece.plain.split())) >= SAME_SHARE * len(words):
                return
            first = self._blocks.get(piece.within, 1)
            self._blocks[piece.within] = first + len(blocks)
            yield from segments(blocks, within=piece.within, first=first)
        if is_cut:
            size = MAX_ATTACHMENT_BYTES // 1_000_000
            self.losses.add(f"only the first {size} MB of {piece.name[:MAX_HEADING_CHARS] or 'the text'} were read")


def _text(part: "Message[str, str]", name: str = "") -> tuple[str, bool]:
    """Return the text of a part, and whether more of it follows; of a part that holds none, nothing."""
    if part.get_content_maintype() != "text" and extension_of(name) not in _TEXT_NAMES:
        return "", False
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return "", False
    if len(payload) <= MAX_ATTACHMENT_BYTES:
        return _decoded(part, payload), False
    text = _decoded(part, payload[:MAX_ATTACHMENT_BYTES], cut=True).removesuffix("\ufffd")
    return text, bool(text)


def _is_html(part: "Message[str, str]", name: str) -> bool:
    if part.get_content_maintype() == "text":
        return part.get_content_type() == "text/html"
    return extension_of(name) in {".html", ".htm"}


def _decoded(part: "Message[str, str]", payload: bytes, *, cut: bool = False) -> str:
    import webencodings  # only mails need it here

    # The names that browsers know: some of Python's own codecs take quadratic time.
    known = webencodings.lookup(part.get_content_charset("") or "")
    if known is not None and known.name not in {"replacement", "x-user-defined"}:
        return str(known.codec_info.decode(payload, "replace")[0])
    try:
        return decode(payload, html=part.get_content_type() == "text/html", cut=cut).text
    except ExtractionFailed:
        return ""  # an attachment that only says that it is text
