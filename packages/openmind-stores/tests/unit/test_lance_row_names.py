from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import define, field, frozen
from openmind.domain.ids import Generation
from openmind.testing.contracts.chunk_store_promises.samples import TABLE, row
from openmind_stores.lance.chunk_store import LanceChunkStore
from openmind_stores.lance.engine import Caches, Dataset
from openmind_stores.lance.row_names import PER_LOOKUP, RowNames, looked_up
from openmind_stores.lance.schema import Columns

ROWS = 3 * PER_LOOKUP
"""Looking up three of so many rows takes as long as reading the names of all."""


@frozen
class Watched(Dataset):
    """A dataset that says which rows were looked up one by one."""

    taken: list[int] = field(factory=list)

    def take(self, row_ids: Sequence[int], columns: Sequence[str]) -> Columns:
        self.taken.extend(row_ids)
        return super().take(row_ids, columns)


@define
class Rows:
    """A table whose newest version is named."""

    folder: Path

    @property
    def store(self) -> LanceChunkStore:
        return LanceChunkStore(self.folder)

    def newest(self) -> Watched:
        return Watched(Dataset.open(self.folder / f"{TABLE}.lance", Caches()).native)

    def ids(self) -> list[int]:
        return self.newest().row_ids("generation >= 0", ())[0]


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    table = Rows(tmp_path)
    table.store.create(TABLE, dimension=4)
    for start in range(0, ROWS, PER_LOOKUP):
        table.store.add(TABLE, [row(n // 5, n % 5, f"w{n}") for n in range(start, start + PER_LOOKUP)])
    return table


def test_a_process_that_searches_once_looks_up_its_rows(rows: Rows) -> None:
    data, some = rows.newest(), rows.ids()[:2]

    assert RowNames().of(data, some) == looked_up(data, some)
    assert data.taken[:2] == some


def test_once_looking_up_takes_longer_the_names_of_all_rows_are_read(rows: Rows) -> None:
    names, data, ids = RowNames(), rows.newest(), rows.ids()
    names.of(data, ids[:3])
    data.taken.clear()

    found = names.of(data, ids[::-1])

    assert data.taken == []
    assert found == looked_up(data, ids)


def test_what_is_known_of_a_file_stays_when_others_come_and_rows_go(rows: Rows) -> None:
    names = RowNames()
    names.of(rows.newest(), rows.ids())
    rows.store.delete(TABLE, [Generation(n) for n in range(10)])
    rows.store.add(TABLE, [row(900, 0, "late")])
    data, ids = rows.newest(), rows.ids()

    found = names.of(data, ids)

    assert data.taken == ids[-1:]
    assert found == looked_up(data, ids)


def test_files_that_were_written_anew_are_read_anew(rows: Rows) -> None:
    names = RowNames()
    names.of(rows.newest(), rows.ids())
    rows.store.delete(TABLE, [Generation(n) for n in range(0, 60, 2)])
    rows.store.purge(TABLE)
    data, ids = rows.newest(), rows.ids()

    assert names.of(data, ids) == looked_up(data, ids)
    assert len(ids) == ROWS // 2


def test_rows_that_were_deleted_before_their_file_was_read_are_looked_up_for_an_older_version(rows: Rows) -> None:
    names, older, ids = RowNames(), rows.newest(), rows.ids()
    rows.store.delete(TABLE, [Generation(0)])
    names.of(rows.newest(), rows.ids())

    assert names.of(older, ids) == looked_up(older, ids)
    assert older.taken[:5] == ids[:5]


def test_a_table_of_the_same_name_made_anew_is_another_one(rows: Rows) -> None:
    names = RowNames()
    names.of(rows.newest(), rows.ids())
    rows.store.drop(TABLE)
    rows.store.create(TABLE, dimension=4)
    rows.store.add(TABLE, [row(n, 0, f"other{n}") for n in range(PER_LOOKUP)])
    data, ids = rows.newest(), rows.ids()

    assert names.of(data, ids) == looked_up(data, ids)


def test_the_names_of_a_table_too_large_are_not_kept(rows: Rows) -> None:
    names, data, ids = RowNames(most_rows=ROWS - 1), rows.newest(), rows.ids()
    names.of(data, ids)

    assert names.of(data, ids[:2]) == looked_up(data, ids[:2])
    assert data.taken[:ROWS] == ids
