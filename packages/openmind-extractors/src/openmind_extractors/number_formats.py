"""Number formats of a workbook: the zeros, the percent sign and the currency that a person sees beside a number.

A format is part of ECMA-376 (part 1, 18.8.31). Those that only add something are known here: leading zeros, decimals,
percent, and words before or behind. A number keeps all its digits, also those that its format would round away, and no
thousands are grouped: how that is done depends on the reader's language. What another format shows cannot be told as
surely, so that its numbers stay as they are.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from attrs import define, field, frozen

from openmind_extractors.safe_xml import parse

_MAX_LITERAL = 40
"""Characters before or behind a number; more is no currency and no unit."""

_BUILT_IN = {1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 37: "#,##0", 38: "#,##0"} | {
    39: "#,##0.00",
    40: "#,##0.00",
}
"""Formats that every workbook has, by their number."""

_LITERAL = r"(?:\"[^\"]*+\"|\\.|_.|\*.|\[\$[^\]]*+\]|\[(?:Black|Blue|Cyan|Green|Magenta|Red|White|Yellow)\]|[ $€£¥+])"
_FORMAT = re.compile(rf"({_LITERAL}*+)((?:[#0?][#0?,]*+(?<!,))?)(?:\.([0#?]++))?(\x20?%)?({_LITERAL}*+)", re.IGNORECASE)
_PIECE = re.compile(r"\"([^\"]*+)\"|\\(.)|[_*].|\[\$([^\]\-]*+)[^\]]*+\]|\[[^\]]*+\]|([ $€£¥+])|.")
_CELL = re.compile(
    rb"<(?:\w{1,20}:)?c\s[^>]{0,200}?\br=[\"']([A-Z]{1,3})(\d{1,7})[\"'][^>]{0,200}?\ss=[\"'](\d{1,6})[\"']"
)
_LONGEST_CELL = 1_000
"""Bytes of a tag that is looked for."""


@frozen(kw_only=True)
class NumberFormat:
    """What is shown beside the digits of a number."""

    digits: int = 1
    """Least digits before the point."""
    decimals: int = 0
    """Least digits behind it."""
    percent: str = ""
    before: str = ""
    behind: str = ""

    def shown(self, value: float) -> str:
        """Write a number as a person reads it, with all its digits."""
        digits = f"{abs(value) * 100 if self.percent else abs(value):.15g}"
        if not digits.replace(".", "").isdigit():
            return f"{value:.15g}"  # too large or too small to be written in digits
        whole, _, decimals = digits.partition(".")
        decimals = decimals.ljust(self.decimals, "0")
        number = whole.rjust(self.digits, "0") + ("." + decimals if decimals else "") + self.percent
        return f"{self.before}{'-' if value < 0 else ''}{number}{self.behind}"


def read_format(code: str) -> NumberFormat | None:
    """Read a format as it is written in a workbook; None for one that does other things than to add something.

    Of formats for positive and negative numbers it is the first.
    """
    found = _FORMAT.fullmatch(_first_section(code))
    if not found or not (found[2] or found[3]):
        return None
    before, behind = _words(found[1]), _words(found[5])
    if len(before) > _MAX_LITERAL or len(behind) > _MAX_LITERAL:
        return None
    return NumberFormat(
        digits=max(found[2].count("0"), 1),
        decimals=(found[3] or "").count("0"),
        percent=found[4] or "",
        before=before.lstrip(),
        behind=behind.rstrip(),
    )


def _first_section(code: str) -> str:
    quoted = False
    for index, char in enumerate(code):
        if char == '"':
            quoted = not quoted
        elif char == ";" and not quoted:
            return code[:index]
    return code


def _words(literal: str) -> str:
    return "".join("".join(filter(None, piece)) for piece in _PIECE.findall(literal))


def read_styles(data: bytes) -> dict[int, NumberFormat]:
    """Return the formats that are known and change something, by the style of a cell; none for no bytes.

    Raises:
        ExtractionFailed: the XML is broken.
    """
    if not data:
        return {}
    styles = _Styles()
    parse(data, start=styles.start, end=styles.end, text=lambda text: None)
    formats = {id: read_format(code) for id, code in (_BUILT_IN | styles.codes).items()}
    plain = NumberFormat()
    return {style: known for style, id in enumerate(styles.of_cells) if (known := formats.get(id)) and known != plain}


@define
class _Styles:
    """Gathers the formats, and which one each style of cells has."""

    codes: dict[int, str] = field(factory=dict)
    of_cells: list[int] = field(factory=list)
    _is_open: bool = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "numFmt":
            self.codes[_number(attributes.get("numFmtId"))] = attributes.get("formatCode", "")
        elif name == "cellXfs":
            self._is_open = True
        elif name == "xf" and self._is_open:
            self.of_cells.append(_number(attributes.get("numFmtId")))

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self._is_open = False


def _number(value: str | None) -> int:
    return int(value) if value and value.isdecimal() and len(value) < 10 else 0


class FormattedCell(NamedTuple):  # there are as many as cells: attrs would take thrice the time to make one
    """A cell that may hold a number with a format; row and column count from 1."""

    row: int
    column: int
    format: NumberFormat


def formatted_cells(blocks: Iterable[bytes], formats: Mapping[int, NumberFormat]) -> Iterator[FormattedCell]:
    """Find the cells of a sheet that have one of the formats, in the order of its XML, which comes in blocks."""
    rest = b""
    for block in blocks:
        seen = rest + block
        last = max(seen.rfind(b"<"), 0)
        yield from _cells(seen[:last], formats)
        rest = seen[last:] if len(seen) - last < _LONGEST_CELL else b""
    yield from _cells(rest, formats)


def _cells(xml: bytes, formats: Mapping[int, NumberFormat]) -> Iterator[FormattedCell]:
    for column, row, style in _CELL.findall(xml):
        known = formats.get(int(style))
        if known:
            yield FormattedCell(int(row), column_number(column), known)


def column_number(letters: bytes) -> int:
    """Return the number of a column, from 1, that is named like `AB`."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number
