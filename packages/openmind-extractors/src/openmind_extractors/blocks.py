"""The blocks of a document that comes as HTML-like events: headings, paragraphs, code, tables."""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from itertools import groupby

from attrs import define, field, frozen
from openmind.domain.documents import Locator, Place, Segment
from openmind.domain.text import clean

from openmind_extractors.note_marks import NoteMarks, are_notes, is_note
from openmind_extractors.outline import HeadingPath

PARAGRAPH_GROUP_CHARS = 2_000
"""Paragraphs are gathered up to this size into one segment: about two passages, so places stay exact."""

TABLE_GROUP_CHARS = 4_000
"""Rows of a table are gathered up to this size."""

FOOTNOTES = "footnotes"

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}

_BLOCKS = frozenset(
    """
    address article blockquote body caption center dd details dialog dir div dl dt fieldset
    figcaption figure form header hgroup hr html legend li main menu ol p section summary
    ul
    """.split()  # noqa: SIM905  a word a line would hide the list
)

_DROPPED = frozenset(
    """
    script style template noscript iframe object embed applet canvas svg audio video select button
    textarea datalist rp rt
    """.split()  # noqa: SIM905  a word a line would hide the list
)


class _Role(Enum):
    """What an element does to the text."""

    BLOCK = 1
    HEADING = 2
    CODE = 3
    TABLE = 4
    BREAK = 5
    PICTURE = 6
    TITLE = 7
    DROPPED = 8
    BOILERPLATE = 9
    MARK = 10


BOILERPLATE = frozenset({"nav", "footer", "aside"})
"""What surrounds the text on every page of a site."""

_ROLES = {
    **dict.fromkeys(_BLOCKS, _Role.BLOCK),
    **dict.fromkeys(_HEADINGS, _Role.HEADING),
    **dict.fromkeys(_DROPPED, _Role.DROPPED),
    **dict.fromkeys(BOILERPLATE, _Role.BOILERPLATE),
    **dict.fromkeys(("table", "tr", "td", "th"), _Role.TABLE),
    "pre": _Role.CODE,
    "br": _Role.BREAK,
    "img": _Role.PICTURE,
    "title": _Role.TITLE,
    **dict.fromkeys(("a", "sup"), _Role.MARK),
}
_ROLES_OF_BOILERPLATE = {"navigation": "nav", "search": "nav", "contentinfo": "footer", "complementary": "aside"}


@frozen
class Block:
    """A piece of a document that stands on lines of its own."""

    text: str
    kind: str = "text"
    level: int = 0
    """1–6 for headings."""
    part: str = ""
    """What it stands in, when that is beside the running text: `footnotes`."""


@define
class _Table:
    """A table while it is read. It may turn out to be a layout that only looks like one."""

    rows: list[list[list[Block]]] = field(factory=list)
    is_layout: bool = False

    def blocks(self) -> list[Block]:
        """Return the table; of a layout its text, with those rows together that are rows of a table all the same."""
        if not self.is_layout:
            return self._together(self.rows)
        found = []
        for are_cells, group in groupby(self.rows, key=_are_cells):
            rows = list(group)
            found += self._together(rows) if are_cells else [block for row in rows for cell in row for block in cell]
        return found

    @staticmethod
    def _together(rows: Iterable[list[list[Block]]]) -> list[Block]:
        lines = [" | ".join(" ".join(block.text for block in cell) for cell in row) for row in rows]
        text = "\n".join(" ".join(line.split()) for line in lines if line.strip(" |"))
        return [Block(text, "table")] if text else []


def _are_cells(row: list[list[Block]]) -> bool:
    """Whether a row holds no more than one line of text in each of several cells."""
    plain = all(len(cell) <= 1 and not any(block.level or block.kind != "text" for block in cell) for cell in row)
    return plain and sum(bool(cell) for cell in row) > 1


