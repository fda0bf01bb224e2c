"""Spreadsheets: each sheet is a table, each row keeps its number."""

import datetime
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, BinaryIO

from attrs import define, field, frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.text import clean
from openmind.ports.extractor import Blob

from openmind_extractors.archives import Archive, open_archive
from openmind_extractors.delimited import BLOCK_ROWS
from openmind_extractors.losses import Losses
from openmind_extractors.number_formats import FormattedCell, NumberFormat, formatted_cells, read_styles
from openmind_extractors.ooxml import Properties, drawing_text, parts, read_properties, targets
from openmind_extractors.opendocument_sheets import SheetStart, stream_sheets
from openmind_extractors.rows import MAX_COLUMNS, RowWriter, find_head
from openmind_extractors.safe_xml import parse, refuse_doctype
from openmind_extractors.sheet_cutting import CutWorkbook, cut, extent

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

MAX_SHEETS = 200
MAX_CELLS = 4_000_000
"""From the first to the last cell of a sheet: they are all kept in memory, 32 bytes each, the empty ones, too."""

MAX_SHEET_XML = 60_000_000
"""Unpacked size of one sheet: a million cells."""

Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta


@frozen
class SheetsExtractor:
    """Reads `.xlsx` with calamine, and `.ods` as a stream of XML."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the sheets in order, then the facts."""
        with open_archive(blob) as archive:
            if b"encryption-data" in archive.read_if_there("META-INF/manifest.xml"):
                raise ExtractionFailed("the document is protected by a password", reason=FileReason.ENCRYPTED)
            if "content.xml" in archive.names:
                yield from _opendocument(archive)
                return
            yield from _workbook(blob, archive)


def _workbook(blob: Blob, archive: Archive) -> Iterator[Segment | DocumentFacts]:
    oversized = _check(archive)
    smaller = cut(archive, oversized, max_cells=MAX_CELLS) if oversized else None
    losses = Losses()
    core, styles = "docProps/core.xml", "xl/styles.xml"
    properties = losses.attempt(core, lambda: read_properties(archive.read_if_there(core)), Properties())
    unformatted: dict[int, NumberFormat] = {}
    formats = losses.attempt(styles, lambda: read_styles(archive.read_if_there(styles)), unformatted)
    is_drawn_on = bool(parts(archive, "xl/drawings/", "drawing"))
    names_of = _names_of_members(archive) if oversized or formats or is_drawn_on else {}
    if not oversized <= names_of.keys():
        raise _too_large()
    members = {name: member for member, name in names_of.items() if member in archive.names}
    from python_calamine import CalamineError, CalamineWorkbook

    summary = _Summary()
    try:
        with _bytes_of(blob, smaller) as file, CalamineWorkbook.from_filelike(file) as workbook:
            names = workbook.sheet_names
            lost = {names_of[member]: rows for member, rows in smaller.lost_rows.items()} if smaller else {}
            left_out = set() if smaller else {names_of[member] for member in oversized}
            if left_out.issuperset(names):
                raise _too_large()
            summary.sheet_count = len(names)
            for number, name in enumerate(names[:MAX_SHEETS], start=1):
                if name in left_out:
                    summary.notes.append(f"{name}: {_too_large().message}")
                    continue
                blocks = archive.blocks(members[name]) if formats and name in members else ()
                first_row, rows = _rows(workbook.get_sheet_by_index(number - 1), formatted_cells(blocks, formats))
                writer = yield from _sheet(_blocks(rows), first_row, number, name)
                writer.total += lost.get(name, 0)
                summary.add(name, writer)
                if name in members:
                    place = Place(kind="sheet", start=number, label=clean(name)[:200])
                    for segment in _text_boxes(archive, members[name], place, losses):
                        summary.written += 1
                        yield segment
    except (CalamineError, OSError, ValueError) as error:
        raise ExtractionFailed(f"its cells cannot be read ({error})"[:200]) from error
    yield losses.told(summary.facts("calamine", properties))


