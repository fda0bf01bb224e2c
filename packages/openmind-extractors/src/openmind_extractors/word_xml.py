"""WordprocessingML read directly: the parts that mammoth leaves out, and documents that are too much for it."""

import re
from collections.abc import Mapping

from attrs import define, field

from openmind_extractors.blocks import Block, BlockReader
from openmind_extractors.safe_xml import parse

_SKIPPED = frozenset({"del", "moveFrom", "delText", "instrText", "Fallback", "pPrChange", "rPrChange", "sectPr"})
_OFF = frozenset({"0", "false", "off", "none"})
_HEADING_NAME = re.compile(r"(?:heading|überschrift|titre|título|titolo) ?([1-6])", re.IGNORECASE)


_STYLE_DEPTH = 20
"""Styles above a style: a program lets nobody stack as many, and a made-up list may go in circles."""


@define
class Styles:
    """What matters of a document's styles."""

    headings: dict[str, int] = field(factory=dict)
    """Level by style id."""
    hidden: set[str] = field(factory=set)
    """Ids of the styles whose text is hidden."""
    own_headings: set[str] = field(factory=set)
    """Ids of the styles of headings that have names of the document's own."""
    _id: str = ""
    _named: dict[str, int] = field(factory=dict)
    """Level by style id, by the style's name."""
    _outline: dict[str, int] = field(factory=dict)
    """Level by style id, as the style says it itself; 0 for text."""
    _parents: dict[str, str] = field(factory=dict)

    @classmethod
    def read(cls, data: bytes) -> "Styles":
        """Read `styles.xml`; without one, the ids that Word gives are known."""
        styles = cls({"Title": 1, **{f"Heading{level}": level for level in range(1, 7)}})
        if data:
            parse(data, start=styles._start, end=lambda name: None, text=lambda text: None)
            styles._inherit()
        return styles

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "style":
            self._id = attributes.get("styleId", "")
        elif name == "name":
            label = attributes.get("val", "")
            match = _HEADING_NAME.fullmatch(label)
            if match:
                self.headings[self._id] = self._named[self._id] = int(match.group(1))
                if label.lower() != f"heading {match.group(1)}":
                    self.own_headings.add(self._id)
            elif label.lower() == "title":
                self.headings[self._id] = 1
        elif name == "basedOn":
            self._parents[self._id] = attributes.get("val", "")
        elif name == "outlineLvl":
            self._outline[self._id] = outline_level(attributes)
        elif name == "vanish" and attributes.get("val") not in _OFF:
            self.hidden.add(self._id)

    def _inherit(self) -> None:
        """Give the styles of the document's own their level."""
        for style in {*self._parents, *self._outline} - {""}:
            level = 0 if style in self.headings else self._inherited(style)
            if level:
                self.own_headings.add(style)
        for style in self.own_headings:
            self.headings.setdefault(style, self._inherited(style))

    def _inherited(self, style: str) -> int:
        """Return the level that a style says it has, or the nearest style above it; a title hands none down."""
        for _ in range(_STYLE_DEPTH):
            if style in self._outline:
                return self._outline[style]
            if style in self._named:
                return self._named[style]
            style = self._parents.get(style, "")
        return 0


def outline_level(attributes: Mapping[str, str]) -> int:
    """Return the level of a heading, 1–6, that `outlineLvl` gives; 0 for text."""
    value = attributes.get("val", "")
    return min(int(value) + 1, 6) if value in set("012345678") else 0


@define
class WordReader:
    """Turns WordprocessingML events into blocks. Deleted and hidden text is left out."""

    styles: Styles
    only_text_boxes: bool = False
    blocks: BlockReader = field(factory=BlockReader)
    _skipping: int = 0
    _boxes: int = 0
    _properties: int = 0
    _hidden: bool = False
    _in_text: bool = False
    _paragraphs: list[int] = field(factory=list)
    """Heading level of each paragraph that is open; text boxes put one into another."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        if self._skipping or name in _SKIPPED:
            self._skipping += 1
        elif name == "p":
            self.blocks.start("p", {})
            self._paragraphs.append(0)
        elif name == "pStyle":
            self._begin_heading(self.styles.headings.get(attributes.get("val", ""), 0))
        elif name == "outlineLvl":
            self._begin_heading(outline_level(attributes))
        elif name == "r":
            self._hidden = False
        elif name == "rPr" or name == "pPr":
            self._properties += 1
        elif name == "vanish":
            self._hidden = attributes.get("val") not in _OFF
        elif name == "rStyle":
            self._hidden = self._hidden or attributes.get("val") in self.styles.hidden
        elif name == "t":
            self._in_text = True
        elif name == "tab" and not self._properties:
            self._add(" ")
        elif name in {"br", "cr"}:
            self.blocks.start("br", {})
        elif name == "noBreakHyphen":
            self._add("-")
        elif name == "txbxContent":
            self._boxes += 1
        elif name in _TABLE:
            self.blocks.start(_TABLE[name], {})

    def end(self, name: str) -> None:
        """End an element."""
        if self._skipping:
            self._skipping -= 1
        elif name == "p":
            level = self._paragraphs.pop() if self._paragraphs else 0
            self.blocks.end(f"h{level}" if level else "p")
        elif name == "rPr" or name == "pPr":
            self._properties -= 1
            if name == "pPr":
                self._hidden = False  # what a paragraph's own mark is like says nothing of its text
        elif name == "t":
            self._in_text = False
        elif name == "txbxContent":
            self._boxes -= 1
        elif name in _TABLE:
            self.blocks.end(_TABLE[name])

    def text(self, text: str) -> None:
        """Add text."""
        if self._in_text and not self._skipping:
            self._add(text)

    def _add(self, text: str) -> None:
        if not self._hidden and (self._boxes or not self.only_text_boxes):
            self.blocks.text(text)

    def _begin_heading(self, level: int) -> None:
        if level and self._paragraphs and not self._paragraphs[-1]:
            self._paragraphs[-1] = level
            self.blocks.start(f"h{level}", {})


_TABLE = {"tbl": "table", "tr": "tr", "tc": "td"}


def read_part(data: bytes, styles: Styles, *, only_text_boxes: bool = False) -> list[Block]:
    """Read the blocks of a document, a header, a note or a comment part.

    Raises:
        ExtractionFailed: the part is not well-formed.
    """
    reader = WordReader(styles, only_text_boxes)
    parse(data, start=reader.start, end=reader.end, text=reader.text)
    return reader.blocks.finish()
