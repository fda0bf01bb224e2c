"""The port to storage: a catalog and a chunk store that belong together."""

from contextlib import AbstractContextManager
from typing import Protocol

from openmind.ports.catalog import Catalog
from openmind.ports.chunk_store import ChunkStore


class Storage(Protocol):
    """Built from the home folder; building neither reads nor writes."""

    @property
    def catalog(self) -> Catalog: ...

    @property
    def chunks(self) -> ChunkStore: ...

    def initialise(self) -> None:
        """Create what is missing and bring older homes up to date. Needs write access.

        Raises:
            HomeNewer: a newer OpenMind wrote this home.
            StoreError: it cannot be created or migrated; what was there is as it was.
        """
        ...

    def index_lock(self) -> AbstractContextManager[None]:
        """Hold the right to write passages; given back when the process ends, however it ends.

        Raises:
            IndexingBusy: another process has it; the message says which.
        """
        ...

    def size_bytes(self) -> int:
        """What is on disk."""
        ...

    def close(self) -> None:
        """Give back connections. Safe to call twice."""
        ...