def _text_boxes(archive: Archive, member: str, place: Place, losses: Losses) -> Iterator[Segment]:
    for name in targets(archive, member).values():
        if name.startswith("xl/drawings/drawing") and name in archive.names:
            text = "\n".join(losses.attempt(name, partial(_drawing, archive, name), list[str]()))
            if text:
                yield Segment(text=text, locator=(place, Place(kind="part", label="text boxes")))


def _drawing(archive: Archive, name: str) -> list[str]:
    return drawing_text(archive.read(name))


def _opendocument(archive: Archive) -> Iterator[Segment | DocumentFacts]:
    losses = Losses()
    properties = losses.attempt("meta.xml", lambda: read_properties(archive.read_if_there("meta.xml")), Properties())
    summary = _Summary()
    names: list[str] = []

    def sheet_of(piece: SheetStart | list[list[str]]) -> int:
        if isinstance(piece, SheetStart):
            names.append(piece.name)
        return len(names)

    for number, pieces in groupby(stream_sheets(archive), sheet_of):
        if 0 < number <= MAX_SHEETS:
            name = names[-1]
            writer = yield from _sheet((rows for rows in pieces if isinstance(rows, list)), 1, number, name)
            summary.add(name, writer)
    summary.sheet_count = len(names)
    yield losses.told(summary.facts("xml", properties))


@define
class _Summary:
    """What is to be told of all sheets."""

    sheet_count: int = 0
    notes: list[str] = field(factory=list)
    written: int = 0

    def add(self, name: str, writer: RowWriter) -> None:
        self.written += writer.written + bool(writer.head.title_rows)
        if writer.note:
            self.notes.append(f"{name}: {writer.note}")

    def facts(self, method: str, properties: Properties) -> DocumentFacts:
        metadata: dict[str, object] = {
            "file_type": "spreadsheet",
            "extraction_method": method,
            "sheet_count": self.sheet_count,
            **properties.metadata,
        }
        notes = list(self.notes)
        if self.sheet_count > MAX_SHEETS:
            notes.append(f"only the first {MAX_SHEETS} of {self.sheet_count} sheets were read")
        if not self.written and not notes:
            return DocumentFacts(metadata=metadata, reason=FileReason.EMPTY, note="the spreadsheet holds no cells")
        reason = FileReason.PARTIAL if notes else FileReason.OK
        return DocumentFacts(title=properties.title, metadata=metadata, reason=reason, note="; ".join(notes))


def _bytes_of(blob: Blob, smaller: CutWorkbook | None) -> BinaryIO:
    """Open the file as bytes: given a path, calamine would believe its extension."""
    if smaller is not None:
        return BytesIO(smaller.data)
    if blob.data is not None:
        return BytesIO(blob.data)
    assert blob.path is not None
    return blob.path.open("rb")


def _sheet(
    blocks: Iterator[list[list[str]]], first_row: int, number: int, name: str
) -> Generator[Segment, None, RowWriter]:
    """Yield a sheet's rows; return what counted them."""
    place = Place(kind="sheet", start=number, label=clean(name)[:200])
    first = next(blocks, [])
    head = find_head(first)
    title = "\n".join(" ".join(cell.strip() for cell in row if cell.strip()) for row in head.title_rows).strip()
    if title:
        last = first_row + len(head.title_rows) - 1
        yield Segment(text=clean(title), locator=(place, Place(kind="rows", start=first_row, end=last)))
    writer = RowWriter(head, within=(place,))
    data = chain([first[head.height :]], blocks)
    yield from writer.write(data, first_row + head.height, profiled=lambda rows: None)
    return writer


def _rows(sheet: "CalamineSheet", formatted: Iterator[FormattedCell]) -> tuple[int, Iterator[list[str]]]:
    """Return the rows, and the number of the first one.

    Args:
        sheet: what is read.
        formatted: its cells with a format, row by row.
    """
    start = sheet.start
    if start is None:
        return 1, iter(())
    row, column = start
    if row < BLOCK_ROWS and column < MAX_COLUMNS:
        return 1, _as_shown(sheet.iter_rows(), (1, 1), formatted)
    # Far from the first cell: going row by row would begin there.
    return row + 1, _as_shown(sheet.to_python(skip_empty_area=True), (row + 1, column + 1), formatted)


