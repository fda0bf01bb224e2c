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

from attrs import evolve, frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.paths import extension_of
from openmind.domain.text import clean
from openmind.ports.extractor import Blob

from openmind_extractors.blocks import segments
from openmind_extractors.decoding import decode
from openmind_extractors.html import read_page
from openmind_extractors.limits import MAX_METADATA_CHARS
from openmind_extractors.plain import text_segments
from openmind_extractors.reading import read_all

MAX_MAIL_BYTES = 50_000_000
"""Mail servers take 25 to 50 MB."""

MAX_PARTS = 200
"""A digest has dozens of parts."""

MAX_ATTACHMENT_BYTES = 5_000_000
"""Text of one attachment; longer ones are data."""

MAX_NAMES = 50

MAX_DEPTH = 50
"""Levels that are kept of a mail whose parts are nested too deeply for the standard library."""

_NESTING = re.compile(rb"^content-type:\s{0,9}(?:multipart/|message/rfc822)", re.IGNORECASE | re.MULTILINE)

SAME_SHARE = 0.5
"""Of the words of an HTML version that the plain one has, too; with fewer it is another text, such as "your program
does not show HTML"."""

_TEXT_NAMES = frozenset({".txt", ".text", ".md", ".markdown", ".csv", ".tsv", ".log", ".rst", ".org", ".html", ".htm"})
"""Attachments that are text whatever their type says; many programs send all files as bytes."""

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
        attachments = [piece.name for piece in pieces if piece.name][:MAX_NAMES]
        yield _facts(headers, attachments, is_whole=is_whole)
        if attachments:
            headers["Attachments"] = ", ".join(attachments)
        yield _shown(headers)
        for piece in pieces:
            yield from _segments(piece)


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
    while pending and len(found) < MAX_PARTS:
        piece = pending.pop()
        payload = piece.part.get_payload()
        if not isinstance(payload, list):
            found.append(evolve(piece, name=_file_name(piece.part)))
            continue
        children = [child for child in payload if isinstance(child, Message)]
        if piece.part.get_content_type() == "message/rfc822" and children:
            name = _file_name(piece.part)
            label = name or _header(children[0], "Subject") or "forwarded mail"
            piece = _Piece(children[0], name, (Place(kind="attachment", label=label),), is_mail=True)
            found.append(piece)
        elif piece.part.get_content_type() == "multipart/alternative":
            piece = evolve(piece, plain=_plain_version(children))
        pending.extend(evolve(piece, part=child, name="", is_mail=False) for child in reversed(children))
    return found


def _plain_version(versions: list["Message[str, str]"]) -> str:
    plain = (part for part in versions if part.get_content_type() == "text/plain" and not _file_name(part))
    return next((text for part in plain if (text := _text(part)).strip()), "")


def _headers(message: "Message[str, str]") -> dict[str, str]:
    return {name: _header(message, name) for name in _SHOWN}


def _shown(headers: dict[str, str], within: tuple[Place, ...] = ()) -> Segment:
    lines = [f"{name}: {value}" for name, value in headers.items() if value]
    return Segment(text="\n".join(lines), locator=(*within, Place(kind="part", label="headers")))


def _facts(headers: dict[str, str], attachments: list[str], *, is_whole: bool) -> DocumentFacts:
    metadata: dict[str, object] = {"file_type": "mail", "extraction_method": "email"}
    metadata.update({name.lower(): value for name, value in headers.items() if value and name != "Subject"})
    with suppress(ValueError, IndexError, TypeError):  # a date that is none stays as it is written
        metadata["date"] = parsedate_to_datetime(headers["Date"]).isoformat()
    if attachments:
        metadata["attachments"] = attachments
    facts = DocumentFacts(title=headers["Subject"], metadata=metadata)
    if is_whole:
        return facts
    return evolve(facts, reason=FileReason.PARTIAL, note=f"only {MAX_DEPTH} levels of parts within parts were read")


def _header(message: "Message[str, str]", name: str) -> str:
    """Decode a header; one in no known encoding is shown as it is."""
    return " ".join(clean(_words(_raw(message, name))).split())[:MAX_METADATA_CHARS]


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
    return " ".join(clean(_words(name)).split())[:200]


def _segments(piece: _Piece) -> Iterator[Segment]:
    if piece.is_mail:
        yield _shown(_headers(piece.part), piece.within)
        return
    text = clean(_text(piece.part, piece.name))
    within = (*piece.within, Place(kind="attachment", label=piece.name)) if piece.name else piece.within
    if not _is_html(piece.part, piece.name):
        for segment in text_segments(text):
            # Lines of a part are no lines of the file.
            yield Segment(text=segment.text, locator=within)
        return
    blocks = read_page(text).blocks
    words = {word for block in blocks for word in block.text.split()}
    if piece.name or len(words.intersection(piece.plain.split())) < SAME_SHARE * len(words):
        yield from segments(blocks, within=within)


def _text(part: "Message[str, str]", name: str = "") -> str:
    """Return the text of a part; of one that holds none, nothing."""
    if part.get_content_maintype() != "text" and extension_of(name) not in _TEXT_NAMES:
        return ""
    payload = part.get_payload(decode=True)
    return _decoded(part, payload) if isinstance(payload, bytes) and len(payload) <= MAX_ATTACHMENT_BYTES else ""


def _is_html(part: "Message[str, str]", name: str) -> bool:
    if part.get_content_maintype() == "text":
        return part.get_content_type() == "text/html"
    return extension_of(name) in {".html", ".htm"}


def _decoded(part: "Message[str, str]", payload: bytes) -> str:
    import webencodings  # only mails need it here

    # The names that browsers know: some of Python's own codecs take quadratic time.
    known = webencodings.lookup(part.get_content_charset("") or "")
    if known is not None and known.name not in {"replacement", "x-user-defined"}:
        return str(known.codec_info.decode(payload, "replace")[0])
    try:
        return decode(payload, html=part.get_content_type() == "text/html").text
    except ExtractionFailed:
        return ""  # an attachment that only says that it is text
