"""Headings: what a hit is shown under, and where the passage below them begins."""

import re
from collections.abc import Iterable, Iterator

from openmind.domain.documents import Locator

TOGETHER = " · "
"""Stands between the headings of small sections that became one passage."""
# Possessive throughout: a passage may be nothing but blanks, and each way to divide them would be tried.
_LINE_END = r"[^\S\n]*+(?:\n|\Z)"
_RULER = rf"[^\w\s|]{{2,}}+{_LINE_END}"
_MARK = r"[^\S\n]*+(?:#\+title:|[#=*]{0,9})[^\S\n]*+(?:(?:TODO|DONE|NEXT|WAITING)[^\S\n]++)?(?:\[#[A-Z]\][^\S\n]++)?"
"""What stands before a heading in Markdown, AsciiDoc and Org."""
_CLOSE = rf"[^\S\n]*+(?:[#=]*+|:[\w@#%:]+:){_LINE_END}"
"""What stands behind it: its marks once more, or the tags of Org."""
_NUMBERED = frozenset({"page", "line", "lines", "row", "rows", "paragraphs"})
"""Places whose labels are numbers more than names."""


def names_of(title: str, locator: Locator) -> Iterator[str]:
    """Name what a passage with this title and place is shown under, the title first."""
    if title:
        yield title
    for place in locator:
        if place.label and place.kind not in _NUMBERED:
            yield from place.label.split(TOGETHER)


def below_headings(text: str, names: Iterable[str]) -> str:
    """Return a passage without the headings it opens with, as far as they are among `names`.

    A heading stands on lines of its own, whatever marks it as one: `## Name`, `Name ##`, or a line drawn below it.
    A passage of nothing but headings is returned as it is.
    """
    left = [pattern for name in dict.fromkeys(names) if (pattern := _opening(name)) is not None]
    rest = text
    while found := next((found for pattern in left if (found := pattern.match(rest))), None):
        rest = rest[found.end() :]
        left.remove(found.re)
    return rest if rest.strip() else text


def _opening(name: str) -> re.Pattern[str] | None:
    words = name.split()
    if not words:
        return None
    spelled = r"\s++".join(map(re.escape, words))
    return re.compile(rf"\s*+(?:{_RULER})?{_MARK}{spelled}{_CLOSE}(?:{_RULER})?", re.IGNORECASE)