def _as_shown(
    rows: Iterable[Sequence[Value]], start: tuple[int, int], formatted: Iterator[FormattedCell]
) -> Iterator[list[str]]:
    """Write the cells as a person reads them; `start` is the row and the column of the first one."""
    cell = next(formatted, None)
    for number, values in enumerate(rows, start[0]):
        shown = [_shown(value) for value in values]
        while cell and cell.row <= number:
            index = cell.column - start[1]
            value = values[index] if cell.row == number and 0 <= index < len(values) else ""
            if isinstance(value, int | float) and not isinstance(value, bool):
                shown[index] = cell.format.shown(value)
            cell = next(formatted, None)
        yield shown


def _blocks(rows: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    iterator = iter(rows)
    while block := list(islice(iterator, BLOCK_ROWS)):
        yield block


def _shown(value: Value) -> str:
    """Write a cell as a person reads it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    if isinstance(value, datetime.timedelta):
        return _duration(round(value.total_seconds()))
    if isinstance(value, datetime.datetime):
        day = value.date().isoformat()
        return day if value.time() == datetime.time() else f"{day} {_time(value.time())}"
    if isinstance(value, datetime.time):
        return _time(value)
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def _time(value: datetime.time) -> str:
    """Write a time of day; a fraction of a day is rarely a whole second."""
    minutes, second = divmod(value.hour * 3_600 + value.minute * 60 + value.second + (value.microsecond >= 500_000), 60)
    hour, minute = divmod(minutes, 60)
    counted = datetime.time(hour, minute, second) if hour < 24 else value
    return counted.isoformat("seconds" if counted.second else "minutes")


def _duration(seconds: int) -> str:
    """Write how long something took, in hours: `36:05`, and `36:05:30` only where seconds are counted."""
    minutes, second = divmod(abs(seconds), 60)
    counted = f":{second:02}" if second else ""
    return f"{'-' if seconds < 0 else ''}{minutes // 60}:{minutes % 60:02}{counted}"


def _check(archive: Archive) -> set[str]:
    """Return the members that are sheets whose first and last cell span more than memory holds."""
    oversized = set()
    for name in archive.names:
        if name.startswith("xl/worksheets/") and name.endswith(".xml"):
            if _is_oversized(archive, name):
                oversized.add(name)
        elif name in {"xl/workbook.xml", "xl/styles.xml", "xl/sharedStrings.xml"}:
            refuse_doctype(archive.read(name)[:10_000])
    return oversized


def _names_of_members(archive: Archive) -> dict[str, str]:
    """Return what a workbook calls its sheets, by member."""
    targets: dict[str, str] = {}
    names: dict[str, str] = {}

    def relation(_: str, attributes: Mapping[str, str]) -> None:
        target = attributes.get("Target", "")
        targets[attributes.get("Id", "")] = target.removeprefix("/") if target.startswith("/") else f"xl/{target}"

    def sheet(element: str, attributes: Mapping[str, str]) -> None:
        if element == "sheet":
            names[targets.get(attributes.get("id", ""), "")] = attributes.get("name", "")

    for part, start in (("xl/_rels/workbook.xml.rels", relation), ("xl/workbook.xml", sheet)):
        parse(archive.read(part), start=start, end=lambda name: None, text=lambda text: None)
    return names


def _is_oversized(archive: Archive, name: str) -> bool:
    if archive.size(name) > MAX_SHEET_XML:
        return True
    data = archive.read(name)
    refuse_doctype(data[:10_000])
    return extent(data) > MAX_CELLS


def _too_large() -> ExtractionFailed:
    return ExtractionFailed(
        f"a sheet spans more than {MAX_CELLS // 1_000_000} million cells", reason=FileReason.TOO_BIG
    )
