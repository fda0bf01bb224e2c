"""Which passage each row of a table is."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from threading import Lock
from typing import cast

import numpy as np
from attrs import define, field
from openmind.domain.chunks import ChunkKey
from openmind.domain.ids import FileId, Generation

from openmind_stores.lance.columns import FileColumns
from openmind_stores.lance.engine import Dataset, file_of
from openmind_stores.lance.schema import KEY, to_keys

Name = tuple[ChunkKey, int]
"""Key and passage."""

MOST_ROWS = 2_000_000
"""Names of a row take 36 bytes, and 100 for each file of a person; in larger tables each row is looked up."""
PER_LOOKUP = 100
"""As many rows can be read by the column in the time that it takes to look up one."""


@define
class RowNames:
    """The names of the rows of one table in any of its versions, since a data file never changes. Thread-safe.

    Looking up the rows of each search takes a tenth of it, reading the names of 100,000 rows about as long as looking
    up a thousand. So rows are looked up until that has taken as long as reading all would; then these are read. A
    process that searches once reads little, and none takes more than twice the time of the better way.
    """

    most_rows: int = MOST_ROWS
    _files: Mapping[str, FileColumns] = field(factory=dict, init=False)
    """By the name of the data file."""
    _looked_up: int = field(default=0, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def of(self, data: Dataset, row_ids: Collection[int]) -> dict[int, Name]:
        """Name rows that a search of this version found."""
        names = data.files()
        files = self._read(data, names, row_ids)
        found: dict[int, Name] = {}
        for number, some in by_file(row_ids).items():
            if (columns := files.get(names.get(number, ""))) is not None:
                found.update(named(columns, some))
        missing = sorted(set(row_ids) - found.keys())
        if missing:
            found.update(looked_up(data, missing))
        return found

    def _read(self, data: Dataset, names: Mapping[int, str], row_ids: Collection[int]) -> Mapping[str, FileColumns]:
        """Say what is known by now; reads what is not when that is due."""
        with self._lock:
            new = {number: name for number, name in names.items() if name not in self._files}
            if new:
                self._looked_up += sum(file_of(row_id) in new for row_id in row_ids)
                if self._looked_up * PER_LOOKUP >= data.count() <= self.most_rows:
                    kept = {name: self._files[name] for name in names.values() if name in self._files}
                    self._files = kept | {name: read(data, number) for number, name in new.items()}
                    self._looked_up = 0
            return self._files


def read(data: Dataset, file: int) -> FileColumns:
    """Read the names of all rows in a data file."""
    return data.file_columns(file, numbers=("generation", "chunk_index", "passage"), text="file_id")


def named(columns: FileColumns, row_ids: Sequence[int]) -> Iterator[tuple[int, Name]]:
    """Name rows of a data file, but for those that had been deleted when it was read."""
    if not len(columns.row_ids):
        return
    wanted = np.array(row_ids, np.int64)
    at = np.minimum(np.searchsorted(columns.row_ids, wanted), len(columns.row_ids) - 1)
    at = at[columns.row_ids[at] == wanted]
    values = (each[at].tolist() for each in (columns.row_ids, *columns.numbers, columns.text))
    for row_id, generation, index, passage, file in zip(*values, strict=True):
        yield row_id, (ChunkKey(Generation(generation), FileId(columns.texts[file]), index), passage)


def looked_up(data: Dataset, row_ids: Sequence[int]) -> dict[int, Name]:
    columns = data.take(row_ids, (*KEY, "passage"))
    return dict(zip(row_ids, zip(to_keys(columns), cast("list[int]", columns["passage"]), strict=True), strict=True))


def by_file(row_ids: Collection[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row_id in row_ids:
        found.setdefault(file_of(row_id), []).append(row_id)
    return found
