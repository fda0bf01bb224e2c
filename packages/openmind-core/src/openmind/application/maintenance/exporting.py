"""Exchange: a memory leaves as one file, and comes back from one without a file being read or a text embedded."""

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from attrs import frozen

from openmind.application.maintenance.importing import Import
from openmind.application.maintenance.inspecting import InspectedArchive
from openmind.application.recovering.sweeping import Sweeping
from openmind.domain import packing
from openmind.domain.archives import ImportReport, KeptText, Manifest
from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import MemoryNotEmpty, StoreDamaged, UsageError
from openmind.domain.files import FileRecord
from openmind.domain.ids import FileId, Generation
from openmind.domain.index import IndexTable
from openmind.domain.paths import is_within
from openmind.ports.archive import ArchiveContents
from openmind.ports.catalog import CatalogReader
from openmind.ports.file_tree import FileTree
from openmind.ports.storage import Storage

PAGE = 500


@frozen(kw_only=True)
class ExchangeService:
    """Writes archives and reads them. Files of the person are neither read nor written."""

    storage: Storage
    tree: FileTree
    home: Path
    """OpenMind's own folder."""
    room: Path
    """Where temporary files go."""
    version: str
    now: Callable[[], datetime]
    refuse_beside_job: Callable[[], None]
    """Raises `IndexingBusy` while a background job is unfinished, one that is paused included."""

    def export(self, path: Path) -> Manifest:
        """Write everything that is remembered to one file: text, places, metadata, and vectors with their model.

        Raises:
            UsageError: the file would lie in OpenMind's own folder.
            IndexingBusy: something is being indexed.
            StoreError: the memory cannot be read, or the file not written.
        """
        if is_within(os.fsencode(path.resolve()), os.fsencode(self.home.resolve())):
            raise UsageError(
                f"{path} lies in OpenMind's own folder",
                hint="Choose a place outside it.",
            )
        self.refuse_beside_job()
        with self.storage.index_lock(), self.storage.catalog.reading() as snapshot:
            table = snapshot.live_table()
            order = sorted((generation, file_id) for generation, file_id, _ in snapshot.live_generations())
            counts = snapshot.counts()
            manifest = Manifest(
                written_by=self.version,
                created_at=self.now().isoformat(),
                identity=table.identity if table else None,
                sources=len(snapshot.sources()),
                files=sum(1 for _ in _files(snapshot, order)),
                texts=sum(1 for _ in _text_names(snapshot)),
                passages=counts.chunks,
            )
            contents = ArchiveContents(
                manifest=manifest,
                sources=snapshot.sources(),
                files=_files(snapshot, order),
                texts=_texts(snapshot),
                passages=self._passages(table, order),
            )
            self.storage.archive.write(path, contents)
        return manifest

    def import_(self, path: Path, *, enable_missing: bool = False) -> ImportReport:
        """Read an archive into a memory that is empty. Sources whose folder is not there come in disabled.

        Args:
            path: what `export` wrote.
            enable_missing: whether sources whose folder is not there are searched all the same.

        Raises:
            MemoryNotEmpty: something is remembered already.
            IndexingBusy: something is being indexed.
            ArchiveDamaged: the file cannot be read; nothing of it is in memory.
            StoreError: the memory cannot be written.
        """
        self.refuse_beside_job()
        with self.storage.index_lock():
            self._require_empty()
            with self.storage.archive.open(path, room=self.room) as opened:
                archive = InspectedArchive(archive=opened)
                work = Import(storage=self.storage, tree=self.tree, archive=archive, now=self.now, home=self.home)
                try:
                    report = work.carry_out(enable_missing=enable_missing)
                except BaseException:
                    self._clear()
                    raise
            Sweeping(catalog=self.storage.catalog, chunks=self.storage.chunks).seal()
        return report

    def _require_empty(self) -> None:
        with self.storage.catalog.reading() as snapshot:
            empty = not snapshot.sources() and not snapshot.list_files(limit=1)
        if not empty:
            raise MemoryNotEmpty(
                "There is something in this memory already, and an import does not mix",
                hint="`openmind flush --include-sources` empties it; OPENMIND_HOME names another home.",
            )

    def _clear(self) -> None:
        """Leave nothing of an import that came to nothing: the memory was empty before."""
        with self.storage.catalog.writing() as session:
            names = [table.name for table in session.tables()]
            session.clear(sources=True)
        for name in names:
            self.storage.chunks.drop(name)

    def _passages(self, table: IndexTable | None, order: list[tuple[Generation, FileId]]) -> Iterator[ChunkRow]:
        if table is None:
            return
        for start in range(0, len(order), PAGE):
            generations = [generation for generation, _ in order[start : start + PAGE]]
            yield from self.storage.chunks.read_generations(table.name, generations)


def _files(snapshot: CatalogReader, order: list[tuple[Generation, FileId]]) -> Iterator[FileRecord]:
    """Files without passages first, then the others in the order of their generations."""
    after = b""
    while page := snapshot.list_files(after=after, limit=PAGE):
        after = page[-1].path_bytes
        yield from (record for record in page if record.live_generation is None)
    for start in range(0, len(order), PAGE):
        some = [file_id for _, file_id in order[start : start + PAGE]]
        records = snapshot.files(some)
        yield from (records[file_id] for file_id in some)


def _text_names(snapshot: CatalogReader) -> Iterator[tuple[str, str]]:
    """Name each text once."""
    seen: set[tuple[str, str]] = set()
    after = b""
    while page := snapshot.list_files(after=after, limit=PAGE):
        after = page[-1].path_bytes
        for record in page:
            name = (record.content_hash, record.extractor)
            if record.content_hash and name not in seen and snapshot.text(*name) is not None:
                seen.add(name)
                yield name


def _texts(snapshot: CatalogReader) -> Iterator[KeptText]:
    for content_hash, extractor in _text_names(snapshot):
        packed = snapshot.text(content_hash, extractor)
        if packed is not None:
            try:
                document = packing.unpack(packed)
            except StoreDamaged:
                continue  # the file it came from is read again where the archive is imported
            yield KeptText(content_hash=content_hash, extractor=extractor, document=document)
