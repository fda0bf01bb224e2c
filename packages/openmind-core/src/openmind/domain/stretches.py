"""Stretches: neighbouring segments that belong together, as one text whose every place is known."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import define, frozen

from openmind.domain.cutting import Block
from openmind.domain.documents import Locator, Place, Segment
from openmind.domain.headings import TOGETHER

COUNTED = frozenset({"lines", "rows", "paragraphs"})
"""Places that are counted along a text, one a line, and can be narrowed to a part of it."""

_JOINED = frozenset({"text", "code", "table"})
"""Segments of these kinds may become one text."""
_JOINED_CHARS = 32_000
"""A stretch of several segments is closed when it is this long: it is a copy."""
_LONGEST_GAP = 3
_NAMED = 4
"""Headings that are named when sections were put together."""


@frozen
class Part:
    """A segment within a stretch."""

    offset: int
    line: int
    """Number of its first line within the stretch, from 0."""
    segment: Segment
    counted: Place | None
    """The narrowest place of the segment, if it is one that is counted."""
    exact: bool
    """Whether each line of the segment is one of what is counted."""


@frozen
class Stretch:
    """One text with the places of its parts."""

    text: str
    outer: Locator
    """The places above the counted ones, as they name the whole; sections that were put together share one heading."""
    parts: tuple[Part, ...]
    is_mixed: bool = False
    """Whether its parts stand below different headings."""

    def blocks(self) -> list[Block]:
        """Return what is cut between lines only."""
        return [
            Block(part.offset, part.offset + len(part.segment.text))
            for part in self.parts
            if part.segment.kind in {"code", "table"}
        ]

    def part_at(self, offset: int) -> Part:
        if len(self.parts) == 1:
            return self.parts[0]
        return self.parts[self._index(offset)]

    def outer_of(self, start: int, end: int) -> Locator:
        """Return the places above characters `start` to `end`, which may reach over several sections."""
        if not self.is_mixed:
            return self.outer
        return _above(self.parts[self._index(start) : self._index(end - 1) + 1])

    def _index(self, offset: int) -> int:
        return bisect_right(self.parts, offset, key=lambda part: part.offset) - 1


@define
class Ruler:
    """Knows the line of an offset in a text; cheap when asked for offsets near the last one."""

    text: str
    _offset: int = 0
    _line: int = 0

    def line(self, offset: int) -> int:
        """Return the number of line feeds before an offset."""
        if offset >= self._offset:
            self._line += self.text.count("\n", self._offset, offset)
        else:
            self._line -= self.text.count("\n", offset, self._offset)
        self._offset = offset
        return self._line


def locate(stretch: Stretch, ruler: Ruler, start: int, end: int) -> Locator:
    """Return the place of characters `start` to `end` of a stretch."""
    first, last = stretch.part_at(start), stretch.part_at(end - 1)
    outer = stretch.outer_of(start, end)
    if first.counted is None or last.counted is None:
        return outer
    begin = first.counted.start
    if first.exact and begin is not None:
        begin += ruler.line(start) - first.line
    stop = last.counted.end if last.counted.end is not None else last.counted.start
    if last.exact and last.counted.start is not None:
        stop = last.counted.start + ruler.line(end - 1) - last.line
    place = Place(kind=first.counted.kind, start=begin, end=None if stop == begin else stop)
    return (*outer, place)


def stretches(segments: Sequence[Segment], *, tiny: int, most: int) -> Iterator[Stretch]:
    """Gather segments into stretches.

    Segments below the same headings become one text. So do neighbouring sections that are tiny, up to `most`
    characters: a list of two-line sections is one passage that says something, not ten that do not. A tiny section
    above another, often a title alone, goes with it.

    Args:
        segments: in reading order.
        tiny: a section of fewer characters is.
        most: the longest text that tiny sections make together.
    """
    waiting: list[Segment] = []
    for section in _sections(segments):
        size = _size(section)
        small = size < tiny and section[0].kind in _JOINED
        if waiting and not (small and _size(waiting) + size <= most and _are_neighbours(waiting[-1], section[0])):
            if _lead_into(waiting, section[0]):
                section = [*waiting, *section]
            else:
                yield _stretch(waiting)
            waiting = []
        if small:
            waiting += section
        else:
            yield _stretch(section)
    if waiting:
        yield _stretch(waiting)


def _sections(segments: Sequence[Segment]) -> Iterator[list[Segment]]:
    """Gather neighbours with the same outer places."""
    section: list[Segment] = []
    size = 0
    for segment in segments:
        if not segment.text or segment.text.isspace():
            continue
        if section and not (size < _JOINED_CHARS and _belong_together(section[-1], segment)):
            yield section
            section, size = [], 0
        section.append(segment)
        size += len(segment.text)
    if section:
        yield section


def _size(section: Sequence[Segment]) -> int:
    return sum(len(segment.text) for segment in section)


def _belong_together(one: Segment, other: Segment) -> bool:
    if one.kind not in _JOINED or other.kind not in _JOINED or _is_rows(one) or _is_rows(other):
        return False
    return _outer(one) == _outer(other) and _counted_kind(one) == _counted_kind(other)


def _is_rows(segment: Segment) -> bool:
    """Whether the segment is a group of rows that was made to be one passage, its header with it."""
    counted = _counted(segment)
    return counted is not None and counted.kind == "rows"


def _are_neighbours(one: Segment, other: Segment) -> bool:
    """Whether two segments differ in nothing but their headings."""
    if _is_rows(one) or _is_rows(other) or other.kind not in _JOINED or _counted_kind(one) != _counted_kind(other):
        return False
    return _without_headings(_outer(one)) == _without_headings(_outer(other))


def _lead_into(waiting: Sequence[Segment], other: Segment) -> bool:
    """Whether tiny sections are no more than a title, and a line or two, above the section that follows."""
    places = _outer(other)
    return _are_neighbours(waiting[-1], other) and all(
        _outer(segment) == places[: len(_outer(segment))] for segment in waiting
    )


def _without_headings(places: Locator) -> Locator:
    return tuple(place for place in places if place.kind != "heading")


def _counted(segment: Segment) -> Place | None:
    return segment.locator[-1] if segment.locator and segment.locator[-1].kind in COUNTED else None


def _counted_kind(segment: Segment) -> str:
    counted = _counted(segment)
    return counted.kind if counted else ""


def _outer(segment: Segment) -> Locator:
    return segment.locator[:-1] if _counted(segment) else segment.locator


def _stretch(segments: Sequence[Segment]) -> Stretch:
    parts: list[Part] = []
    texts: list[str] = []
    offset = line = 0
    for segment in segments:
        if parts:
            gap = "\n" * _gap(parts[-1].segment, segment)
            texts.append(gap)
            offset, line = offset + len(gap), line + len(gap)
        counted = _counted(segment)
        breaks = segment.text.count("\n") if counted else 0
        parts.append(Part(offset, line, segment, counted, _is_exact(counted, breaks)))
        texts.append(segment.text)
        offset, line = offset + len(segment.text), line + (breaks if counted else segment.text.count("\n"))
    text = segments[0].text if len(segments) == 1 else "".join(texts)
    outers = list(dict.fromkeys(map(_outer, segments)))
    return Stretch(text, _path(outers), tuple(parts), is_mixed=len(outers) > 1)


def _gap(one: Segment, other: Segment) -> int:
    """Return how many line feeds stood between two segments: those of the file, if it has lines."""
    before, after = _counted(one), _counted(other)
    if before is None or after is None or before.kind != "lines" or before.start is None or after.start is None:
        return 1 if before else 2
    last = before.end if before.end is not None else before.start
    return min(max(after.start - last, 1), _LONGEST_GAP)


def _is_exact(counted: Place | None, breaks: int) -> bool:
    if counted is None or counted.start is None:
        return False
    last = counted.end if counted.end is not None else counted.start
    return counted.kind == "lines" or last - counted.start == breaks


def _path(outers: Sequence[Locator]) -> Locator:
    """Return the longest path if the others lead to it, else what all have in common with the headings that differ."""
    longest = max(outers, key=len)
    if all(_leads_to(outer, longest) for outer in outers):
        return longest
    return _together(outers, _common(outers))


def _above(parts: Sequence[Part]) -> Locator:
    """Return what all parts stand below: where one stands directly below a heading, it is named beside those within.

    A title with nothing below it but the next heading says nothing that would stand in the wrong place.
    """
    path = [_outer(part.segment) for part in parts]
    titles = [_leads_to(*pair) and _is_title(part.segment) for part, pair in zip(parts, pairwise(path), strict=False)]
    outers = list(dict.fromkeys(outer for outer, title in zip(path, [*titles, False], strict=True) if not title))
    common = _common(outers)
    if common not in outers:
        return _together(outers, common)
    if len(outers) == 1 or not common or common[-1].kind != "heading":
        return common
    return _together(outers, common[:-1])


def _leads_to(outer: Locator, other: Locator) -> bool:
    return outer == other[: len(outer)]


def _is_title(segment: Segment) -> bool:
    """Whether the segment is its own heading and nothing else."""
    outer = _outer(segment)
    words = [word for word in segment.text.split() if any(map(str.isalnum, word))]
    return bool(outer) and outer[-1].kind == "heading" and words == outer[-1].label.split()


def _common(outers: Sequence[Locator]) -> Locator:
    common = outers[0]
    for outer in outers[1:]:
        while not _leads_to(common, outer):
            common = common[:-1]
    return common


def _together(outers: Sequence[Locator], common: Locator) -> Locator:
    """Return what the paths have in common, and as one heading all that they have not."""
    labels = list(dict.fromkeys(place.label for outer in outers for place in outer[len(common) :] if place.label))
    if len(labels) > _NAMED:
        labels = [*labels[: _NAMED - 1], "…", labels[-1]]
    return (*common, Place(kind="heading", label=TOGETHER.join(labels)))
