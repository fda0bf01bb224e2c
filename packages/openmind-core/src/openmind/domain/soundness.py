"""Soundness: whether rows make sense, wherever they come from: a damaged index, an archive that somebody made."""

import json
import math
import posixpath
import struct
from collections.abc import Sequence
from datetime import datetime

from openmind.domain import packing
from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import StoreDamaged
from openmind.domain.files import FileRecord
from openmind.domain.paths import displayable, is_within
from openmind.domain.sources import Source
from openmind.domain.vectors import FLOAT_BYTES

TOLERANCE = 0.005
"""Of the length of a vector: half precision, as some tables keep vectors, shortens it by less than a thousandth."""


def fault_of_source(source: Source) -> str:
    """Say what is wrong with a source, behind "The archive has"; empty when it is sound."""
    if not _is_path(source.path_bytes):
        return f"a path that is none: {displayable(source.path_bytes)}"
    if not _is_object(source.config):
        return f"settings of the source {source.path} that cannot be read"
    return "" if _is_moment(source.created_at) else "a date that is none"


def fault_of_file(record: FileRecord, source: Source | None) -> str:
    """Say what is wrong with the record of a file, which has to lie in its source; empty when it is sound."""
    shown = displayable(record.path_bytes)
    if source is None:
        return f"a file of no source: {shown}"
    if not _is_path(record.path_bytes):
        return f"a path that is none: {shown}"
    if record.path_bytes == source.path_bytes or not is_within(record.path_bytes, source.path_bytes):
        return f"a file outside its source: {shown}"
    sizes = (record.stat.size, record.chunk_count, record.missing_vectors)
    if min(sizes) < 0 or record.missing_vectors > record.chunk_count:
        return f"a file of an impossible size: {shown}"
    if record.indexed_at and not _is_moment(record.indexed_at):
        return "a date that is none"
    return "" if _is_object(record.metadata) else f"metadata of {shown} that cannot be read"


def fault_of_passages(record: FileRecord, rows: Sequence[ChunkRow]) -> str:
    """Say what is wrong with the passages of a file as a whole; empty when all are there, in order."""
    if len(rows) != record.chunk_count:
        return f"{len(rows):,} of {record.chunk_count:,} passages of {displayable(record.path_bytes)}"
    for index, row in enumerate(rows):
        if row.index != index:
            return f"passages of {row.path} out of order"
        if (row.file_id, row.source_id) != (record.id, record.source_id):
            return f"passages of {row.path} under another file"
    return ""


def fault_of_passage(row: ChunkRow, dimension: int) -> str:
    """Say what is wrong with a passage; empty when a search can rely on it.

    Args:
        row: the passage.
        dimension: components that a vector has.
    """
    if row.vector is not None and not is_unit(row.vector, dimension):
        return f"a vector of {row.path} that no model makes"
    if not math.isfinite(row.modified_at) or not _is_moment(row.indexed_at):
        return "a date that is none"
    try:
        packing.read_metadata(row.metadata)
    except StoreDamaged:
        return f"metadata of a passage of {row.path} that cannot be read"
    return ""


def is_unit(vector: bytes, dimension: int) -> bool:
    """Whether these are so many little-endian float32, finite, and of unit length together."""
    if len(vector) != FLOAT_BYTES * dimension:
        return False
    return abs(math.hypot(*struct.unpack(f"<{dimension}f", vector)) - 1.0) <= TOLERANCE  # a NaN is within no tolerance


def _is_path(path: bytes) -> bool:
    return path.startswith(b"/") and b"\0" not in path and posixpath.normpath(path) == path


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
