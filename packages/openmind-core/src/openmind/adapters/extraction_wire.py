"""What a reading worker sends: segments and facts as JSON. The reader of it trusts nothing."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import TypeVar

from openmind.domain.documents import BEYOND_ALL_FILES, DocumentFacts, Locator, Picture, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.recognition import PageNews, PageText

MAX_PAGE_CHARS = 20_000_000
MAX_LABEL_CHARS = 1_000
MAX_PLACES = 64
MAX_DEPTH = 16
MAX_NUMBER_BITS = 1_024
MAX_METADATA_ITEMS = 10_000
MAX_PICTURE_BYTES = 8_000_000
PICTURE_STARTS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
"""Kinds of pictures that models take, and how their files begin."""

T = TypeVar("T")


class Deferred:
    """Sent last instead of a failure: the file needs OCR, and the request said that this can wait."""


class WireError(Exception):
    """What came is not what a worker sends."""


def part_to_wire(part: Segment | DocumentFacts | Picture) -> dict[str, object]:
    """Write a piece of a document. The bytes of a picture travel as the payload beside it."""
    if isinstance(part, Picture):
        return {"picture": part.media_type}
    if isinstance(part, Segment):
        places = [[place.kind, place.start, place.end, place.label] for place in part.locator]
        return {"text": part.text, "kind": part.kind, "places": places}
    metadata = _json_safe(part.metadata, MAX_DEPTH)
    return {"title": part.title, "metadata": metadata, "reason": part.reason.value, "note": part.note}


def failure_to_wire(failure: ExtractionFailed) -> dict[str, object]:
    """Write that a document could not be read (further)."""
    return {"failure": failure.message, "reason": failure.reason.value, "hint": failure.hint}


def deferral_to_wire() -> dict[str, object]:
    """Write that a document needs OCR, which was to wait."""
    return {"deferred": True}


def news_to_wire(news: PageNews) -> dict[str, object]:
    """Write to what page recognition came, or what it read there, ahead of the pieces of the document."""
    place = {"page": news.page, "pages": news.pages}
    read = news.read
    if read is None:
        return {"recognised": None, **place}
    page = {"text": read.text, "confidence": float(read.confidence), "warning": read.warning, "name": read.name}
    return {"recognised": page, **place}


def is_news(message: Mapping[str, object]) -> bool:
    """Whether this is no piece of a document but what `news_to_wire` wrote."""
    return "recognised" in message


def news_from_wire(message: Mapping[str, object]) -> PageNews:
    """Read to what page recognition came, or what it read there.

    Raises:
        WireError: it is nothing of the kind.
    """
    page, pages = _number(message.get("page")), _number(message.get("pages"))
    read = message.get("recognised")
    return PageNews(None if read is None else _page_text(read), page or 0, pages or 0)


def engine_to_wire(*, waits: bool) -> dict[str, object]:
    """Write that the start of the OCR engine takes long, or that it is over."""
    return {"engine_waits": waits}


def engine_from_wire(message: Mapping[str, object]) -> bool | None:
    """Read whether the start of the OCR engine takes long; None where the message is about something else."""
    return bool(message["engine_waits"]) if "engine_waits" in message else None


def recognised_to_wire(pages: Iterable[PageText]) -> bytes:
    """Write what was recognised of a file before, for the payload of a request."""
    return json.dumps([[page.name, page.text, page.confidence, page.warning] for page in pages]).encode()


def recognised_from_wire(payload: bytes) -> dict[str, PageText]:
    """Read in a worker what our own `recognised_to_wire` wrote, by its names."""
    rows = json.loads(payload) if payload else []
    return {
        name: PageText(name=name, text=text, confidence=confidence, warning=warning)
        for name, text, confidence, warning in rows
    }


def _page_text(value: object) -> PageText:
    page = _of_type(value, dict, "a page")
    confidence = _of_type(page.get("confidence"), float, "confidence")
    return PageText(
        name=_text(page, "name", MAX_LABEL_CHARS),
        text=_text(page, "text", MAX_PAGE_CHARS),
        confidence=confidence if math.isfinite(confidence) else 0.0,
        warning=_text(page, "warning", MAX_LABEL_CHARS),
    )


def payload_of(part: Segment | DocumentFacts | Picture) -> bytes:
    """Return what travels beside a piece of a document."""
    return part.data if isinstance(part, Picture) else b""


def part_from_wire(
    message: Mapping[str, object], payload: bytes = b""
) -> Segment | DocumentFacts | Picture | ExtractionFailed | Deferred:
    """Read a piece of a document.

    Raises:
        WireError: it is none, or is out of all measure.
    """
    if "text" in message:
        return Segment(
            text=_clean(_of_type(message.get("text"), str, "text")),
            locator=_locator(message.get("places")),
            kind=_text(message, "kind", 32),
        )
    if "deferred" in message:
        return Deferred()
    if "picture" in message:
        return _picture(message, payload)
    reason = _reason(message.get("reason"))
    if "failure" in message:
        return ExtractionFailed(
            _text(message, "failure", MAX_LABEL_CHARS), reason=reason, hint=_text(message, "hint", MAX_LABEL_CHARS)
        )
    return DocumentFacts(
        title=_text(message, "title", MAX_LABEL_CHARS),
        metadata=_metadata(message.get("metadata")),
        reason=reason,
        note=_text(message, "note", MAX_LABEL_CHARS),
    )


def _picture(message: Mapping[str, object], payload: bytes) -> Picture:
    media_type = _text(message, "picture", 32)
    if not payload.startswith(PICTURE_STARTS.get(media_type, b"")) or media_type not in PICTURE_STARTS:
        raise WireError("a picture that is none")
    if len(payload) > MAX_PICTURE_BYTES:
        raise WireError("a picture without end")
    return Picture(data=payload, media_type=media_type)


def _of_type(value: object, kind: type[T], what: str) -> T:
    if type(value) is not kind:  # not `isinstance`: True is no number here
        raise WireError(f"{what} is {type(value).__name__} instead of {kind.__name__}")
    return value


def _text(message: Mapping[str, object], key: str, limit: int) -> str:
    """Read text; what is too long for a label is cut, what is no character is replaced."""
    text = _of_type(message.get(key), str, key)
    if len(text) > limit:
        if limit > MAX_LABEL_CHARS:
            raise WireError("a text without end")
        text = text[: limit - 1] + "…"
    return _clean(text)


def _clean(text: str) -> str:
    """Replace lone surrogates: neither database nor JSON takes them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _reason(value: object) -> FileReason:
    try:
        return FileReason(_of_type(value, str, "reason"))
    except ValueError as error:
        raise WireError("an unknown reason") from error


