"""Sources: adding, listing and removing the folders that are remembered."""

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from attrs import evolve, frozen

from openmind.application.indexing.discovery import waiting_key
from openmind.application.indexing.run_log import end_dead_runs
from openmind.application.path_arguments import path_text
from openmind.application.recovering.recovery import Recovery
from openmind.application.recovering.sweeping import Sweeping, owe_erasure, owes_erasure
from openmind.domain.arguments import text, yes_or_no
from openmind.domain.errors import (
    IndexingBusy,
    JobError,
    SourceExists,
    SourceForbidden,
    SourceMissing,
    SourceNotFolder,
    SourceOverlaps,
    SourceUnreadable,
    StoreError,
    StoreFull,
    UsageError,
)
from openmind.domain.ids import SourceId, new_source_id
from openmind.domain.journal import SILENCE, Journal
from openmind.domain.paths import HOME_MARKER, displayable, is_within
from openmind.domain.sources import Source
from openmind.domain.status import RemovalReport
from openmind.domain.unread import unread_key
from openmind.ports.catalog import CatalogReader, CatalogWriter
from openmind.ports.storage import Storage

MAX_SHOWN = 400
"""Characters of a path in a message."""
PRETENDED = (b"/proc", b"/sys", b"/dev")
"""Where systems show their own state as if it were files; some of these never end, and reading others has effects."""
IN_MEMORY = b"/dev/shm"
"""Holds files all the same: those that a person keeps off the disk."""


NO_ROOM = (
    "Free some disk space and try again; what was remembered before is as it was. `openmind flush` needs none, and "
    "forgets what was read of every source."
)


