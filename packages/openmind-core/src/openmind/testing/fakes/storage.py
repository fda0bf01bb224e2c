"""A storage in memory: everything that a storage is made of, in one place to read."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from attrs import define, field, frozen

from openmind.domain.errors import IndexingBusy, MemoryClosed, StoreError
from openmind.ports.archive import Archive
from openmind.ports.catalog import Catalog, CatalogReader, CatalogWriter
from openmind.ports.chunk_store import ChunkStore
from openmind.ports.storage import StorageHealth
from openmind.testing.fakes.archive import MemoryArchive
from openmind.testing.fakes.catalog import MemoryCatalog
from openmind.testing.fakes.chunk_store import MemoryChunkStore


@define
class Kept:
    """What is kept for one home."""

    archive: Archive
    catalog: Catalog = field(factory=MemoryCatalog)
    chunks: ChunkStore = field(factory=MemoryChunkStore)
    indexing: threading.Lock = field(factory=threading.Lock, repr=False)
    initialised: bool = False


@define
class MemoryStorages:
    """Makes storages: those for one home hold the same, as long as this object lives."""

    _kept: dict[Path, Kept] = field(factory=dict, init=False)
    _archive: Archive = field(factory=MemoryArchive, init=False)

    def at(self, home: Path) -> "MemoryStorage":
        """Make the storage of a home."""
        return MemoryStorage(home, self._kept.setdefault(home, Kept(self._archive)))


@define
class MemoryStorage:
    """Implements `openmind.ports.storage.Storage`."""

    home: Path
    kept: Kept = field(repr=False)
    closed: bool = False

    @property
    def catalog(self) -> Catalog:
        return Door(self)

    @property
    def chunks(self) -> ChunkStore:
        return self.kept.chunks

    @property
    def archive(self) -> Archive:
        return self.kept.archive

    def initialise(self) -> None:
        try:
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{self.home} cannot be made") from error
        self.kept.initialised = True

    def is_ours(self) -> bool:
        return self.kept.initialised

    def examine(self) -> StorageHealth:
        return StorageHealth(versions={"memory": "1"})

    @contextmanager
    def index_lock(self) -> Iterator[None]:
        if not self.kept.indexing.acquire(blocking=False):
            raise IndexingBusy("This process is indexing already.")
        try:
            yield
        finally:
            self.kept.indexing.release()

    def size_bytes(self) -> int:
        return 0

    def close(self) -> None:
        self.closed = True


@frozen
class Door:
    """The catalog of a storage; shut before it is initialised, and after it was closed."""

    storage: MemoryStorage

    def reading(self) -> AbstractContextManager[CatalogReader]:
        return self._behind().reading()

    def writing(self) -> AbstractContextManager[CatalogWriter]:
        return self._behind().writing()

    def journalling(self, embedder: str) -> AbstractContextManager[Callable[[Mapping[bytes, bytes]], None]]:
        return self._behind().journalling(embedder)

    def tidy(self) -> bool:
        return self._behind().tidy()

    def _behind(self) -> Catalog:
        if self.storage.closed:
            raise MemoryClosed("This memory was closed.")
        if not self.storage.kept.initialised:
            raise StoreError("This memory has not been initialised.")
        return self.storage.kept.catalog