def _locator(value: object) -> Locator:
    places = _of_type(value, list, "a locator")
    if len(places) > MAX_PLACES:
        raise WireError("a locator without end")
    return tuple(_place(place) for place in places)


def _place(value: object) -> Place:
    parts = _of_type(value, list, "a place")
    if len(parts) != 4:
        raise WireError("a place of another shape")
    kind, start, end, label = parts
    named = {"kind": kind, "label": label}
    return Place(
        kind=_text(named, "kind", 32),
        start=_number(start),
        end=_number(end),
        label=_text(named, "label", MAX_LABEL_CHARS),
    )


def _number(value: object) -> int | None:
    if value is None:
        return None
    number = _of_type(value, int, "a number")
    if not 0 <= number < BEYOND_ALL_FILES:
        raise WireError("a place beyond all files")
    return number


def _metadata(value: object) -> dict[str, object]:
    """Look at every value; text in it is cleaned."""
    left = MAX_METADATA_ITEMS

    def checked(item: object, depth: int) -> object:
        nonlocal left
        left -= 1
        if left < 0 or depth < 0:
            raise WireError("metadata without end")
        if isinstance(item, str):
            return _clean(item)
        if isinstance(item, list):
            return [checked(each, depth - 1) for each in item]
        if isinstance(item, dict):
            return {_clean(key): checked(each, depth - 1) for key, each in item.items()}
        if isinstance(item, float) and not math.isfinite(item):
            raise WireError("metadata with a number that is none")
        return item

    return {_clean(key): checked(item, MAX_DEPTH) for key, item in _of_type(value, dict, "metadata").items()}


def _json_safe(value: object, depth: int) -> object:
    """Make what an extractor says of a document fit for JSON; what has no form there becomes text."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):  # nobody reads thousands of digits, and JSON's own reader refuses them
        return value if value.bit_length() <= MAX_NUMBER_BITS else f"a number of {value.bit_length()} bits"
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth and isinstance(value, Mapping):
        return {str(key): _json_safe(item, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, list | tuple | set | frozenset):
        return [_json_safe(item, depth - 1) for item in value]
    return f"{len(value)} bytes" if isinstance(value, bytes) else str(value)[:MAX_LABEL_CHARS]
