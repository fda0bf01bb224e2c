"""Figures that stand higher than the number before them: the mark of a note, or a power."""

import ctypes
import re
from typing import Any

_NUMBER = re.compile("[0-9][0-9]{2,}")  # every page is searched: this way it costs a sixth of what other patterns do
_MOST_NUMBERS = 100
"""Of one page: one of more is a table, and is left as it is."""

_RISE = 0.3
"""Of the height of a figure, above the line that the number stands on. A crooked scan rises by less; some fonts have
figures that reach below the line, and none whose foot is above it."""


def apart(text: str, textpage: Any) -> str:
    """Put a `^` before raised figures that follow a figure of the line: 1148^1 is not 11481.

    Args:
        text: of the page, as it is to be shown.
        textpage: PDFium's page of text.
    """
    if not 0 < sum(map(_may_be_two, _NUMBER.findall(text))) <= _MOST_NUMBERS:
        return text
    shown: dict[str, set[str]] = {}
    whole = textpage.get_text_range()
    for number in filter(lambda number: _may_be_two(number[0]), _NUMBER.finditer(whole)):
        shown.setdefault(number[0], set()).add(_shown(number[0], number.start(), textpage))
    changed = {number: versions.pop() for number, versions in shown.items() if number not in versions}
    return _NUMBER.sub(lambda number: changed.get(number[0], number[0]), text) if changed else text


def _may_be_two(number: str) -> bool:
    """Whether it may be a year with the mark of a note, or a power of ten; to look at each takes too long."""
    return len(number) >= 5 or (number.startswith("10") and len(number) <= 4 and number[2] != "0")


def _shown(number: str, start: int, textpage: Any) -> str:
    """Return a number with its raised end, if it has one, behind a sign."""
    import pypdfium2.raw as raw

    first = raw.FPDFText_GetCharIndexFromTextIndex(textpage, start)
    across, line = ctypes.c_double(), ctypes.c_double()
    if first < 0 or not raw.FPDFText_GetCharOrigin(textpage, first, across, line):
        return number
    _, bottom, _, top = textpage.get_charbox(first)
    raised = line.value + _RISE * (top - bottom)
    ends = range(len(number) - 1, 0, -1)
    plain = next((end for end in ends if textpage.get_charbox(first + end)[1] <= raised), 0)
    return f"{number[: plain + 1]}^{number[plain + 1 :]}" if plain < ends[0] else number
