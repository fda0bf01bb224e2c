"""Spreadsheets: each sheet is a table, each row keeps its number."""

import datetime
from collections.abc import Generator, Iterable, Iterator, Mapping
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
from openmind_extractors.ooxml import Properties, read_properties
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
            oversized = _check(archive)
            smaller = cut(archive, oversized, max_cells=MAX_CELLS) if oversized else None
            names_of = _names_of(oversized, archive) if oversized else {}
            losses = Losses()
            core = "docProps/core.xml"
            properties = losses.attempt(core, lambda: read_properties(archive.read_if_there(core)), Properties())
        from python_calamine import CalamineError, CalamineWorkbook

        summary = _Summary()
        try:
            with _bytes_of(blob, smaller) as file, CalamineWorkbook.from_filelike(file) as workbook:
                names = workbook.sheet_names
                lost = {names_of[member]: rows for member, rows in smaller.lost_rows.items()} if smaller else {}
                left_out = set() if smaller else set(names_of.values())
                if left_out.issuperset(names):
                    raise _too_large()
                summary.sheet_count = len(names)
                for number, name in enumerate(names[:MAX_SHEETS], start=1):
                    if name in left_out:
                        summary.notes.append(f"{name}: {_too_large().message}")
                        continue
                    first_row, rows = _rows(workbook.get_sheet_by_index(number - 1))
                    writer = yield from _sheet(_blocks(rows), first_row, number, name)
                    writer.total += lost.get(name, 0)
                    summary.add(name, writer)
        except (CalamineError, OSError, ValueError) as error:
            raise ExtractionFailed(f"its cells cannot be read ({error})"[:200]) from error
        yield losses.told(summary.facts("calamine", properties))


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
    _written: int = 0

    def add(self, name: str, writer: RowWriter) -> None:
        self._written += writer.written + bool(writer.head.title_rows)
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
        if not self._written and not notes:
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


def _too_large() -> ExtractionFailed:
    return ExtractionFailed(
        f"a sheet spans more than {MAX_CELLS // 1_000_000} million cells", reason=FileReason.TOO_BIG
    )
