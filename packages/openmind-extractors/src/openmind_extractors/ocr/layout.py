"""Reading order of the lines that were found on a page."""

from collections.abc import Iterable, Sequence
from statistics import median

from attrs import frozen

MIN_COLUMN_LINES = 5
"""Fewer lines side by side are a letterhead or a caption."""

MIN_COLUMN_CHARS = 20
"""Lines of text columns are long; those of tables, which are read row by row, are short."""

MAX_CROSSING_SHARE = 0.15
"""Lines that may run across both columns: titles, captions."""


@frozen
class Line:
    """A piece of text on a page and the box around it, in pixels from the top left."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def height(self) -> float:
        return self.bottom - self.top


def in_reading_order(lines: Sequence[Line]) -> str:
    """Return the text of a page: columns one after the other, pieces of one line joined."""
    gutter = _gutter(lines)
    if gutter is None:
        return "\n".join(_rows(lines))
    parts: list[str] = []
    pending: list[Line] = []
    crossing = sorted((line for line in lines if line.left < gutter < line.right), key=lambda line: line.middle)
    beside = sorted((line for line in lines if line not in crossing), key=lambda line: line.middle)
    for across in crossing:
        pending = [line for line in beside if line.middle < across.middle]
        beside = beside[len(pending) :]
        parts.extend(_both_sides(pending, gutter))
        parts.append(across.text)
    parts.extend(_both_sides(beside, gutter))
    return "\n".join(part for part in parts if part)


def _both_sides(lines: Sequence[Line], gutter: float) -> Iterable[str]:
    for side in ([x for x in lines if x.right <= gutter], [x for x in lines if x.right > gutter]):
        yield in_reading_order(side) if len(side) < len(lines) else "\n".join(_rows(side))


def _gutter(lines: Sequence[Line]) -> float | None:
    """Find the line down the page that divides two columns of text."""
    if len(lines) < 2 * MIN_COLUMN_LINES:
        return None
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    starts = sorted({line.left for line in lines if left + 0.15 * (right - left) < line.left < right})
    best: tuple[int, float] | None = None
    for start in starts:
        position = start - 1
        crossing = sum(line.left < position < line.right for line in lines)
        if crossing <= MAX_CROSSING_SHARE * len(lines) and (best is None or crossing < best[0]):
            before = [line for line in lines if line.right <= position]
            after = [line for line in lines if line.left >= position]
            if _is_column(before) and _is_column(after):
                best = (crossing, position)
    return best[1] if best else None


def _is_column(lines: Sequence[Line]) -> bool:
    return len(lines) >= MIN_COLUMN_LINES and median(len(line.text) for line in lines) >= MIN_COLUMN_CHARS


def _rows(lines: Sequence[Line]) -> list[str]:
    """Join the pieces that stand on the same line, from left to right, the lines from top to bottom."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.middle):
        last = rows[-1][-1] if rows else None
        if last and abs(line.middle - last.middle) < 0.5 * min(line.height, last.height):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [" ".join(piece.text for piece in sorted(row, key=lambda line: line.left)) for row in rows]
