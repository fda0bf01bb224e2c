"""One table: what is done to all of it, and how it is opened."""

import logging
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar, cast

from attrs import frozen
from openmind.domain.chunk_rows import ChunkRows, portions
from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import StoreDamaged, StoreError
from openmind.domain.ids import FileId, Generation
from openmind.ports.chunk_store import TableChanges

from openmind_stores.lance.conditions import of_generations
from openmind_stores.lance.durability import durable
from openmind_stores.lance.engine import Caches, Dataset, columns_of_file, spare_memory
from openmind_stores.lance.errors import REPAIR, reading, writing
from openmind_stores.lance.schema import COLUMNS, OF_A_ROW, to_rows
from openmind_stores.lance.upkeep import Upkeep, unindexed_words

logger = logging.getLogger(__name__)

GENERATIONS_AT_ONCE = 5_000
"""Numbers in one condition: its text is parsed each time."""
ROWS_AT_ONCE = 2_000

ROWS = ("data/", "_deletions/", "_versions/")
INDEXES = "_indices/"

T = TypeVar("T")


@frozen
class Table:
    """The table in `path`; every call works on its newest version."""

    name: str
    path: Path
    caches: Caches
    upkeep: Upkeep

    def create(self, *, dimension: int) -> None:
        if is_leftover(self.path):
            shutil.rmtree(self.path)
        if os.path.lexists(self.path):
            found = self.open().dimension
            if found != dimension:
                raise StoreDamaged(
                    f"The passages (table {self.name}) have vectors of {found} components instead of {dimension}.",
                    hint=REPAIR,
                )
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise StoreDamaged(
                f"{self.path.parent} is not a folder",
                hint="Move it away and run `openmind index`: it makes the passages again from the kept text.",
            ) from error
        with writing(self.name), durable(self.path.parent):
            self.upkeep.prepare(Dataset.create(self.path, dimension=dimension))

    def open(self) -> Dataset:
        """Open the newest version.

        Raises:
            StoreDamaged: it is not there, cannot be read, or is not ours.
        """
        if not self.path.is_dir():
            raise StoreDamaged(f"The passages (table {self.name}) are not there.", hint=REPAIR)
        with reading(self.name):
            data = Dataset.open(self.path, self.caches)
            missing = COLUMNS.keys() - data.columns
        if missing:
            raise StoreDamaged(f"The passages (table {self.name}) lack {', '.join(sorted(missing))}.", hint=REPAIR)
        return data

    def append(self, rows: Collection[ChunkRow]) -> None:
        data = self.open()
        spare_memory()
        files = self._in_columns(rows, data.dimension).files
        with writing(self.name, self.path.parent), durable(self.path):
            data.append(portions(files, ROWS_AT_ONCE))

    def _in_columns(self, rows: Collection[ChunkRow], dimension: int) -> ChunkRows:
        try:
            return ChunkRows.of(rows, dimension)
        except TypeError as error:
            raise StoreError(
                f"A vector does not fit into the table {self.name}: {error}.",
                hint="Run `openmind index` again; if it comes back, this is a bug.",
            ) from error

    def delete(self, generations: Iterable[Generation]) -> None:
        data = self.open()
        with writing(self.name, self.path.parent), durable(self.path):
            for some in in_portions(sorted(set(generations)), GENERATIONS_AT_ONCE):
                data.delete(of_generations(some))

    def fold(self) -> None:
        self._tend(self.upkeep.fold)

    def merge(self) -> None:
        self._tend(self.upkeep.merge)

    def purge(self) -> None:
        self._tend(self.upkeep.purge)

    def clean(self, *, older_than_s: float) -> None:
        data = self.open()
        with writing(self.name):
            data.clean(older_than_s=older_than_s)

    def mend(self, changes: TableChanges, *, thoroughly: bool) -> bool:
        damaged = [name for name in changes.changed if name.startswith(ROWS)]
        if damaged:
            raise StoreDamaged(f"The passages (table {self.name}) were changed: {damaged[0]}", hint=REPAIR)
        data = self.open()
        if thoroughly:
            with reading(self.name):
                data.read_through()
        broken = self.upkeep.broken(data, self._damaged_indexes(data, changes), every=thoroughly)
        if broken:
            self._tend(lambda data: self.upkeep.renew(data, broken))
        return bool(broken)

    def _damaged_indexes(self, data: Dataset, changes: TableChanges) -> frozenset[str]:
        """Name the segments of indexes, each a folder, that are not whole any more."""
        touched = {name.split("/")[1] for name in (*changes.lost, *changes.changed) if name.startswith(INDEXES)}
        return frozenset(
            each for each in data.index_segments() if each in touched or not (self.path / INDEXES / each).is_dir()
        )

    def counts(self) -> Iterator[tuple[Generation, FileId, int]]:
        data = self.open()
        with reading(self.name):
            found = data.pairs("generation", "file_id")
        return cast("Iterator[tuple[Generation, FileId, int]]", found)

    def state(self) -> tuple[int, int]:
        """Count rows, and those outside the text index."""
        data = self.open()
        with reading(self.name):
            return data.count(), unindexed_words(data)

    def read(self, generations: Collection[Generation]) -> Iterator[ChunkRow]:
        data = self.open()
        with reading(self.name):
            for some in in_portions(sorted(set(generations)), GENERATIONS_AT_ONCE):
                row_ids, columns = data.row_ids(of_generations(some), ("generation", "chunk_index"))
                places = zip(columns["generation"], columns["chunk_index"], row_ids, strict=True)
                ordered = [row_id for *_, row_id in sorted(cast("Iterable[tuple[int, int, int]]", places))]
                for portion in in_portions(ordered, ROWS_AT_ONCE):
                    yield from to_rows(data.take(portion, OF_A_ROW))

    def salvage(self, generations: Collection[Generation], *, without: Collection[str]) -> Iterator[ChunkRow]:
        """Read each data file by itself, but those named: none of them needs a version to be understood."""
        wanted = set(generations)
        for file in sorted((self.path / ROWS[0]).glob("*.lance")):
            if f"{ROWS[0]}{file.name}" in without:
                continue
            try:
                with reading(self.name):
                    for columns in columns_of_file(file, OF_A_ROW):
                        yield from (row for row in to_rows(columns) if row.generation in wanted)
            except StoreError as error:
                logger.warning("no more rows of %s can be read: %s", file.name, error)

    def _tend(self, tend: Callable[[Dataset], None]) -> None:
        data = self.open()
        spare_memory()
        with writing(self.name, self.path.parent), durable(self.path):
            tend(data)
        spare_memory()


def is_leftover(path: Path) -> bool:
    """Tell whether making a table was begun here and got nowhere: there is neither a version nor a row."""
    return path.is_dir() and not any(path.glob("_versions/*.manifest")) and not any(path.glob("data/*"))


def in_portions(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
