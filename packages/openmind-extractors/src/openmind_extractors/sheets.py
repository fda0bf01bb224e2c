"""Spreadsheets: each sheet is a table, each row keeps its number."""

import datetime
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from io import BytesIO
from itertools import chain, islice
from typing import TYPE_CHECKING, BinaryIO

from attrs import define, frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.text import clean
from openmind.ports.extractor import Blob

from openmind_extractors.archives import Archive, open_archive
from openmind_extractors.delimited import BLOCK_ROWS
from openmind_extractors.ooxml import Properties, read_properties
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

_REPEATED = re.compile(rb"-repeated=[\"']\d{3,}")

Value = int | float | str | bool | datetime.time | datetime.date | datetime.datetime | datetime.timedelta


@frozen
class SheetsExtractor:
    """Reads `.xlsx` and `.ods` with calamine."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the sheets in order, then the facts."""
        with open_archive(blob) as archive:
            oversized = _check(archive)
            smaller = cut(archive, oversized, max_cells=MAX_CELLS) if oversized else None
            names_of = _names_of(oversized, archive) if oversized else {}
            properties = read_properties(
                archive.read_if_there("docProps/core.xml") or archive.read_if_there("meta.xml")
            )
        from python_calamine import CalamineError, CalamineWorkbook

        notes: list[str] = []
        count = 0
        try:
            with _bytes_of(blob, smaller) as file, CalamineWorkbook.from_filelike(file) as workbook:
                names = workbook.sheet_names
                lost = {names_of[member]: rows for member, rows in smaller.lost_rows.items()} if smaller else {}
                left_out = set() if smaller else set(names_of.values())
                if left_out.issuperset(names):
                    raise _too_large()
                for number, name in enumerate(names[:MAX_SHEETS], start=1):
                    if name in left_out:
                        notes.append(f"{name}: {_too_large().message}")
                        continue
                    writer = yield from _sheet(workbook.get_sheet_by_index(number - 1), number, name)
                    writer.total += lost.get(name, 0)
                    count += writer.written + bool(writer.head.title_rows)
                    if writer.note:
                        notes.append(f"{name}: {writer.note}")
        except (CalamineError, OSError, ValueError) as error:
            raise ExtractionFailed(f"its cells cannot be read ({error})"[:200]) from error
        if len(names) > MAX_SHEETS:
            notes.append(f"only the first {MAX_SHEETS} of {len(names)} sheets were read")
        yield _facts(properties, names, notes, is_empty=count == 0 and not left_out)


def _bytes_of(blob: Blob, smaller: CutWorkbook | None) -> BinaryIO:
    """Open the file as bytes: given a path, calamine would believe its extension."""
    if smaller is not None:
        return BytesIO(smaller.data)
    if blob.data is not None:
        return BytesIO(blob.data)
    assert blob.path is not None
    return blob.path.open("rb")


def _sheet(sheet: "CalamineSheet", number: int, name: str) -> Generator[Segment, None, RowWriter]:
    """Yield a sheet's rows; return what counted them."""
    place = Place(kind="sheet", start=number, label=clean(name)[:200])
    first_row, rows = _rows(sheet)
    first = list(islice(rows, BLOCK_ROWS))
    head = find_head(first)
    title = "\n".join(" ".join(cell.strip() for cell in row if cell.strip()) for row in head.title_rows).strip()
    if title:
        last = first_row + len(head.title_rows) - 1
        yield Segment(text=clean(title), locator=(place, Place(kind="rows", start=first_row, end=last)))
    writer = RowWriter(head, within=(place,))
    data = chain([first[head.height :]], _blocks(rows))
    yield from writer.write(data, first_row + head.height, profiled=lambda rows: None)
    return writer


