"""Documents: what memory knows of single files."""

import os
from collections.abc import Callable, Collection
from pathlib import Path

from attrs import frozen

from openmind.domain.arguments import of_kind, text, whole_number
from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import DocumentForbidden, DocumentNotFound, SourceDisabled
from openmind.domain.files import FileReason, FileRecord, FileStatus
from openmind.domain.ids import FileId, SourceId
from openmind.domain.paths import extension_of, is_within, name_of
from openmind.ports.catalog import CatalogReader
from openmind.ports.storage import Storage

MAX_PAGE = 1_000
"""Most files or passages in one page."""

_RUNNABLE = """
    .app .appimage .bash .bat .cmd .com .command .cpl .desktop .dll .exe .gadget .hta .inf .jar .js .jse .lnk .msc
    .msi .msp .ps1 .ps1xml .psm1 .py .pyc .pyw .reg .scf .scr .sh .so .url .vb .vbe .vbs .webloc .workflow .ws .wsf
    .wsh .zsh
"""
RUNNABLE = frozenset(_RUNNABLE.split())
"""Kinds of file that run, or lead elsewhere, when they are opened."""
PROGRAM = b"#!"
"""How a script begins that says what runs it."""


@frozen(kw_only=True)
class DocumentService:
    """Reads the catalog's records and the stored passages of files; opens files for the person."""

    storage: Storage
    open_path: Callable[[Path], None]
    """Opens a file in the application the system has for it."""

    def get(self, file_id: FileId) -> FileRecord:
        """Fetch the record of a searchable file.

        Raises:
            DocumentNotFound: there is none, or it is not searchable.
            SourceDisabled: its source is not to be read now.
        """
        with self.storage.catalog.reading() as snapshot:
            return _searchable(snapshot, file_id)

    def list(
        self,
        *,
        reasons: Collection[FileReason | FileStatus | str] = (),
        source_id: SourceId | None = None,
        after: bytes = b"",
        limit: int = 100,
    ) -> tuple[FileRecord, ...]:
        """Page through files in order of path.

        Args:
            reasons: reasons, or statuses that stand for several; empty means all.
            source_id: only files of this source.
            after: `path_bytes` of the last file of the page before.
            limit: 1 to `MAX_PAGE`.

        Raises:
            UsageError: an argument is of the wrong type.
        """
        if source_id is not None:
            text(source_id, "the id of a source")
        wanted = {reason for name in reasons for reason in FileReason if str(name) in {reason.value, reason.status}}
        with self.storage.catalog.reading() as snapshot:
            return snapshot.list_files(
                reasons=wanted, source_id=source_id, after=of_kind(after, bytes, "after"), limit=_page_size(limit)
            )

    def shown(
        self,
        *,
        reasons: Collection[FileReason | FileStatus | str] = (),
        source_id: SourceId | None = None,
        after: bytes = b"",
        limit: int = 100,
    ) -> tuple[FileRecord, ...]:
        """Page as `list` does, but through enabled sources only: those that are read and searched.

        Raises:
            SourceDisabled: this very source is not.
            SourceNotFound: there is no such source.
            UsageError: an argument is of the wrong type.
        """
        with self.storage.catalog.reading() as snapshot:
            if source_id is not None:
                snapshot.source(SourceId(text(source_id, "the id of a source")))
            disabled = {source.id for source in snapshot.sources() if not source.enabled}
        if source_id in disabled:
            raise SourceDisabled.of(str(source_id))
        whole_number(limit, "the limit")
        found: list[FileRecord] = []
        while len(found) < limit:
            page = self.list(reasons=reasons, source_id=source_id, after=after, limit=MAX_PAGE if disabled else limit)
            found += [record for record in page if record.source_id not in disabled]
            if not disabled or not page:
                break
            after = page[-1].path_bytes
        return tuple(found[:limit])

    def chunks(self, file_id: FileId, *, start: int = 0, limit: int = 100) -> tuple[ChunkRow, ...]:
        """Page through the passages of a file in reading order, without vectors.

        Raises:
            DocumentNotFound: there is none, or it is not searchable.
            SourceDisabled: its source is not to be read now.
            UsageError: an argument is of the wrong type.
        """
        first, most = max(0, whole_number(start, "start")), _page_size(limit)
        with self.storage.catalog.reading() as snapshot:
            generation = _searchable(snapshot, file_id).live_generation
            table = snapshot.live_table()
            if table is None or generation is None:
                raise _no_document(file_id)
            with self.storage.chunks.open(table.name) as view:
                rows = view.file_rows(generation, file_id, start=first, limit=most)
        return tuple(rows)

    def open(self, file_id: FileId) -> FileRecord:
        """Open a file in its application, if it still is where its source may be read.

        Raises:
            DocumentNotFound: it is not searchable, or gone from the disk.
            SourceDisabled: its source is not to be read now.
            DocumentForbidden: links lead out of the enabled sources, or it is something that runs.
            NoOpener: this machine has no program that opens files.
        """
        record = self.get(file_id)
        with self.storage.catalog.reading() as snapshot:
            sources = snapshot.sources(enabled_only=True)
        path = Path(os.fsdecode(record.path_bytes))
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise DocumentNotFound("The file is no longer there", hint="Run: `openmind index`.") from error
        if not any(is_within(os.fsencode(real), source.path_bytes) for source in sources):
            raise DocumentForbidden("The file lies outside the approved folders now", hint="Run: `openmind index`.")
        if not real.is_file() or _may_run(path, real):
            raise DocumentForbidden("Files of this kind are not opened", hint="Open it yourself if you trust it.")
        self.open_path(real)
        return record


def _page_size(limit: object) -> int:
    return max(1, min(whole_number(limit, "the limit"), MAX_PAGE))


def _searchable(snapshot: CatalogReader, file_id: FileId) -> FileRecord:
    """The record of a file that a search may find."""
    record = snapshot.file(FileId(text(file_id, "the id of a document")))
    if record is None or record.live_generation is None:
        raise _no_document(file_id)
    if not snapshot.source(record.source_id).enabled:
        raise SourceDisabled.of(record.source_id)
    return record


def _no_document(file_id: FileId) -> DocumentNotFound:
    return DocumentNotFound(f"There is no searchable file {file_id}", hint="Search again; it may be gone.")


def _may_run(path: Path, real: Path) -> bool:
    """Whether opening a file may run it: by its name, or because it is marked as a program and says what runs it."""
    if {extension_of(name_of(os.fsencode(real))), extension_of(path.name)} & RUNNABLE:
        return True
    try:
        if os.name != "posix" or not real.stat().st_mode & 0o111:
            return False  # elsewhere every file is marked so
        with real.open("rb") as file:
            return file.read(len(PROGRAM)) == PROGRAM
    except OSError as error:
        raise DocumentNotFound("The file cannot be read any more", hint="Run: `openmind index`.") from error
