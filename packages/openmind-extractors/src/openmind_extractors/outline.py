"""Headings of light markup: reStructuredText, Org and AsciiDoc."""

import re
from collections.abc import Callable, Iterator, Sequence

from attrs import field, frozen
from openmind.domain.documents import Place

from openmind_extractors.limits import MAX_HEADING_CHARS


@frozen
class Heading:
    """A heading, and the lines it takes, counted from 0."""

    first: int
    last: int
    level: int
    title: str


@frozen
class Section:
    """Lines `start` to `stop` (excluded) that stand below a path of headings, their own heading with them."""

    start: int
    stop: int
    path: tuple[Place, ...]


@frozen
class HeadingPath:
    """The headings above a place in a document. Adding one ends those of its level and below."""

    _levels: tuple[int, ...] = field(default=(), alias="levels")
    places: tuple[Place, ...] = ()

    def enter(self, level: int, title: str) -> "HeadingPath":
        keep = len(self._levels)
        while keep and self._levels[keep - 1] >= level:
            keep -= 1
        place = Place(kind="heading", label=title[:MAX_HEADING_CHARS])
        return HeadingPath((*self._levels[:keep], level), (*self.places[:keep], place))


def sections(line_count: int, headings: Sequence[Heading]) -> Iterator[Section]:
    """Divide a document at its headings, which come in order."""
    path, start = HeadingPath(), 0
    for heading in headings:
        if heading.first > start:
            yield Section(start, heading.first, path.places)
        path, start = path.enter(heading.level, heading.title), heading.first
    if line_count > start:
        yield Section(start, line_count, path.places)


HeadingFinder = Callable[[Sequence[str]], list[Heading]]

_RULER = re.compile(r"([!-/:-@\[-`{-~])\1+\s*")
_STARS = re.compile(r"(\*{1,9})[ \t]+(\S.*)")
_EQUALS = re.compile(r"(={1,6})[ \t]+(\S.*)")
_ORG_BLOCK = re.compile(r"[ \t]*#\+begin_(\S+)", re.IGNORECASE)
_LISTING = re.compile(r"(?:(-{4,}|\.{4,}|\+{4,}|/{4,})|```\S*)[ \t]*")
_ORG_TAGS = re.compile(r"\s:[\w@#%:]+:\s*$")
_ORG_STATE = re.compile(r"(?:TODO|DONE|NEXT|WAITING)\s+|\[#[A-Z]\]\s+")


def rst_headings(lines: Sequence[str]) -> list[Heading]:
    """Find titles with a line of punctuation below, and maybe above, them; levels follow first use."""
    styles: list[tuple[str, bool]] = []
    found: list[Heading] = []
    for index in range(1, len(lines)):
        ruler = lines[index]
        if not _RULER.fullmatch(ruler):
            continue
        title = lines[index - 1].rstrip()
        over = index >= 2 and lines[index - 2].rstrip() == ruler.rstrip()
        if not title.strip() or _RULER.fullmatch(title) or len(ruler.rstrip()) < len(title.strip()):
            continue
        first = index - 2 if over else index - 1
        if (title[0].isspace() and not over) or (first > 0 and lines[first - 1].strip()):
            continue
        style = (ruler[0], over)
        if style not in styles:
            styles.append(style)
        found.append(Heading(first, index, styles.index(style) + 1, title.strip()))
    return found


def _outside_blocks(lines: Sequence[str], end_of: Callable[[str, str], str]) -> Iterator[tuple[int, str]]:
    """Yield the lines, with their numbers, that stand in no block; one that never ends is none.

    Args:
        lines: of the whole text.
        end_of: given a line and the one above, tells the line, in small letters, that ends the block begun by it, or
            nothing.
    """
    last = {line.strip().lower(): index for index, line in enumerate(lines)}
    end = above = ""
    for index, line in enumerate(lines):
        if end:
            end = "" if line.strip().lower() == end else end
        elif (begun := end_of(line, above)) and last.get(begun, 0) > index:
            end = begun
        else:
            yield index, line
        above = line


def _end_of_org_block(line: str, above: str) -> str:
    match = _ORG_BLOCK.match(line)
    return f"#+end_{match.group(1).lower()}" if match else ""


def _end_of_listing(line: str, above: str) -> str:
    """Return what ends a block of AsciiDoc: the same line again. Below a title as long as itself it underlines it."""
    match = _LISTING.fullmatch(line)
    if not match:
        return ""
    ruler = match.group(1) or ""
    is_underline = above[:1].isalnum() and abs(len(above.rstrip()) - len(ruler)) <= 1
    return "" if ruler and is_underline else ruler or "```"


def org_headings(lines: Sequence[str]) -> list[Heading]:
    """Find lines that begin with stars; keyword, priority and tags are no part of the title."""
    found = []
    for index, line in _outside_blocks(lines, _end_of_org_block):
        match = _STARS.fullmatch(line) if line.startswith("*") else None
        if match:
            title = _ORG_TAGS.sub("", match.group(2))
            while state := _ORG_STATE.match(title):
                title = title[state.end() :]
            found.append(Heading(index, index, len(match.group(1)), title.strip() or match.group(2).strip()))
    return found


def asciidoc_headings(lines: Sequence[str]) -> list[Heading]:
    """Find lines that begin with equals signs, but in no listing."""
    found = []
    for index, line in _outside_blocks(lines, _end_of_listing):
        match = _EQUALS.fullmatch(line) if line.startswith("=") else None
        if match:
            found.append(Heading(index, index, len(match.group(1)), match.group(2).strip()))
    return found
