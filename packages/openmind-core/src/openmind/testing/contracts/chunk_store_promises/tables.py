"""What a chunk store promises about its tables: making, damage, seals and mending."""

import pytest

from openmind.domain.errors import StoreDamaged, StoreError
from openmind.domain.ids import Generation
from openmind.ports.chunk_store import (
    Candidates,
    ChunkStore,
    TableChanges,
)
from openmind.testing.contracts.chunk_store_promises.samples import (
    DIMENSION,
    TABLE,
    ask,
    counted,
    keys,
    row,
    unit,
)


class TablePromises:
    """Tables."""

    def test_a_new_table_is_empty(self, store: ChunkStore) -> None:
        assert counted(store) == {}
        assert ask(store, "anything", vector=unit(1, 0, 0)) == Candidates()

    def test_making_a_table_again_changes_nothing(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha")])

        store.create(TABLE, dimension=DIMENSION)

        assert counted(store) == {(1, "file_1"): 1}

    def test_a_table_of_another_dimension_cannot_be_used(self, store: ChunkStore) -> None:
        with pytest.raises(StoreDamaged):
            store.create(TABLE, dimension=DIMENSION + 1)

    def test_tables_do_not_see_each_other(self, store: ChunkStore) -> None:
        store.create("chunks_2", dimension=2)
        store.add(TABLE, [row(1, 0, "alpha", vector=unit(1, 0, 0))])
        store.add("chunks_2", [row(2, 0, "alpha", vector=unit(1, 0))])

        assert keys(ask(store, "alpha", vector=unit(0, 1, 0)).words) == [(1, 0)]
        assert keys(ask(store, "alpha", vector=unit(0, 1), table="chunks_2").vectors) == [(2, 0)]
        assert store.health().tables == ("chunks", "chunks_2")

    def test_tables_are_named_as_long_as_they_are_there(self, store: ChunkStore) -> None:
        store.create("chunks_3", dimension=DIMENSION)

        assert store.tables() == (TABLE, "chunks_3")
        store.drop("chunks_3")
        store.quarantine(TABLE)
        assert store.tables() == ()

    def test_dropping_a_table_removes_its_rows_for_good(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha")])

        store.drop(TABLE)

        with pytest.raises(StoreDamaged):
            counted(store)
        store.create(TABLE, dimension=DIMENSION)
        assert counted(store) == {}
        assert ask(store, "alpha") == Candidates()

    def test_dropping_what_is_not_there_does_nothing(self, store: ChunkStore) -> None:
        store.drop("chunks_9")

    def test_after_quarantine_a_table_can_be_made_afresh(self, store: ChunkStore) -> None:
        for generation in (1, 2):
            store.add(TABLE, [row(generation, 0, "alpha")])
            store.quarantine(TABLE)
            store.create(TABLE, dimension=DIMENSION + generation)

        assert counted(store) == {}
        assert store.health().tables == (TABLE,)

    def test_quarantine_of_what_is_not_there_does_nothing(self, store: ChunkStore) -> None:
        store.quarantine("chunks_9")

    def test_what_was_put_aside_can_be_discarded(self, store: ChunkStore) -> None:
        store.discard_quarantined()
        store.add(TABLE, [row(1, 0, "alpha")])
        store.create("chunks_2", dimension=2)
        store.quarantine("chunks_2")
        store.quarantine(TABLE)
        store.create(TABLE, dimension=DIMENSION)
        size = store.health().size_bytes

        store.discard_quarantined()

        assert store.health().tables == (TABLE,)
        assert store.health().size_bytes <= size
        assert counted(store) == {}

    def test_rows_that_can_still_be_read_are_salvaged(self, store: ChunkStore) -> None:
        rows = [row(number, 0, "alpha", vector=unit(1, number, 0)) for number in (1, 2, 3)]
        store.add(TABLE, rows)
        sealed = store.seal(TABLE)

        assert list(store.salvage(TABLE, [Generation(1), Generation(3)], seal=sealed)) == [rows[0], rows[2]]
        assert list(store.salvage("chunks_9", [Generation(1)], seal="")) == []

    def test_a_seal_is_that_of_one_table_and_changes_with_it(self, store: ChunkStore) -> None:
        assert store.seal("chunks_9") == ""
        sealed = store.seal(TABLE)
        assert sealed != ""
        store.create("chunks_2", dimension=2)
        assert store.seal(TABLE) == store.seal(TABLE, former=sealed) == sealed
        assert not store.compare(TABLE, sealed)
        assert not store.compare(TABLE, sealed, closely=True)

        store.add(TABLE, [row(1, 0, "alpha")])
        assert store.compare(TABLE, sealed) == TableChanges(fresh=True)
        added = store.seal(TABLE, former=sealed)
        ask(store, "alpha")
        assert store.seal(TABLE) == added != sealed

        store.delete(TABLE, [Generation(1)])
        assert store.seal(TABLE) != added

    def test_a_table_that_was_never_sealed_is_fresh(self, store: ChunkStore) -> None:
        assert store.compare(TABLE, "") == TableChanges(fresh=True)
        assert store.compare("chunks_9", "") == TableChanges(fresh=True)

    def test_a_lost_table_is_damage(self, store: ChunkStore) -> None:
        sealed = store.seal(TABLE)

        store.drop(TABLE)

        changes = store.compare(TABLE, sealed)
        assert changes.damaged
        assert changes.lost != ()
        with pytest.raises(StoreDamaged):
            store.mend(TABLE, changes)

    def test_mending_what_is_whole_changes_no_answer(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha", vector=unit(1, 0, 0)), row(2, 0, "beta", vector=unit(0, 1, 0))])
        store.fold(TABLE)
        before = ask(store, "alpha", vector=unit(1, 1, 0))

        assert not store.mend(TABLE, TableChanges(fresh=True))
        store.mend(TABLE, TableChanges(), thoroughly=True)

        assert ask(store, "alpha", vector=unit(1, 1, 0)) == before

    def test_a_table_that_is_not_there_cannot_be_used(self, store: ChunkStore) -> None:
        with pytest.raises(StoreDamaged), store.open("chunks_9"):
            pass
        with pytest.raises(StoreDamaged):
            counted(store, "chunks_9")
        with pytest.raises(StoreDamaged):
            list(store.read_generations("chunks_9", [Generation(1)]))
        with pytest.raises(StoreError):
            store.add("chunks_9", [row(1, 0, "alpha")])
