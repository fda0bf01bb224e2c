"""Headings: what a hit is shown under, and the passage without them."""

import re
from collections.abc import Collection, Iterable, Iterator

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
_NUMBERED = frozenset({"page", "line", "lines", "row", "rows", "paragraphs", "body"})
"""Places whose labels say where, not what."""


def names_of(title: str, locator: Locator) -> Iterator[str]:
    """Name what a passage with this title and place is shown under, the title first."""
    if title:
        yield title
    for place in locator:
        if place.label and place.kind not in _NUMBERED:
            yield from place.label.split(TOGETHER)


def headings_of(locator: Locator) -> frozenset[str]:
    """Name the headings that a passage in this place stands under, where nothing in its text marks them as such."""
    if not locator or locator[-1].kind != "paragraphs":
        return frozenset()
    labels = (place.label for place in locator if place.kind == "heading")
    return frozenset(name for label in labels for name in label.split(TOGETHER) if name)


def without_headings(text: str, names: Iterable[str], *, bare: Collection[str] = frozenset()) -> str:
    """Return a passage without those of `names` that it opens with as headings, or marks as such further down.

    A heading stands on lines of its own, whatever marks it as one: `## Name`, `Name ##`, or a line drawn below it. In
    the middle of a passage only `## Name` is one for sure, and a line that is one of `bare`. A passage of nothing but
    headings is returned as it is.

    Args:
        text: the passage.
        names: what it is shown under.
        bare: headings of a document that is no markup: further down, too, they stand there without any mark.
    """
    spelled = [r"\s++".join(map(re.escape, words)) for name in dict.fromkeys(names) if (words := name.split())]
    openings = [re.compile(rf"\s*+(?:{_RULER})?{_MARK}{name}{_CLOSE}(?:{_RULER})?", re.IGNORECASE) for name in spelled]
    rest = text
    while found := next((found for pattern in openings if (found := pattern.match(rest))), None):
        rest = rest[found.end() :]
        openings.remove(found.re)
    for name in spelled:
        rest = re.sub(rf"^[^\S\n]*+[#=*]{{1,9}}+[^\S\n]++{name}{_CLOSE}", "", rest, flags=re.IGNORECASE | re.MULTILINE)
    if bare:
        rest = "\n".join(line for line in rest.split("\n") if " ".join(line.split()) not in bare)
    return rest if rest.strip() else text