@frozen(kw_only=True)
class SourceService:
    """The approved folders. Never writes to, moves or deletes anything in them."""

    storage: Storage
    home: Path
    now: Callable[[], datetime]
    refuse_while_indexing: Callable[[CatalogWriter], None]
    """Raises `JobActive` or `IndexingBusy` while files are indexed, in the background or not."""
    sweep_elsewhere: Callable[[], None]
    """Starts a process that does `sweep`."""
    journal: Journal = SILENCE

    def list(self) -> tuple[Source, ...]:
        """List sources in the order in which they were added."""
        with self.storage.catalog.reading() as snapshot:
            return snapshot.sources()

    def get(self, source_id: SourceId) -> Source:
        """Fetch one.

        Raises:
            SourceNotFound
        """
        with self.storage.catalog.reading() as snapshot:
            return snapshot.source(_id(source_id))

    def add(
        self, path: str | os.PathLike[str], *, recursive: bool = True, ocr: bool = True, code: bool = False
    ) -> Source:
        """Approve a folder. Nothing is read before the next index run.

        Args:
            path: a folder; made absolute, `~` expanded, links resolved.
            recursive: whether folders inside it belong to it.
            ocr: whether scanned pages and pictures are read by OCR.
            code: whether source code and JSON are indexed too.

        Raises:
            UsageError: the path is empty, or none; another argument is neither True nor False.
            SourceMissing, SourceNotFolder, SourceUnreadable: there is no such folder to read.
            SourceForbidden: a file-system root, a folder that the system makes up, or in the home of a memory.
            SourceExists, SourceOverlaps: its files are, or would be, read through another source.
        """
        for name, value in (("recursive", recursive), ("ocr", ocr), ("code", code)):
            yes_or_no(value, name)
        folder = resolve_folder(path, home=self.home)
        source = Source(
            id=new_source_id(),
            path_bytes=os.fsencode(folder),
            recursive=recursive,
            created_at=self.now().isoformat(),
            ocr=ocr,
            code=code,
        )
        with self.storage.catalog.writing() as session:
            self._refuse_overlap(source, session)
            session.add_source(source)
        self.journal.note("source.added", source=source.id)
        self._go_on_erasing()
        return source

    def change(
        self, source_id: SourceId, *, ocr: bool | None = None, code: bool | None = None, enabled: bool | None = None
    ) -> Source:
        """Change how a folder is read. The next index run reads what is concerned, and forgets code that is left out.

        Args:
            source_id: the source.
            ocr: whether scanned pages and pictures are read by OCR; what was recognised stays. None leaves it as it is.
            code: whether source code and JSON are indexed too. None leaves it as it is.

            enabled: whether it is read and searched; what is remembered of one that is not stays. None leaves it as it
                is.

        Raises:
            SourceNotFound
            UsageError: an argument is of the wrong type.
        """
        for name, value in (("ocr", ocr), ("code", code), ("enabled", enabled)):
            if value is not None:
                yes_or_no(value, name)
        with self.storage.catalog.writing() as session:
            source = session.source(_id(source_id))
            source = evolve(
                source,
                ocr=source.ocr if ocr is None else ocr,
                code=source.code if code is None else code,
                enabled=source.enabled if enabled is None else enabled,
            )
            session.update_source(source)
        self.journal.note("source.changed", source=source.id, ocr=source.ocr, code=source.code, enabled=source.enabled)
        self._go_on_erasing()
        return source

    def remove(self, source_id: SourceId) -> RemovalReport:
        """Take a source out of memory: its hits disappear at once, its text and vectors from the disk too.

        Raises:
            SourceNotFound
            JobActive, IndexingBusy: files are indexed, in the background or not.
        """
        report = self.forget(source_id, make_room=True)
        self.sweep()
        return report

    def dismiss(self, source_id: SourceId) -> RemovalReport:
        """The same for processes that never write passages: another one takes text and vectors off the disk, soon.

        Raises:
            SourceNotFound
            JobActive, IndexingBusy: files are indexed, in the background or not.
        """
        report = self.forget(source_id)
        if report.files_removed:
            self._erase_elsewhere()
        return report

    def forget(self, source_id: SourceId, *, make_room: bool = False) -> RemovalReport:
        """The first part of it, in one short transaction.

        Vectors and words that nobody can find any more stay on the disk until the next sweep, or run.

        Args:
            source_id: the source.
            make_room: give back what the passages take and nobody needs, where the disk is too full to forget.

        Raises:
            SourceNotFound
            JobActive, IndexingBusy: files are indexed, in the background or not.
            StoreFull: there is no room to forget; nothing was.
        """
        try:
            return self._forget(_id(source_id))
        except StoreFull as full:
            if make_room:  # forgetting needs room, too, and is what people do to get some
                self._make_room(source_id)
                with suppress(StoreFull):
                    return self._forget(source_id)
            raise StoreFull(full.message, hint=NO_ROOM) from full

    def _forget(self, source_id: SourceId) -> RemovalReport:
        with self.storage.catalog.writing() as session:
            source = session.source(source_id)
            self.refuse_while_indexing(session)
            counts = session.source_counts(source_id)
            session.delete_source(source_id)
            for kept in (waiting_key(source_id), unread_key(source_id)):
                session.set_setting(kept, None)
            session.drop_unused_texts()
            owe_erasure(session)
        self.journal.note("source.removed", source=source.id, files=counts.files)
        return RemovalReport(
            source_id=source.id,
            source_path=source.path,
            files_removed=counts.files,
            chunks_removed=counts.chunks,
        )

    def _make_room(self, source_id: SourceId) -> None:
        """Give back what nobody needs: old versions, and the passages themselves where no other source has any.

        They can be made again from the kept text.
        """
        chunks = self.storage.chunks
        with self.storage.catalog.reading() as snapshot:
            alone = all(source.id == source_id for source in snapshot.sources())
            tables = [table.name for table in snapshot.tables()]
        with suppress(StoreError, IndexingBusy), self.storage.index_lock():
            chunks.discard_quarantined()
            for table in tables:
                if alone:
                    chunks.drop(table)
                else:
                    chunks.clean(table, older_than_s=0.0)

    def sweep(self) -> None:
        """Take off the disk what removed sources left there; where that fails, the next run goes on with it."""
        try:
            try:
                self._erase()
            finally:
                self.storage.catalog.tidy()
        except StoreError as error:  # the source is out of memory all the same
            self.journal.note("source.not_swept", code=error.code)

    def is_erased(self) -> bool:
        """Whether nothing of a removed source is left on the disk.

        If not, a sweep was interrupted or found no room: the next run goes on with it, and so does whatever is done
        to a source.
        """
        with self.storage.catalog.reading() as snapshot:
            return not owes_erasure(snapshot)

    def _go_on_erasing(self) -> None:
        if not self.is_erased():
            self._erase_elsewhere()

    def _erase_elsewhere(self) -> None:
        try:
            self.sweep_elsewhere()
        except JobError as error:  # nobody finds it any more; the next run sweeps
            self.journal.note("source.not_swept", code=error.code)

    def _erase(self) -> None:
        catalog, chunks = self.storage.catalog, self.storage.chunks
        with suppress(IndexingBusy), self.storage.index_lock():  # the run that holds it sweeps before it ends
            end_dead_runs(catalog)
            Recovery(catalog=catalog, chunks=chunks).recover()  # before anything is sealed as the truth
            sweeping = Sweeping(catalog=catalog, chunks=chunks)
            sweeping.erase()
            sweeping.seal()

    def _refuse_overlap(self, source: Source, session: CatalogReader) -> None:
        for other in session.sources():
            if other.path_bytes == source.path_bytes:
                hint = "See: `openmind source list`."
                if not other.enabled:
                    hint = f"It is disabled; `openmind source set {other.id} --enable` has it read and searched again."
                raise SourceExists(f"{source.path} is a source already", hint=hint)
            if other.overlaps(source.path_bytes, recursive=source.recursive):
                raise SourceOverlaps(
                    f"{source.path} overlaps with the source {other.path}",
                    hint="Remove that source first, or add a folder outside it.",
                )


