"""Inspection: an archive may come from anywhere, so every row is looked at before anything trusts it."""

from collections.abc import Iterable, Iterator
from typing import NoReturn

from attrs import define, field

from openmind.domain.archives import KeptText, Manifest
from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import ArchiveDamaged
from openmind.domain.files import FileRecord
from openmind.domain.ids import SourceId
from openmind.domain.paths import displayable, is_within
from openmind.domain.soundness import fault_of_file, fault_of_passage, fault_of_source
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
            _require_none(fault_of_source(source))
        _require_apart(listed)
        _require_count("sources", len(listed), self.manifest.sources)
        return iter(listed)

    def files(self) -> Iterator[FileRecord]:
        """Stream the files: each within its source, with a name and a path of its own."""
        names: set[int] = set()
        paths: set[int] = set()
        count = 0
        for record in self.archive.files():
            _require_none(fault_of_file(record, self._sources.get(record.source_id)))
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
        identity = self.manifest.identity
        for row in self.archive.passages():
            if identity is None:
                _refuse("has passages and does not say what made them")
            expected = before.index + 1 if before is not None and before.generation == row.generation else 0
            if row.index != expected:
                _refuse(f"has passages of {row.path} out of order")
            if row.source_id not in self._sources:
                _refuse(f"has passages of no source: {row.path}")
            _require_none(fault_of_passage(row, identity.embedder.dimension))
            count, before = count + 1, row
            yield row
        _require_count("passages", count, self.manifest.passages)


def _require_apart(sources: Iterable[Source]) -> None:
    """Refuse sources that would read the same files."""
    around: Source | None = None
    # In this order whatever lies in a folder follows it directly.
    for source in sorted(sources, key=lambda each: each.path_bytes.rstrip(b"/") + b"/"):
        if around is not None and around.overlaps(source.path_bytes, recursive=source.recursive):
            _refuse(f"has sources that overlap: {around.path} and {source.path}")
        if around is None or source.recursive or not is_within(source.path_bytes, around.path_bytes):
            around = source


def _require_none(fault: str) -> None:
    if fault:
        _refuse(f"has {fault}")


def _require_count(what: str, found: int, announced: int) -> None:
    if found != announced:
        _refuse(f"has {found:,} {what}, and says that it has {announced:,}")


def _refuse(why: str) -> NoReturn:
    raise ArchiveDamaged(f"The archive {why}", hint="Export it once more.")
