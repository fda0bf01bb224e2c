"""Snippets: the stretch of a passage that shows best why it was found."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from openmind.domain.clusters import border
from openmind.domain.headings import without_headings
from openmind.domain.matching import Match, Span, matches, merged
from openmind.domain.queries import AnalysedQuery

WIDTH = 280
ELLIPSIS = "…"
_SENTENCE_ENDS = (". ", "? ", "! ")
LONGEST_WORD = 40
"""A longer run without a blank may be cut: to leave it out would leave little to be seen."""
REPEATED = 0.1
"""What a term adds where it stands again, as a share of its weight."""


def snippet(
    text: str,
    query: AnalysedQuery,
    *,
    names: Iterable[str] = (),
    bare: Collection[str] = frozenset(),
    width: int = WIDTH,
) -> tuple[str, tuple[Span, ...]]:
    """Cut the best stretch out of a passage, as one line.

    Args:
        text: the passage.
        query: what it is shown for.
        names: title and headings that it is shown under; those it opens with are left out.
        bare: headings that are left out wherever they stand on a line, see `without_headings`.
        width: the most characters of the snippet, ellipses included.

    Returns:
        The snippet, and the places in it that match as (start, end) offsets, ascending and disjoint.
    """
    line = " ".join(without_headings(text, names, bare=bare).split())
    found = matches(line, query)
    if len(line) <= width:
        return line, merged((match.start, match.end) for match in found)
    room = max(width - 2 * len(ELLIPSIS), 1)
    start, end = _stretch(line, _densest(found, room), room)
    before, after = ELLIPSIS if start else "", ELLIPSIS if end < len(line) else ""
    shift = len(before) - start
    marks = merged(
        (max(match.start, start) + shift, min(match.end, end) + shift)
        for match in found
        if match.start < end and match.end > start
    )
    return before + line[start:end] + after, marks


def _densest(found: Sequence[Match], room: int) -> Span:
    """Choose the matches that together say most and fit; the first of equals."""
    best, place = 0.0, (0, 0)
    held: Counter[str] = Counter()
    score, first = 0.0, 0
    for last, match in enumerate(found):
        score += match.weight if not held[match.term] else match.weight * REPEATED
        held[match.term] += 1
        while first < last and match.end - found[first].start > room:
            gone = found[first]
            held[gone.term] -= 1
            score -= gone.weight if not held[gone.term] else gone.weight * REPEATED
            first += 1
        if score > best + 1e-9:
            best, place = score, (found[first].start, match.end)
    return place


def _stretch(line: str, place: Span, room: int) -> Span:
    """Put the matches a third from the start of a stretch that begins and ends between words."""
    spare = max(room - (place[1] - place[0]), 0)
    start = min(max(place[0] - spare // 3, 0), max(len(line) - room, 0))
    if start:
        start = _beginning(line, start, place[0])
    end = start + room
    if end < len(line):
        end = _ending(line, max(place[1], start + 1), end)
    return start, min(end, len(line))


def _beginning(line: str, earliest: int, latest: int) -> int:
    """Choose where to begin: with a sentence, else with a word, else with a character."""
    ends = [(line.find(mark, max(earliest - len(mark), 0), latest), mark) for mark in _SENTENCE_ENDS]
    sentence = min((at + len(mark) for at, mark in ends if at >= 0 and at + len(mark) >= earliest), default=0)
    if sentence:
        return sentence
    blank = line.find(" ", earliest - 1, min(latest, earliest + LONGEST_WORD))
    return blank + 1 if blank >= 0 else border(line, earliest)


def _ending(line: str, earliest: int, latest: int) -> int:
    blank = line.rfind(" ", max(earliest, latest - LONGEST_WORD), latest + 1)
    return blank if blank >= 0 else border(line, latest)
