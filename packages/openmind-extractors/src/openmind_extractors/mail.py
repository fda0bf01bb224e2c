"""Saved mails: who wrote what to whom, with the text of attachments."""

import email
from collections.abc import Iterator
from contextlib import suppress
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime

from attrs import frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
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

_SHOWN = ("From", "To", "Cc", "Date", "Subject")


@frozen
class MailExtractor:
    """Reads mails as they are saved by mail programs."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the facts first, then headers, body and attachments."""
        data = read_all(blob, MAX_MAIL_BYTES, "a mail")
        try:
            message = email.message_from_bytes(data)
            parts = _leaves(message)
        except (RecursionError, ValueError, LookupError, TypeError, AttributeError, MessageError) as error:
            raise ExtractionFailed(f"the mail cannot be taken apart ({type(error).__name__}: {error})"[:200]) from error
        headers = {name: _header(message, name) for name in _SHOWN}
        if not data.strip():
            raise ExtractionFailed("the file holds nothing", reason=FileReason.EMPTY)
        if not any(headers.values()):
            raise ExtractionFailed("this is no mail: it has no headers", reason=FileReason.UNSUPPORTED)
        attachments = [name for name in map(_file_name, parts) if name]
        yield _facts(headers, attachments)
        lines = [f"{name}: {value}" for name, value in headers.items() if value]
        yield Segment(text="\n".join(lines), locator=(Place(kind="part", label="headers"),))
        for part in _shown(parts):
            yield from _part(part)


def _facts(headers: dict[str, str], attachments: list[str]) -> DocumentFacts:
    metadata: dict[str, object] = {"file_type": "mail", "extraction_method": "email"}
    metadata.update({name.lower(): value for name, value in headers.items() if value and name != "Subject"})
    with suppress(ValueError, IndexError, TypeError):  # a date that is none stays as it is written
        metadata["date"] = parsedate_to_datetime(headers["Date"]).isoformat()
    if attachments:
        metadata["attachments"] = attachments[:50]
    return DocumentFacts(title=headers["Subject"], metadata=metadata)


def _header(message: "Message[str, str]", name: str) -> str:
    """Decode a header; one in no known encoding is shown as it is."""
    raw = str(message.get(name, ""))
    try:
        text = str(make_header(decode_header(raw)))
    except (LookupError, ValueError, MessageError):
        text = raw
    return " ".join(clean(text).split())[:MAX_METADATA_CHARS]


def _leaves(message: "Message[str, str]") -> list["Message[str, str]"]:
    """Return the parts that hold something, in order, without recursion."""
    found: list[Message[str, str]] = []
    pending = [message]
    while pending and len(found) < MAX_PARTS:
        part = pending.pop()
        payload = part.get_payload()
        if isinstance(payload, list):
            pending.extend(child for child in reversed(payload) if isinstance(child, Message))
        else:
            found.append(part)
    return found


def _shown(parts: list["Message[str, str]"]) -> Iterator["Message[str, str]"]:
    """Leave out the HTML version of a body that is there as plain text, too."""
    has_plain = any(part.get_content_type() == "text/plain" and not _file_name(part) for part in parts)
    for part in parts:
        if part.get_content_maintype() != "text":
            continue
        if has_plain and part.get_content_type() == "text/html" and not _file_name(part):
            continue
        yield part


def _file_name(part: "Message[str, str]") -> str:
    try:
        name = part.get_filename() or ""
    except (LookupError, ValueError, TypeError, MessageError):
        return ""
    return " ".join(clean(name).split())[:200]


def _part(part: "Message[str, str]") -> Iterator[Segment]:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes) or len(payload) > MAX_ATTACHMENT_BYTES:
        return
    text = clean(_decoded(part, payload))
    name = _file_name(part)
    within = (Place(kind="attachment", label=name),) if name else ()
    if part.get_content_type() == "text/html":
        yield from segments(read_page(text).blocks, within=within)
        return
    for segment in text_segments(text):
        # Lines of a part are no lines of the file.
        yield Segment(text=segment.text, locator=within)


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
