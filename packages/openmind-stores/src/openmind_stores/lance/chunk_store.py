"""The chunk store over LanceDB tables."""

import os
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import StoreDamaged
from openmind.domain.ids import FileId, Generation
from openmind.ports.chunk_store import ChunkView, StoreHealth, TableChanges

from openmind_stores.lance import seals
from openmind_stores.lance.errors import writing
from openmind_stores.lance.policy import UpkeepPolicy

if TYPE_CHECKING:
    from openmind_stores.lance.engine import Caches
    from openmind_stores.lance.reading_memory import ReadingMemory
    from openmind_stores.lance.table import Table

SUFFIX = ".lance"
DEFAULT_POLICY = UpkeepPolicy()


class LanceChunkStore:
    """Tables as `<folder>/<table>.lance`, where `lancedb.connect(folder)` finds them.

    Thread-safe. Making one, naming and measuring its tables loads neither Lance nor Arrow; the first call that
    touches rows does.
    """

    def __init__(self, folder: Path, *, policy: UpkeepPolicy = DEFAULT_POLICY) -> None:
        self.folder = folder
        self.policy = policy
        self._lock = Lock()
        self._reading: ReadingMemory | None = None

    def create(self, table: str, *, dimension: int) -> None:
        """Make an empty table."""
        self._table(table).create(dimension=dimension)

    def drop(self, table: str) -> None:
        """Remove a table with its files."""
        self._forget()
        with writing(table):
            remove(self._path(table))

    def quarantine(self, table: str) -> None:
        """Move a table aside as `<table>.lance.broken-N`."""
        self._forget()
        path = self._path(table)
        with writing(table):
            if os.path.lexists(path):
                path.rename(first_free(path))

    def discard_quarantined(self) -> None:
        """Delete every `<table>.lance.broken-N`."""
        for aside in self.folder.glob(f"*{SUFFIX}.broken-*"):
            with writing(aside.name):
                remove(aside)

    def add(self, table: str, rows: Collection[ChunkRow]) -> None:
        """Append rows in one write."""
        if rows:
            self._table(table).append(rows)

    def fold(self, table: str) -> None:
        """Take new rows into the indexes."""
        self._table(table).fold()

    def merge(self, table: str) -> None:
        """Merge index segments and small files."""
        self._table(table).merge()

    def delete(self, table: str, generations: Iterable[Generation]) -> None:
        """Remove all rows of generations."""
        unwanted = list(generations)
        if unwanted:
            self._table(table).delete(unwanted)

    def purge(self, table: str) -> None:
        """Write the files anew that still hold deleted rows."""
        self._table(table).purge()

    def clean(self, table: str, *, older_than_s: float) -> None:
        """Give back the space of old versions."""
        self._table(table).clean(older_than_s=older_than_s)

    def counts(self, table: str) -> Iterator[tuple[Generation, FileId, int]]:
        """Count the rows of each generation and file."""
        return self._table(table).counts()

    def read_generations(self, table: str, generations: Collection[Generation]) -> Iterator[ChunkRow]:
        """Stream whole rows in order."""
        return self._table(table).read(generations) if generations else iter(())

    @contextmanager
    def open(self, table: str) -> Iterator[ChunkView]:
        """Open the newest version for reading."""
        from openmind_stores.lance.view import LanceChunkView

        memory = self._reading_memory()
        yield LanceChunkView(self._table_with(table, memory.caches()), memory)

    def seal(self, table: str, *, former: str = "") -> str:
        """Note the files of a table; loads nothing."""
        return seals.seal(self._path(table), former=former)

    def compare(self, table: str, seal: str, *, closely: bool = False) -> TableChanges:
        """Say what became of a table's files; loads nothing."""
        return seals.compare(self._path(table), seal, closely=closely)

    def mend(self, table: str, changes: TableChanges, *, thoroughly: bool = False) -> bool:
        """Build damaged indexes anew."""
        return self._table(table).mend(changes, thoroughly=thoroughly)

    def salvage(self, table: str, generations: Collection[Generation], *, seal: str) -> Iterator[ChunkRow]:
        """Stream the rows that can still be read."""
        damaged = seals.compare(self._path(table), seal, closely=True).changed
        return self._table(table).salvage(generations, without=frozenset(damaged))

    def health(self) -> StoreHealth:
        """Measure what is there; loads Lance to count rows."""
        tables = self.tables()
        states = {}
        for name in tables:
            try:
                states[name] = self._table(name).state()
            except StoreDamaged:
                continue
        return StoreHealth(
            tables=tables,
            size_bytes=self.size_bytes(),
            rows={name: rows for name, (rows, _) in states.items()},
            unindexed_rows={name: unindexed for name, (_, unindexed) in states.items()},
        )

    def tables(self) -> tuple[str, ...]:
        """Name the tables that are there, readable or not, in order."""
        return tuple(sorted(path.name.removesuffix(SUFFIX) for path in self.folder.glob(f"*{SUFFIX}")))

    def size_bytes(self) -> int:
        """Measure what is on disk, old versions and quarantined tables included."""
        return sum(size_of(path) for path in self.folder.rglob("*"))

    def _path(self, table: str) -> Path:
        return self.folder / f"{table}{SUFFIX}"

    def _table(self, table: str) -> "Table":
        """Address a table for what is rare: it shall leave nothing behind in memory."""
        from openmind_stores.lance.engine import Caches

        return self._table_with(table, Caches())

    def _table_with(self, table: str, caches: "Caches") -> "Table":
        from openmind_stores.lance.table import Table
        from openmind_stores.lance.upkeep import Upkeep

        return Table(table, self._path(table), caches, Upkeep(self.policy))

    def _reading_memory(self) -> "ReadingMemory":
        with self._lock:
            if self._reading is None:
                from openmind_stores.lance.reading_memory import ReadingMemory

                self._reading = ReadingMemory()
            return self._reading

    def _forget(self) -> None:
        """Let go of what is kept in memory: the next table of the same name is another one."""
        with self._lock:
            self._reading = None


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def first_free(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.broken-{number}")).exists():
        number += 1
    return aside


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0
