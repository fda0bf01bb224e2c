"""Exchange: a memory leaves as one file, and comes back from one without a file being read or a text embedded."""

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from attrs import frozen

from openmind.application.maintenance.exporting import Export
from openmind.application.maintenance.importing import Import
from openmind.application.maintenance.inspecting import InspectedArchive
from openmind.application.recovering.suspicion import suspect
from openmind.application.recovering.sweeping import Sweeping
from openmind.domain.archives import ExportReport, ImportReport
from openmind.domain.errors import MemoryNotEmpty, UsageError
from openmind.domain.paths import is_within
from openmind.ports.file_tree import FileTree
from openmind.ports.storage import Storage


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

    def export(self, path: Path) -> ExportReport:
        """Write everything that is remembered to one file: text, places, metadata, and vectors with their model.

        What is damaged is left out, so that the rest can be imported; where that is an index, the next run mends it.

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
        with self.storage.index_lock():
            with self.storage.catalog.reading() as snapshot:
                at = self.now().isoformat()
                work = Export(snapshot=snapshot, chunks=self.storage.chunks, written_by=self.version, created_at=at)
                self.storage.archive.write(path, work.contents())
                report = work.report()
            if report.damaged_files:
                suspect(self.storage.catalog)
        return report

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
