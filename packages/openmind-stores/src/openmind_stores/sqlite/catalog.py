"""The catalog: opens sessions on `openmind.sqlite`.

Every session has a connection of its own and closes it. Nobody else then holds the file between two sessions, so a
home can be moved or removed under a long-lived process, and what is left on disk is one file.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Final

from attrs import field, frozen
from openmind.domain.errors import MemoryClosed, StoreError

from openmind_stores.sqlite.connection import PATIENCE_S, Link, open_reader, open_writer, size_of, wal_of
from openmind_stores.sqlite.locks import CatalogLock
from openmind_stores.sqlite.migration import is_current, migrate, require_current
from openmind_stores.sqlite.tables.file_changes import FileWriting
from openmind_stores.sqlite.tables.files import FileReading
from openmind_stores.sqlite.tables.generations import GenerationReading, GenerationWriting
from openmind_stores.sqlite.tables.index_tables import IndexTableReading, IndexTableWriting
from openmind_stores.sqlite.tables.plans import PlanReading, PlanWriting
from openmind_stores.sqlite.tables.runs import RunReading, RunWriting
from openmind_stores.sqlite.tables.settings import SettingReading, SettingWriting
from openmind_stores.sqlite.tables.sources import SourceReading, SourceWriting
from openmind_stores.sqlite.tables.texts import TextReading, TextWriting

CATALOG_FILE: Final = "openmind.sqlite"
CATALOG_LOCK: Final = "catalog.lock"

WAL_LARGE: Final = 4 * 1024 * 1024
"""A log of this many bytes is folded into the database after the transaction that made it so large."""
WAL_STEP: Final = 16 * 1024 * 1024
"""Readers that overlap keep a log from ever starting anew. Each time it has grown by this many bytes the writer waits
for them, for a moment."""
WAIT_FOR_READERS_S: Final = 0.2

VACUUM_PAGES: Final = 2_048
"""Pages that `tidy` gives back in one go, 16 MB; then others may write."""
VACUUM_ROUNDS: Final = 64


class SqliteReader(
    SourceReading,
    FileReading,
    GenerationReading,
    IndexTableReading,
    TextReading,
    PlanReading,
    RunReading,
    SettingReading,
):
    """A snapshot."""


class SqliteWriter(
    SourceWriting,
    FileWriting,
    GenerationWriting,
    IndexTableWriting,
    TextWriting,
    PlanWriting,
    RunWriting,
    SettingWriting,
    SqliteReader,
):
    """A write transaction."""


@frozen
class SqliteCatalog:
    """Implements `openmind.ports.catalog.Catalog` on a file in a home.

    A session waits `lock_timeout_s` seconds for others; a log that has to start anew waits `wait_for_readers_s` for
    those who still read it.
    """

    home: Path
    lock_timeout_s: float = PATIENCE_S
    wait_for_readers_s: float = WAIT_FOR_READERS_S
    _lock: CatalogLock = field(init=False, repr=False, eq=False)
    _closed: Event = field(factory=Event, init=False, repr=False, eq=False)

    @_lock.default
    def _make_lock(self) -> CatalogLock:
        return CatalogLock(self.home / CATALOG_LOCK, self.lock_timeout_s)

    @property
    def path(self) -> Path:
        return self.home / CATALOG_FILE

    def initialise(self, *, written_by: Callable[[], str]) -> None:
        """Create the catalog or bring it up to date; `written_by` gives the version to note in it."""
        if is_current(self.path):
            return
        with self._lock.hold(self.path):
            migrate(self.path, written_by=written_by())

    def close(self) -> None:
        """Open no more sessions; those that are open go on. Safe to call twice."""
        self._closed.set()

    @contextmanager
    def reading(self) -> Iterator[SqliteReader]:
        self._refuse_closed()
        link = open_reader(self.path, patience_s=self.lock_timeout_s)
        try:
            require_current(link)
            yield SqliteReader(link)
        finally:
            link.close()

    @contextmanager
    def writing(self) -> Iterator[SqliteWriter]:
        with self._writable() as link:
            log_size = size_of(wal_of(self.path))
            with link.transaction():
                require_current(link)
                yield SqliteWriter(link)
            self._bound_log(link, log_size)

    @contextmanager
    def journalling(self, embedder: str) -> Iterator[Callable[[Mapping[bytes, bytes]], None]]:
        """See the port. The connection stays open between two transactions.

        To open and close it would cost more than the embedding by a quick server: whoever closes the last one folds the
        log into the database, and waits for the disk three times. The locks are those of any writer.
        """
        self._refuse_closed()
        with self._lock.hold(self.path):
            link = open_writer(self.path, patience_s=self.lock_timeout_s)
        unfolded = 0

        def keep(vectors: Mapping[bytes, bytes]) -> None:
            nonlocal unfolded
            with self._lock.hold(self.path), link.transaction():
                require_current(link)
                SqliteWriter(link).keep_vectors(embedder, vectors)
            unfolded += sum(map(len, vectors.values()))
            if unfolded > WAL_LARGE:
                with self._lock.hold(self.path):
                    self._fold_log(link)
                unfolded = 0

        try:
            link.run("PRAGMA synchronous = NORMAL")
            yield keep
        finally:
            with self._lock.hold(self.path):
                link.close()

    def tidy(self) -> bool:
        for _ in range(VACUUM_ROUNDS):
            with self._writable() as link:
                link.run_to_the_end(f"PRAGMA incremental_vacuum({VACUUM_PAGES})")
                if not self._empty_log(link):
                    return False
                if link.value("PRAGMA freelist_count") == 0:
                    break
        return True

    @contextmanager
    def _writable(self) -> Iterator[Link]:
        """Open a connection that can write; it lives and ends under the lock."""
        self._refuse_closed()
        with self._lock.hold(self.path):
            link = open_writer(self.path, patience_s=self.lock_timeout_s)
            try:
                yield link
            finally:
                link.close()  # what was not committed did not happen

    def _refuse_closed(self) -> None:
        if self._closed.is_set():
            raise MemoryClosed(
                "This memory was closed", hint="Use it within `with open_memory() as memory:`, or open it again."
            )

    def _bound_log(self, link: Link, size_before: int) -> None:
        """Fold a log that has grown large into the database, so that it can start anew."""
        size = size_of(wal_of(self.path))
        with suppress(StoreError):  # the transaction is safe in the log; the next one tries again
            if size // WAL_STEP > size_before // WAL_STEP:
                self._empty_log(link)
            elif size > WAL_LARGE:
                link.run("PRAGMA wal_checkpoint(PASSIVE)")

    def _fold_log(self, link: Link) -> None:
        """Fold the log of a connection that stays open, and wait for readers when they kept it from starting anew."""
        with suppress(StoreError):
            if size_of(wal_of(self.path)) > WAL_STEP:
                self._empty_log(link)
            else:
                link.run("PRAGMA wal_checkpoint(PASSIVE)")

    def _empty_log(self, link: Link) -> bool:
        """Fold the whole log into the database and truncate it; False when a reader still needs it."""
        link.be_patient(self.wait_for_readers_s)
        try:
            busy: int = link.value("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            link.be_patient(self.lock_timeout_s)
        return not busy
