"""What extractors make of a file: segments of text, each with its place."""

from collections.abc import Mapping

from attrs import field, frozen

from openmind.domain.files import FileReason


@frozen(kw_only=True)
class Place:
    """One part of a locator: `page` 12, `lines` 40–52, `heading` "Methods"."""

    kind: str
    """`page`, `lines`, `rows`, `sheet`, `slide`, `heading`, `chapter`, `attachment`, `body`, and kinds to come."""
    start: int | None = None
    """First number, counted from 1; None where the place has only a label."""
    end: int | None = None
    """Last number, included; None where it is the same as `start`."""
    label: str = ""
    """What the document itself calls the place: a page label, a heading, a sheet's name."""


Locator = tuple[Place, ...]
"""Where a piece of text stands, from the widest place to the narrowest."""


SEGMENT_KINDS = ("text", "code", "table", "annotation", "form", "picture")
"""What a segment can be."""


@frozen(kw_only=True)
class Segment:
    """A stretch of text that belongs together, with its place.

    `heading` places of the locator, in order, are the heading path. Lines of `text` are lines of the file when
    the locator has a `lines` place below nothing but headings: the first line of the text is line `start` of the file.
    Below another place, such as an `attachment`, they are lines of that.
    """

    text: str
    locator: Locator = ()
    kind: str = "text"
    """`text`, `code` (kept whole where it fits), `table` (one row a line), `annotation`, `form`, `picture`."""


@frozen(kw_only=True)
class Picture:
    """What a model is shown so that it can describe it. It is kept nowhere."""

    data: bytes = field(repr=False)
    """A whole PNG or JPEG file of at most 2,048 pixels a side."""
    media_type: str
    """`image/png` or `image/jpeg`."""


@frozen(kw_only=True)
class DocumentFacts:
    """What is true of a document as a whole. A later one replaces what an earlier one of the same file said."""

    title: str = ""
    metadata: dict[str, object] = field(factory=dict)
    """JSON-safe; kept with the file and with each of its passages."""
    reason: FileReason = FileReason.OK
    """`ok`, or what a person should know: `partial`, `empty`, `needs_ocr`, …"""
    note: str = ""
    """One sentence for a person when `reason` is not `ok`."""


@frozen(kw_only=True)
class ExtractedDocument:
    """The text of one file."""

    segments: tuple[Segment, ...] = ()
    facts: DocumentFacts = DocumentFacts()


BEYOND_ALL_FILES = 2**53
"""No number of a place reaches it: every reader of JSON can hold what is smaller."""
Part = Segment | DocumentFacts | Picture


_FIELDS: Mapping[type, Mapping[str, type]] = {
    Segment: {"text": str, "locator": tuple, "kind": str},
    DocumentFacts: {"title": str, "metadata": dict, "reason": FileReason, "note": str},
    Picture: {"data": bytes, "media_type": str},
    Place: {"kind": str, "label": str},
}


def check_part(part: object) -> None:
    """Refuse what is no part of a document: whatever handles it later trusts its types.

    Raises:
        TypeError: it names the field that is wrong.
    """
    if not isinstance(part, Part):
        raise TypeError(f"an extractor may not yield {part!r}"[:200])
    _check_fields(part)
    if isinstance(part, Segment):
        for place in part.locator:
            check_place(place)


def check_yielded(part: object) -> None:
    """Refuse what no extractor may yield now. What was kept before may be of a kind that is not known any more.

    Raises:
        TypeError: it names the field that is wrong.
    """
    check_part(part)
    if isinstance(part, Segment) and part.kind not in SEGMENT_KINDS:
        raise TypeError(f"kind of a Segment is {part.kind!r}, and has to be one of {', '.join(SEGMENT_KINDS)}"[:200])


def check_place(place: object) -> None:
    """Refuse what is no place.

    Raises:
        TypeError: it names the field that is wrong.
    """
    if not isinstance(place, Place):
        raise TypeError(f"{place!r} is no place"[:200])
    _check_fields(place)
    for name, number in (("start", place.start), ("end", place.end)):
        is_whole = isinstance(number, int) and not isinstance(number, bool)
        if number is not None and not (is_whole and 0 <= number < BEYOND_ALL_FILES):
            raise TypeError(f"{name} of a Place is {number!r}, and has to be a whole number from 1, or None"[:200])


def _check_fields(value: Part | Place) -> None:
    kind = next(each for each in _FIELDS if isinstance(value, each))
    for name, wanted in _FIELDS[kind].items():
        found = getattr(value, name)
        if not isinstance(found, wanted):
            raise TypeError(f"{name} of a {kind.__name__} is {found!r}, and has to be {wanted.__name__}"[:200])
