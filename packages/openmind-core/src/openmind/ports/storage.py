"""The port to storage: a catalog and a chunk store that belong together."""

from contextlib import AbstractContextManager
from typing import Protocol

from attrs import field, frozen

from openmind.ports.archive import Archive
from openmind.ports.catalog import Catalog
from openmind.ports.chunk_store import ChunkStore


@frozen(kw_only=True)
class StorageHealth:
    """What storage says about itself, for doctor."""

    versions: dict[str, str] = field(factory=dict)
    """By name of the engine."""
    damage: tuple[str, ...] = ()
    """A sentence for each thing that is wrong with the catalog; empty when it is sound."""
    quarantined: tuple[str, ...] = ()
    """What was moved aside because it could not be read, and is still on the disk."""


class Storage(Protocol):
    """Built from the home folder; building neither reads nor writes."""

    @property
    def catalog(self) -> Catalog: ...

    @property
    def chunks(self) -> ChunkStore: ...

    @property
    def archive(self) -> Archive: ...

    def initialise(self) -> None:
        """Create what is missing and bring older homes up to date. Needs write access.

        Raises:
            HomeNewer: a newer OpenMind wrote this home.
            StoreError: it cannot be created or migrated; what was there is as it was.
        """
        ...

    def is_ours(self) -> bool:
        """Whether OpenMind, of whatever version, made the catalog in this home. Reads only; False when there is none.

        Raises:
            StoreError: there is one and it cannot be read.
        """
        ...

    def examine(self) -> StorageHealth:
        """Look for damage; takes as long as reading the whole catalog."""
        ...

    def index_lock(self) -> AbstractContextManager[None]:
        """Hold the right to write passages; given back when the process ends, however it ends.

        Raises:
            IndexingBusy: another process has it; the message says which, and whether its job is paused.
        """
        ...

    def size_bytes(self) -> int:
        """How many bytes it takes on this machine's disk; 0 for one that lies elsewhere."""
        ...

    def close(self) -> None:
        """Give back connections. Safe to call twice; sessions are refused afterwards with `MemoryClosed`."""
        ...
