"""Inspection: an archive may come from anywhere, so every row is looked at before anything trusts it."""

import json
import math
import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from attrs import define, field

from openmind.domain import packing
from openmind.domain.archives import KeptText, Manifest
from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import ArchiveDamaged, StoreDamaged
from openmind.domain.files import FileRecord
from openmind.domain.ids import SourceId
from openmind.domain.paths import displayable, is_within
from openmind.domain.sources import Source
from openmind.ports.archive import OpenedArchive


@define(kw_only=True)
class InspectedArchive:
    """An `OpenedArchive` that gives only what reading a memory can rely on. Sources come first. Serves one thread.

    Every stream raises `ArchiveDamaged` at the first row that makes no sense.
    """

    archive: OpenedArchive
    _sources: dict[SourceId, Source] = field(factory=dict, init=False)

    @property
    def manifest(self) -> Manifest:
        return self.archive.manifest

    def sources(self) -> Iterator[Source]:
        """Stream the sources: folders with one id and one path each, none within another."""
        listed = list(self.archive.sources())
        self._sources = {source.id: source for source in listed}
        if len(self._sources) != len(listed):
            _refuse("has two sources of one name")
        for source in listed:
            _require_path(source.path_bytes)
            _require_object(source.config, f"settings of the source {source.path}")
            _require_moment(source.created_at)
        _require_apart(listed)
        _require_count("sources", len(listed), self.manifest.sources)
        return iter(listed)

    def files(self) -> Iterator[FileRecord]:
        """Stream the files: each within its source, with a name and a path of its own."""
        names: set[int] = set()
        paths: set[int] = set()
        count = 0
        for record in self.archive.files():
            self._require_sound(record)
            names.add(hash(record.id))
            paths.add(hash(record.path_bytes))  # hashes are keyed: nobody can make two paths meet on purpose
            count += 1
            if len(paths) != count or len(names) != count:
                _refuse(f"has two records of the file {displayable(record.path_bytes)}")
            yield record
        _require_count("files", count, self.manifest.files)

    def texts(self) -> Iterator[KeptText]:
        """Stream the texts. There may be fewer than announced: what was damaged where they come from stays there."""
        count = 0
        for text in self.archive.texts():
            if not text.content_hash or not text.extractor:
                _refuse("has a text of no file")
            count += 1
            yield text
        if count > self.manifest.texts:
            _require_count("texts", count, self.manifest.texts)

    def passages(self) -> Iterator[ChunkRow]:
        """Stream the passages, numbered from 0 within each file."""
        count = 0
        before: ChunkRow | None = None
        for row in self.archive.passages():
            expected = before.index + 1 if before is not None and before.generation == row.generation else 0
            if row.index != expected:
                _refuse(f"has passages of {row.path} out of order")
            if row.source_id not in self._sources:
                _refuse(f"has passages of no source: {row.path}")
            if not math.isfinite(row.modified_at):
                _refuse("has a date that is none")
            _require_moment(row.indexed_at)
            _require_metadata(row)
            count, before = count + 1, row
            yield row
        _require_count("passages", count, self.manifest.passages)

    def _require_sound(self, record: FileRecord) -> None:
        shown = displayable(record.path_bytes)
        source = self._sources.get(record.source_id)
        if source is None:
            _refuse(f"has a file of no source: {shown}")
        _require_path(record.path_bytes)
        if record.path_bytes == source.path_bytes or not is_within(record.path_bytes, source.path_bytes):
            _refuse(f"has a file outside its source: {shown}")
        sizes = (record.stat.size, record.chunk_count, record.missing_vectors)
        if min(sizes) < 0 or record.missing_vectors > record.chunk_count:
            _refuse(f"has a file of an impossible size: {shown}")
        if record.indexed_at:
            _require_moment(record.indexed_at)
        _require_object(record.metadata, f"metadata of {shown}")


def _require_apart(sources: Iterable[Source]) -> None:
    """Refuse sources that would read the same files."""
    around: Source | None = None
    # In this order whatever lies in a folder follows it directly.
    for source in sorted(sources, key=lambda each: each.path_bytes.rstrip(b"/") + b"/"):
        if around is not None and around.overlaps(source.path_bytes, recursive=source.recursive):
            _refuse(f"has sources that overlap: {around.path} and {source.path}")
        if around is None or source.recursive or not is_within(source.path_bytes, around.path_bytes):
            around = source


def _require_path(path: bytes) -> None:
    if not Path(os.fsdecode(path)).is_absolute() or b"\0" in path or os.path.normpath(path) != path:
        _refuse(f"has a path that is none: {displayable(path)}")


def _require_object(text: str, what: str) -> None:
    try:
        sound = isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        sound = False
    if not sound:
        _refuse(f"has {what} that cannot be read")


def _require_metadata(row: ChunkRow) -> None:
    try:
        packing.read_metadata(row.metadata)
    except StoreDamaged as error:
        raise _damaged(f"has metadata of a passage of {row.path} that cannot be read") from error


def _require_moment(text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        raise _damaged("has a date that is none") from error


def _require_count(what: str, found: int, announced: int) -> None:
    if found != announced:
        _refuse(f"has {found:,} {what}, and says that it has {announced:,}")


def _refuse(why: str) -> NoReturn:
    raise _damaged(why)


def _damaged(why: str) -> ArchiveDamaged:
    return ArchiveDamaged(f"The archive {why}", hint="Export it once more.")
