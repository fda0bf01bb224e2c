"""A workbook with a sheet too large for memory becomes the same workbook with that sheet cut after its first rows."""

import re
import zipfile
from collections.abc import Collection, Iterator, Mapping
from io import BytesIO

from attrs import frozen

from openmind_extractors.archives import Archive
from openmind_extractors.number_formats import column_number
from openmind_extractors.rows import MAX_ROWS

MAX_KEPT_XML = 30_000_000
"""Unpacked bytes of a sheet that are kept: half a million cells."""

_BLOCK = 1 << 20
_ROW_START = re.compile(rb"<(?:\w{1,20}:)?row[\s/>]")
_ROW_END = re.compile(rb"</((?:\w{1,20}:)?)row>")
_CELL = re.compile(rb"<(?:\w{1,20}:)?c\s[^>]{0,200}?\br=[\"']([A-Z]{1,3})(\d{1,7})[\"']")
_OVERLAP = 32
"""Bytes of a block that are looked at again with the next one: a tag may stand on both sides."""


@frozen
class CutWorkbook:
    """What is read in the place of a workbook."""

    data: bytes
    lost_rows: Mapping[str, int]
    """How many rows were cut off, by the member that is the sheet."""


def cut(archive: Archive, oversized: Collection[str], *, max_cells: int) -> CutWorkbook | None:
    """Copy a workbook with its oversized sheets cut.

    Args:
        archive: the workbook.
        oversized: the members that are those sheets.
        max_cells: from the first to the last cell of what is kept.

    Returns:
        The copy; None when a sheet has no row within the bounds.

    Raises:
        ExtractionFailed: a member is broken.
    """
    lost: dict[str, int] = {}
    kept = BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as copy:
        for name in archive.names:
            if name not in oversized:
                copy.writestr(name, archive.read(name))
                continue
            start, total = start_and_rows(archive.blocks(name))
            rows = _first_rows(start, max_cells)
            if not rows:
                return None
            copy.writestr(name, rows)
            lost[name] = total - len(_ROW_START.findall(rows))
    return CutWorkbook(kept.getvalue(), lost)


def extent(xml: bytes) -> int:
    """Return how many cells there are from the first to the last one of a sheet, the empty ones between them, too."""
    top, bottom, columns = 0, 1, {b"A"}
    for found in _CELL.finditer(xml):
        columns.add(found[1])
        row = int(found[2])
        top, bottom = min(top or row, row), max(bottom, row)
    return (bottom - max(top, 1) + 1) * max(map(column_number, columns))


def start_and_rows(blocks: Iterator[bytes]) -> tuple[bytes, int]:
    """Return the first bytes of a sheet, and how many rows it has in all."""
    start, total, tail = bytearray(), 0, b""
    for block in blocks:
        if len(start) < MAX_KEPT_XML:
            start += block
        seen = tail + block
        total += sum(found.end() > len(tail) for found in _ROW_START.finditer(seen))
        tail = seen[-_OVERLAP:]
    return bytes(start), total


def _first_rows(start: bytes, max_cells: int) -> bytes:
    """Return a sheet of the first rows that are within the bounds; nothing when not even one is."""
    ends = [(found.end(), found[1]) for found in _ROW_END.finditer(start)][:MAX_ROWS]
    while ends:
        stop, prefix = ends[-1]
        rows = start[:stop]
        cells = extent(rows)
        if cells <= max_cells:
            return rows + b"</%ssheetData></%sworksheet>" % (prefix, prefix)
        ends = ends[: len(ends) * max_cells // cells or len(ends) // 2]
    return b""