@define
class BlockReader:
    """Turns elements into blocks. Feed it events in document order; nothing here recurses."""

    boilerplate: frozenset[str] = BOILERPLATE
    """The elements of `BOILERPLATE` that are left out."""
    part: str = ""
    """Given to the blocks from here on."""
    title: str = ""
    """What the `title` element says."""
    blocks: list[Block] = field(factory=list)
    _line: list[str] = field(factory=list)
    _lines: list[str] = field(factory=list)
    _tables: list[_Table] = field(factory=list)
    _kinds: list[tuple[str, int]] = field(factory=list)
    _title_parts: list[str] | None = None
    _list_item: bool = False
    _marks: NoteMarks = field(factory=NoteMarks)
    _notes: tuple[str, int] = ("", 0)
    """The element that gathers notes, and how many of its kind are open."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Begin an element; False when all of it is to be left out, its end included."""
        if attributes and self._is_hidden(attributes):
            return False
        role = _ROLES.get(tag)
        if role is None:  # within a line
            return True
        if role is _Role.MARK:
            self._marks.start(tag, attributes, self._line)
            return True
        if role is _Role.DROPPED or (tag in self.boilerplate and not is_note(attributes)):
            return False
        if role is _Role.BREAK:
            self._break()
        elif role is _Role.PICTURE:
            self._line.append(f" {attributes.get('alt', '')} ")
        elif role is _Role.TITLE:
            self._title_parts = None if self.title else []
        else:
            self._flush()
            if self._notes[0] or attributes:
                self._start_of_notes(tag, attributes)
            if role is _Role.HEADING or role is _Role.CODE:
                self._kinds.append(("text", _HEADINGS[tag]) if role is _Role.HEADING else ("code", 0))
            elif role is _Role.TABLE:
                self._start_of_table(tag)
            elif tag == "li":
                self._list_item = True
        return True

    def end(self, tag: str) -> None:
        """End an element that was begun."""
        role = _ROLES.get(tag)
        if role is None:
            return
        if role is _Role.MARK:
            self._marks.end(tag, self._line)
        elif role is _Role.TITLE:
            if self._title_parts is not None:
                self.title = " ".join("".join(self._title_parts).split())
                self._title_parts = None
        elif role is not _Role.BREAK and role is not _Role.PICTURE:
            self._flush()
            if role is _Role.HEADING or role is _Role.CODE:
                if self._kinds:
                    self._kinds.pop()
            elif tag == "table" and self._tables:
                for block in self._tables.pop().blocks():
                    self.add(block)
            if tag == self._notes[0]:
                self._end_of_notes()

    def text(self, text: str) -> None:
        """Add text of the element that is open."""
        if self._title_parts is not None:
            self._title_parts.append(text)
        elif self._kinds and self._kinds[-1][0] == "code":
            self._lines.append(text)
        else:
            self._line.append(text)

    def finish(self) -> list[Block]:
        """Return all blocks; what was left open is closed."""
        self._flush()
        while self._tables:
            self.end("table")
        return self.blocks

    def _is_hidden(self, attributes: Mapping[str, str]) -> bool:
        if "hidden" in attributes or attributes.get("aria-hidden") == "true":
            return True
        style = attributes.get("style")
        if style and "none" in style and "display:none" in style.replace(" ", "").lower():
            return True
        return _ROLES_OF_BOILERPLATE.get(attributes.get("role", "")) in self.boilerplate

    def _start_of_notes(self, tag: str, attributes: Mapping[str, str]) -> None:
        within, depth = self._notes
        if within:
            self._notes = (within, depth + (tag == within))
        elif are_notes(attributes):
            self._notes, self.part = (tag, 1), FOOTNOTES

    def _end_of_notes(self) -> None:
        tag, depth = self._notes
        self._notes = (tag, depth - 1)
        if depth <= 1:
            self._notes, self.part = ("", 0), ""

    def _start_of_table(self, tag: str) -> None:
        if tag == "table":
            if self._tables:
                self._tables[-1].is_layout = True
            self._tables.append(_Table())
        elif self._tables:
            rows = self._tables[-1].rows
            if tag == "tr" or not rows:
                rows.append([])
            if tag != "tr":
                rows[-1].append([])

    def _break(self) -> None:
        if self._kinds and self._kinds[-1][0] == "code":
            self._lines.append("\n")
        elif self._line:
            text = self._line[0] if len(self._line) == 1 else "".join(self._line)
            self._lines.append(" ".join(text.split()))
            self._line = []
            self._marks.forget()

    def _flush(self) -> None:
        """End the block that is open, if it holds text."""
        if not self._line and not self._lines:
            return
        kind, level = self._kinds[-1] if self._kinds else ("text", 0)
        if kind == "code":
            text = clean("".join(self._lines)).strip("\n").rstrip()
        else:
            self._break()
            text = clean("\n".join(line for line in self._lines if line))
        self._line, self._lines = [], []
        self._marks.forget()
        if text.strip():
            item, self._list_item = self._list_item, False
            self.add(Block(f"- {text}" if item and kind == "text" and not level else text, kind, level, self.part))

    def add(self, block: Block) -> None:
        """Add a block where the reader is, be it a cell of a table."""
        if not self._tables:
            self.blocks.append(block)
            return
        table = self._tables[-1]
        if block.level or block.kind != "text":
            table.is_layout = True
        if not table.rows or not table.rows[-1]:
            table.rows.append([[]])
        table.rows[-1][-1].append(block)


def segments(blocks: Iterable[Block], *, within: Locator = (), first: int = 1) -> Iterator[Segment]:
    """Gather blocks into segments with their heading path and paragraph numbers.

    The running text comes first, then each part that stands beside it, with numbers of its own.

    Args:
        blocks: the blocks in reading order.
        within: the wider places they all stand in.
        first: the number of the first block.
    """
    by_part: dict[str, list[Block]] = {"": []}
    for block in blocks:
        by_part.setdefault(block.part, []).append(block)
    yield from _segments(by_part.pop(""), within, first)
    for part, beside in by_part.items():
        yield from _segments(beside, (*within, Place(kind="part", label=part)), 1)


def _segments(blocks: Iterable[Block], within: Locator, first: int) -> Iterator[Segment]:
    path = HeadingPath()
    group: list[str] = []
    begin, size, number = first, 0, first

    def place(start: int, end: int) -> Locator:
        return (*within, *path.places, Place(kind="paragraphs", start=start, end=end))

    for number, block in enumerate(blocks, start=first):
        apart = block.kind != "text" or block.level or size + len(block.text) > PARAGRAPH_GROUP_CHARS
        if apart and group:
            yield Segment(text="\n".join(group), locator=place(begin, number - 1))
            group, size = [], 0
        if block.level:
            path = path.enter(block.level, " ".join(block.text.split()))
        if block.kind == "text":
            begin = begin if group else number
            group.append(block.text)
            size += len(block.text) + 1
        else:
            for part in _parts(block):
                yield Segment(text=part, locator=place(number, number), kind=block.kind)
    if group:
        yield Segment(text="\n".join(group), locator=place(begin, number))


def _parts(block: Block) -> Iterator[str]:
    """Divide a long table between its rows; code stays whole."""
    if block.kind != "table" or len(block.text) <= TABLE_GROUP_CHARS:
        yield block.text
        return
    rows: list[str] = []
    size = 0
    for row in block.text.split("\n"):
        if rows and size + len(row) > TABLE_GROUP_CHARS:
            yield "\n".join(rows)
            rows, size = [], 0
        rows.append(row)
        size += len(row) + 1
    yield "\n".join(rows)
