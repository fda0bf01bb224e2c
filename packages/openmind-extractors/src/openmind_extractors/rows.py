"""Rows of a table as segments: the header again in each, the numbers of the rows as their place."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from attrs import define, field, frozen
from openmind.domain.documents import Locator, Place, Segment
from openmind.domain.text import clean

Cells = Sequence[str]

GROUP_CHARS = 1_000
"""Rows are gathered up to this size, the header included: about one passage, so that each has the header."""

MAX_COLUMNS = 200
"""Cells further right are left out of the text: nobody searches for the 300th measurement."""

MAX_CELL_CHARS = 4_000
"""A longer cell is cut: it holds a file, not a value."""

MAX_ROWS = 50_000
"""Rows that are all searchable; of those that follow a sample is."""

SAMPLE_EVERY = 100
"""Beyond the limit one block in so many is kept."""

MAX_HEADER_ROW = 20
"""The header stands within the first rows; what precedes it is a title and remarks."""

_MAX_HEADER_CELL = 120


@frozen
class TableHead:
    """What stands above the rows of data."""

    title_rows: tuple[Cells, ...] = ()
    header: Cells = ()
    """Names of the columns; empty when there are none."""

    @property
    def height(self) -> int:
        return len(self.title_rows) + bool(self.header)

    def names(self, width: int) -> list[str]:
        """Return a name for each of so many columns."""
        return [
            self.header[index] if index < len(self.header) and self.header[index] else f"col{index + 1}"
            for index in range(width)
        ]


def find_head(rows: Sequence[Cells]) -> TableHead:
    """Find the header among the first rows: words only, as wide as the rows, and nothing like what is below it."""
    widths = Counter(len(row) for row in rows if any(cell.strip() for cell in row))
    if not widths:
        return TableHead()
    width = max(widths, key=lambda width: (widths[width], width))
    for index, row in enumerate(rows[:MAX_HEADER_ROW]):
        if len(row) < width or sum(bool(cell.strip()) for cell in row) * 2 <= width:
            continue
        if _is_header(row, rows[index + 1 :]):
            return TableHead(tuple(rows[:index]), tuple(" ".join(cell.split()) for cell in row))
        return TableHead()
    return TableHead()


def _is_header(row: Cells, below: Sequence[Cells]) -> bool:
    named = [cell.strip() for cell in row if cell.strip()]
    if any(is_number(cell) or len(cell) > _MAX_HEADER_CELL for cell in named):
        return False
    if len(set(named)) == len(named):
        return bool(below) or len(named) > 1
    return any(is_number(cell) for other in below for cell in other)


def is_number(cell: str) -> bool:
    """Whether a cell holds a number or a date in figures."""
    bare = cell.strip().strip("%€$£¥ ")
    return bool(bare) and not bare.strip("0123456789.,-+:/ eE'") and any(char.isdigit() for char in bare)


KeptRows = Callable[[list[list[str]]], object]


@define
class RowWriter:
    """Gathers rows into segments. Rows are numbered as a spreadsheet program shows them, from 1."""

    head: TableHead
    within: Locator = ()
    cleaned: Callable[[str], str] = clean
    """Makes text storable; `str` when it is known to be."""
    total: int = 0
    """Rows of data that were seen."""
    kept: int = 0
    """Rows of data whose text is searchable."""
    written: int = 0
    """Segments that came of them."""
    cut_columns: bool = False
    cut_cells: bool = False
    _lines: list[tuple[int, str]] = field(factory=list)
    """Rows that wait for their segment, with their numbers."""
    _size: int = 0
    _header_line: str = ""
    _is_listed: bool = False

    def __attrs_post_init__(self) -> None:
        self._header_line = self._line(self.head.header)
        self._is_listed = len(self._header_line) * 2 > GROUP_CHARS  # many columns: each row lists their names

    def write(self, blocks: Iterable[list[list[str]]], number: int, *, profiled: KeptRows) -> Iterator[Segment]:
        """Turn rows into segments.

        Args:
            blocks: the rows of data, some hundred at a time.
            number: the number of the first one.
            profiled: is given the rows that are kept.
        """
        for segment in self._write(blocks, number, profiled=profiled):
            if segment.text.strip():
                yield segment
            else:  # cells of nothing but control characters
                self.written -= 1

    def _write(self, blocks: Iterable[list[list[str]]], number: int, *, profiled: KeptRows) -> Iterator[Segment]:
        beyond = 0
        for block in blocks:
            filled = len(block) - block.count([])
            self.total += filled
            beyond += self.total > MAX_ROWS
            if beyond == 0 or beyond % SAMPLE_EVERY == 1:
                self.kept += filled
                profiled(block)
                yield from self._one_by_one(block, number) if self._is_listed else self._block(block, number)
            elif self._lines:
                yield self._segment()
            number += len(block)
        if self._lines:
            yield self._segment()
        if not self.written and self._header_line:
            self.written += 1
            place = Place(kind="rows", start=self.head.height, end=self.head.height)
            yield Segment(text=clean(self._header_line), locator=(*self.within, place), kind="table")

    def _block(self, block: list[list[str]], number: int) -> Iterator[Segment]:
        """Write a block of rows, at once where no row is out of the ordinary."""
        lines = [" | ".join(row) for row in block]
        if not lines:
            return
        text = "\n".join(lines)
        empty = {" | " * (width - 1) for width in set(map(len, block))} | {""}
        is_plain = text.count("\n") == len(lines) - 1 and "\r" not in text and empty.isdisjoint(lines)
        if not is_plain or max(map(len, lines)) > MAX_CELL_CHARS or max(map(len, block)) > MAX_COLUMNS:
            yield from self._one_by_one(block, number)
            return
        # Rows of a block are about equally long, so they are divided by their number, evenly.
        room = max(GROUP_CHARS - len(self._header_line), 1)
        per_segment = max(1, math.ceil(len(lines) / math.ceil(len(text) / room)))
        if self._lines:
            yield self._segment()
        for start in range(0, len(lines), per_segment):
            part = lines[start : start + per_segment]
            text = "\n".join(part)
            shown = text.strip(" |\n")
            if shown and not shown.isspace():
                yield self._build(text, number + start, number + start + len(part) - 1)

    def _one_by_one(self, block: list[list[str]], number: int) -> Iterator[Segment]:
        """Write rows that have breaks in their cells, or long or many ones, or nothing."""
        for last, row in enumerate(block, start=number):
            if not any(cell.strip() for cell in row):
                continue
            line = self._listed(row) if self._is_listed else self._line(row)
            if self._lines and (self._is_listed or self._size + len(line) > GROUP_CHARS):
                yield self._segment()
            self._lines.append((last, line))
            self._size += len(line) + 1

    def _line(self, row: Cells) -> str:
        """Write a row on one line."""
        line = " | ".join(self._cut(row))
        return " ".join(line.split()) if "\n" in line or "\r" in line else line

    def _listed(self, row: Cells) -> str:
        """Write a row as a list of names and values, for tables too wide for a line."""
        cells = self._cut(row)
        names = self.head.names(len(cells))
        return "\n".join(f"{name}: {' '.join(cell.split())}" for name, cell in zip(names, cells, strict=True) if cell)

    def _cut(self, row: Cells) -> Cells:
        if len(row) > MAX_COLUMNS:
            self.cut_columns = True
            row = row[:MAX_COLUMNS]
        if any(len(cell) > MAX_CELL_CHARS for cell in row):
            self.cut_cells = True
            row = [cell[:MAX_CELL_CHARS] for cell in row]
        return row

    def _segment(self) -> Segment:
        lines, self._lines, self._size = self._lines, [], 0
        return self._build("\n".join(line for _, line in lines), lines[0][0], lines[-1][0])

    def _build(self, text: str, first: int, last: int) -> Segment:
        if self._header_line and not self._is_listed:
            text = f"{self._header_line}\n{text}"
        self.written += 1
        place = Place(kind="rows", start=first, end=last)
        return Segment(text=self.cleaned(text), locator=(*self.within, place), kind="table")

    @property
    def note(self) -> str:
        """What a person should know of rows, columns and cells that are missing; empty when none are."""
        told = []
        if self.kept < self.total:
            told.append(f"{self.kept:,} of {self.total:,} rows")
        if self.cut_columns:
            told.append(f"the first {MAX_COLUMNS} columns")
        if self.cut_cells:
            told.append(f"the first {MAX_CELL_CHARS:,} characters of a cell")
        return f"only {', '.join(told)} are searchable" if told else ""
