"""Local storage: the catalog in SQLite and the passages in Lance, side by side in a home."""

import os
import threading
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Final

from attrs import define, field
from openmind.domain.errors import StoreError
from openmind.domain.jobs import JobState
from openmind.ports.archive import Archive
from openmind.ports.catalog import Catalog
from openmind.ports.chunk_store import ChunkStore
from openmind.ports.storage import StorageHealth

from openmind_stores.sqlite.catalog import CATALOG_FILE, SqliteCatalog
from openmind_stores.sqlite.connection import size_of
from openmind_stores.sqlite.errors import translate_os
from openmind_stores.sqlite.locks import hold_index_lock

INDEX_LOCK: Final = "index.lock"
CHUNKS_FOLDER: Final = "lancedb"
FOLDER_MODE: Final = 0o700


@define
class LocalStorage:
    """Implements `openmind.ports.storage.Storage`. Thread-safe.

    The chunk store is made when it is first asked for: what only reads the catalog never pays for Lance.
    """

    home: Path
    _catalog: SqliteCatalog = field(init=False)
    _chunks: ChunkStore | None = field(default=None, init=False, repr=False, eq=False)
    _making: threading.Lock = field(factory=threading.Lock, init=False, repr=False, eq=False)

    @_catalog.default
    def _make_catalog(self) -> SqliteCatalog:
        return SqliteCatalog(self.home)

    @property
    def catalog(self) -> Catalog:
        return self._catalog

    @property
    def chunks(self) -> ChunkStore:
        with self._making:
            if self._chunks is None:
                from openmind_stores.lance.chunk_store import LanceChunkStore

                self._chunks = LanceChunkStore(self.home / CHUNKS_FOLDER)
            return self._chunks

    @property
    def archive(self) -> Archive:
        from openmind_stores.archive.parquet import ParquetArchive

        return ParquetArchive()

    def initialise(self) -> None:
        try:
            self.home.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        except OSError as error:
            raise translate_os(error, self.home) from error
        self._catalog.initialise(written_by=_own_version)

    def is_ours(self) -> bool:
        from openmind_stores.sqlite.checkup import is_ours

        return is_ours(self._catalog.path)

    def examine(self) -> StorageHealth:
        from openmind_stores.sqlite.checkup import ENGINE_VERSION, damage_of

        return StorageHealth(
            versions={"SQLite": ENGINE_VERSION, "LanceDB": _version_of("lancedb"), "Lance": _version_of("pylance")},
            damage=damage_of(self._catalog.path),
            quarantined=tuple(str(path) for path in sorted((self.home / CHUNKS_FOLDER).glob("*.broken-*"))),
        )

    def index_lock(self) -> AbstractContextManager[None]:
        return hold_index_lock(self.home / INDEX_LOCK, rests=self._rests)

    def _rests(self) -> bool:
        """Whether the background job is paused, as far as that can be told."""
        with suppress(StoreError), self._catalog.reading() as snapshot:
            job = snapshot.latest_job()
            return job is not None and job.state is JobState.PAUSED
        return False

    def size_bytes(self) -> int:
        names = (CATALOG_FILE, f"{CATALOG_FILE}-wal", f"{CATALOG_FILE}-shm")
        return sum(size_of(self.home / name) for name in names) + _folder_size(self.home / CHUNKS_FOLDER)

    def close(self) -> None:
        """Sessions close their connections themselves; no more of them are opened."""
        self._catalog.close()


def _own_version() -> str:
    from importlib.metadata import version  # costs as much as reading the whole status

    return version("openmind-stores")


def _version_of(distribution: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _folder_size(folder: Path) -> int:
    """Add up the files below a folder; what vanishes meanwhile does not count."""
    total = 0
    waiting = [os.fspath(folder)]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    total += _size_of_entry(entry)
    return total


def _size_of_entry(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0