def _rows(sheet: "CalamineSheet") -> tuple[int, Iterator[list[str]]]:
    """Return the rows, and the number of the first one."""
    start = sheet.start
    if start is None:
        return 1, iter(())
    row, column = start
    if row < BLOCK_ROWS and column < MAX_COLUMNS:
        return 1, ([_shown(value) for value in values] for values in sheet.iter_rows())
    # Far from the first cell: going row by row would begin there.
    return row + 1, ([_shown(value) for value in values] for values in sheet.to_python(skip_empty_area=True))


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
    if isinstance(value, datetime.datetime):
        day = value.date().isoformat()
        return day if value.time() == datetime.time() else f"{day} {value.time().isoformat('minutes')}"
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def _facts(properties: Properties, names: list[str], notes: list[str], *, is_empty: bool) -> DocumentFacts:
    metadata: dict[str, object] = {
        "file_type": "spreadsheet",
        "extraction_method": "calamine",
        "sheet_count": len(names),
        **properties.metadata,
    }
    if is_empty:
        return DocumentFacts(metadata=metadata, reason=FileReason.EMPTY, note="the spreadsheet holds no cells")
    reason = FileReason.PARTIAL if notes else FileReason.OK
    return DocumentFacts(title=properties.title, metadata=metadata, reason=reason, note="; ".join(notes))


def _check(archive: Archive) -> set[str]:
    """Look at the sheets before they are parsed: their first and last cell may span more than memory holds.

    Returns:
        The members of a workbook that are such sheets.

    Raises:
        ExtractionFailed: a sheet of another kind of document is too large.
    """
    oversized = set()
    for name in archive.names:
        if name.startswith("xl/worksheets/") and name.endswith(".xml"):
            if _is_oversized(archive, name):
                oversized.add(name)
        elif name == "content.xml":
            _check_repeats(archive, name)
        elif name in {"xl/workbook.xml", "xl/styles.xml", "xl/sharedStrings.xml", "META-INF/manifest.xml"}:
            refuse_doctype(archive.read(name)[:10_000])
    if b"encryption-data" in archive.read_if_there("META-INF/manifest.xml"):
        raise ExtractionFailed("the document is protected by a password", reason=FileReason.ENCRYPTED)
    return oversized


def _names_of(members: set[str], archive: Archive) -> dict[str, str]:
    """Return what a workbook calls the sheets that are these members, by member."""
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
    if not members <= names.keys():
        raise _too_large()
    return {member: names[member] for member in members}


def _is_oversized(archive: Archive, name: str) -> bool:
    if archive.size(name) > MAX_SHEET_XML:
        return True
    data = archive.read(name)
    refuse_doctype(data[:10_000])
    return extent(data) > MAX_CELLS


def _check_repeats(archive: Archive, name: str) -> None:
    """Look at an OpenDocument sheet: it can say that a row or a cell repeats a million times."""
    if archive.size(name) > MAX_SHEET_XML:
        raise _too_large()
    data = archive.read(name)
    if not _REPEATED.search(data):
        refuse_doctype(data[:10_000])
        return
    extent = _Extent()
    parse(data, start=extent.start, end=extent.end, text=lambda text: None)
    if extent.cells > MAX_CELLS:
        raise _too_large()


@define
class _Extent:
    """Counts how far the filled cells of OpenDocument sheets reach."""

    cells: int = 0
    _row: int = 0
    _row_repeats: int = 1
    _column: int = 0
    _width: int = 0

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "table":
            self._row = self._width = 0
        elif name == "table-row":
            self._row_repeats = _number(attributes.get("number-rows-repeated"))
            self._column = 0
        elif name in {"table-cell", "covered-table-cell"}:
            self._column += _number(attributes.get("number-columns-repeated"))
            if "value-type" in attributes:
                self._width = max(self._width, self._column)
                self.cells = max(self.cells, (self._row + self._row_repeats) * self._width)

    def end(self, name: str) -> None:
        if name == "table-row":
            self._row += self._row_repeats


def _number(value: str | None) -> int:
    return int(value) if value and value.isdecimal() and len(value) < 10 else 1


def _too_large() -> ExtractionFailed:
    return ExtractionFailed(
        f"a sheet spans more than {MAX_CELLS // 1_000_000} million cells", reason=FileReason.TOO_BIG
    )
