"""OpenDocument spreadsheets, read as a stream: what a cell shows counts, whatever type it claims to have."""

from collections import deque
from collections.abc import Iterator, Mapping

from attrs import define, field, frozen

from openmind_extractors.archives import Archive
from openmind_extractors.delimited import BLOCK_ROWS
from openmind_extractors.rows import MAX_COLUMNS
from openmind_extractors.safe_xml import XmlStream

MAX_SHEET_ROWS = 1_048_576
"""More than spreadsheet programs show; a sheet may claim that one row repeats a billion times."""

MAX_EQUAL_ROWS = 250
"""One row as often as this tells all that it has to tell."""

_PIECE_BYTES = 4_096
"""A few bytes can stand for a million rows, so what a piece came to is handed on before the next one is read."""

_CELLS = frozenset({"table-cell", "covered-table-cell"})
_SKIPPED = frozenset({"tracked-changes", "dde-links", "annotation", "shapes", "frame", "forms", "automatic-styles"})
"""Elements that hold text or tables which are no cells of the sheet."""

Row = list[str]


@frozen
class SheetStart:
    """A sheet begins."""

    name: str


def stream_sheets(archive: Archive) -> Iterator[SheetStart | list[Row]]:
    """Yield each sheet's start, then its rows from the first on, some hundred at a time.

    Empty rows are empty lists, those at the end of a sheet are left out, and so are empty cells at the end of a row.

    Raises:
        ExtractionFailed: the XML is broken, or declares a document type.
    """
    reader = _Reader()
    stream = XmlStream(start=reader.start, end=reader.end, text=reader.text)
    for data in archive.blocks("content.xml", _PIECE_BYTES):
        stream.feed(data)
        yield from reader.ready()
    stream.close()
    yield from reader.ready()


@define
class _Cell:
    """A cell that is open."""

    value_type: str
    value: str
    repeats: int
    lines: list[str] = field(factory=list)

    def shown(self) -> str:
        """What a person reads in the cell; of a plain number all its digits."""
        text = "\n".join(" ".join(line.split()) for line in self.lines).strip()
        match self.value_type:
            case "float" if self.value and (not text or any(char.isdigit() for char in text)):
                return _number_shown(self.value)
            case "date" if self.value:
                return self.value.removesuffix("T00:00:00").replace("T", " ")
            case "boolean":
                return text or self.value.upper()
        return text or self.value


def _number_shown(value: str) -> str:
    try:
        number = float(value)
    except ValueError:
        return value
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.15g}"


@define
class _Reader:
    """Gathers cells into rows, and rows into blocks."""

    _done: deque[SheetStart | list[Row]] = field(factory=deque)
    _rows: list[Row] = field(factory=list)
    _row: Row = field(factory=list)
    _cell: _Cell | None = None
    _empty_rows: int = 0
    """Empty rows since the last filled one."""
    _empty_cells: int = 0
    _count: int = 0
    """Rows of the sheet so far."""
    _row_repeats: int = 1
    _skipping: int = 0

    def ready(self) -> Iterator[SheetStart | list[Row]]:
        """Hand on what is complete, and forget it."""
        while self._done:
            yield self._done.popleft()

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._skipping or name in _SKIPPED:
            self._skipping += 1
        elif name == "table":
            self._done.append(SheetStart(attributes.get("name", "")))
            self._count = self._empty_rows = 0
        elif name == "table-row":
            self._row, self._empty_cells = [], 0
            self._row_repeats = _number(attributes.get("number-rows-repeated"))
        elif name in _CELLS:
            kind = attributes.get("value-type", "")
            value = attributes.get(_VALUES.get(kind, "value"), "") if kind else ""
            self._cell = _Cell(kind, value, _number(attributes.get("number-columns-repeated")))
        elif self._cell is not None:
            self._within_cell(self._cell, name, attributes)

    def _within_cell(self, cell: _Cell, name: str, attributes: Mapping[str, str]) -> None:
        if name == "p":
            cell.lines.append("")
        elif cell.lines and name in {"s", "tab"}:
            cell.lines[-1] += " "
        elif cell.lines and name == "line-break":
            cell.lines.append("")

    def end(self, name: str) -> None:
        if self._skipping:
            self._skipping -= 1
        elif name in _CELLS and self._cell is not None:
            self._end_of_cell(self._cell)
            self._cell = None
        elif name == "table-row":
            self._end_of_row()
        elif name == "table":
            self._hand_on()

    def text(self, text: str) -> None:
        if not self._skipping and self._cell is not None and self._cell.lines:
            self._cell.lines[-1] += text

    def _end_of_cell(self, cell: _Cell) -> None:
        shown = cell.shown()
        if not shown:
            self._empty_cells += cell.repeats
            return
        before = min(self._empty_cells, MAX_COLUMNS - len(self._row))
        self._empty_cells = 0
        if before >= 0:
            self._row += [""] * before
            self._row += [shown] * min(cell.repeats, MAX_COLUMNS + 1 - len(self._row))  # one shows that there are more

    def _end_of_row(self) -> None:
        repeats = min(self._row_repeats, MAX_SHEET_ROWS - self._count)
        self._count += repeats
        if not self._row:
            self._empty_rows += repeats
            return
        kept = min(repeats, MAX_EQUAL_ROWS)
        self._add([], self._empty_rows)
        self._add(self._row, kept)
        self._empty_rows = repeats - kept

    def _add(self, row: Row, times: int) -> None:
        while times > 0:
            part = min(times, BLOCK_ROWS - len(self._rows))
            self._rows += [row] * part
            times -= part
            if len(self._rows) == BLOCK_ROWS:
                self._hand_on()

    def _hand_on(self) -> None:
        if self._rows:
            self._done.append(self._rows)
            self._rows = []


_VALUES = {"string": "string-value", "date": "date-value", "time": "time-value", "boolean": "boolean-value"}
"""The attribute that holds a value of a type; of all others it is `value`."""


def _number(value: str | None) -> int:
    return max(int(value), 1) if value and value.isdecimal() and len(value) < 10 else 1