def resolve_folder(path: str | os.PathLike[str], *, home: Path) -> Path:
    """Return the folder that a path names, absolute and without links, if it can be a source.

    Raises:
        UsageError, SourceMissing, SourceNotFolder, SourceUnreadable, SourceForbidden
    """
    if not path_text(path, "the folder").strip():
        raise UsageError("No folder was named", hint="Give the path of a folder.")
    try:
        folder = Path(path).expanduser().resolve(strict=True)
    except FileNotFoundError as error:
        if _nowhere(path):
            raise SourceMissing(
                "The folder you are in is not there any more", hint="Change into another one, or give a whole path."
            ) from error
        raise SourceMissing(f"There is no folder {_shown(_absolute(path))}", hint="Check the path.") from error
    except PermissionError as error:
        raise SourceUnreadable(
            f"{_shown(_absolute(path))} may not be read", hint="Check the permissions of the folders above it."
        ) from error
    except (OSError, RuntimeError, ValueError) as error:
        raise SourceMissing(f"{_shown(path)} is no usable path", hint="Check the path.") from error
    if not folder.is_dir():
        raise SourceNotFolder(f"{_shown(folder)} is not a folder", hint="Add the folder that holds it.")
    if folder == Path(folder.anchor):
        raise SourceForbidden(
            f"{_shown(folder)} is the root of a file system", hint="Add the folders that you want to search."
        )
    if is_within(os.fsencode(folder), os.fsencode(home.resolve())):
        raise SourceForbidden(f"{_shown(folder)} is OpenMind's own folder", hint="Add a folder with your own files.")
    if _is_pretended(os.fsencode(folder)):
        raise SourceForbidden(
            f"{_shown(folder)} holds no files of yours: the system makes them up as they are read",
            hint="Add the folders that you want to search.",
        )
    if not os.access(folder, os.R_OK | os.X_OK):
        raise SourceUnreadable(f"{_shown(folder)} may not be read", hint="Check the folder's permissions.")
    if any((each / HOME_MARKER).is_file() for each in (folder, *folder.parents)):
        raise SourceForbidden(
            f"{_shown(folder)} belongs to another memory of OpenMind", hint="Add a folder with your own files."
        )
    return folder


def _is_pretended(folder: bytes) -> bool:
    return any(is_within(folder, each) for each in PRETENDED) and not is_within(folder, IN_MEMORY)


def _absolute(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Say where a path leads that cannot be followed: a person may have meant it from another folder."""
    try:
        return Path(path).expanduser().absolute()
    except (OSError, RuntimeError):  # the current folder is gone itself, or nobody is at home
        return path


def _nowhere(path: str | os.PathLike[str]) -> bool:
    """Whether a path begins in a current folder that was deleted."""
    if Path(path).expanduser().is_absolute():
        return False
    try:
        return not Path.cwd().is_dir()
    except OSError:
        return True


def _shown(path: str | os.PathLike[str]) -> str:
    """Show a path; a very long one, pasted by accident most likely, loses its middle."""
    told = displayable(os.fsencode(path))
    return told if len(told) <= MAX_SHOWN else f"{told[: MAX_SHOWN // 2]}…{told[-MAX_SHOWN // 2 :]}"


def _id(value: object) -> SourceId:
    return SourceId(text(value, "the id of a source"))
