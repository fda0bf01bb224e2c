"""What a chunk store promises about writing, folding, deleting and cleaning."""

import struct

import pytest

from openmind.domain.chunk_rows import ChunkRows, portions
from openmind.domain.errors import StoreError
from openmind.domain.ids import FileId, Generation
from openmind.ports.chunk_store import (
    Candidates,
    ChunkStore,
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


class WritingPromises:
    """Writing."""

    def test_rows_come_back_as_they_were_written(self, store: ChunkStore) -> None:
        odd = row(2**40, 7, "o'neill 数据 naïve", path='/tmp/it\'s "a" \\ b%_\n.txt', vector=unit(1, 2, 3))
        plain = row(1, 0, "alpha")
        store.add(TABLE, [odd, plain])

        with store.open(TABLE) as view:
            passages = view.passages([odd.key, plain.key])
        assert (passages[odd.key].text, passages[odd.key].words) == (odd.text, odd.words)
        assert passages[plain.key].metadata == plain.metadata
        assert list(store.read_generations(TABLE, [odd.generation, plain.generation])) == [plain, odd]

    def test_rows_that_come_in_columns_are_written_as_all_others(self, store: ChunkStore) -> None:
        written = [
            *(row(1, at, f"alpha 数据 {at}", vector=unit(1, at, 0) if at % 2 else None) for at in range(5)),
            row(2, 7, "", path="/tmp/b", source="src_b", modified_at=-0.25),
            row(2, 9, "naïve", path="/tmp/b", source="src_b", modified_at=-0.25, vector=unit(0, 1, 0)),
        ]
        columns = ChunkRows.of(written, DIMENSION)

        for portion in portions(columns.files, 3):
            store.add(TABLE, portion)

        assert list(columns) == written
        assert list(store.read_generations(TABLE, [Generation(1), Generation(2)])) == written
        assert keys(ask(store, "naïve").words) == [(2, 9)]

    def test_vectors_come_back_within_half_precision(self, store: ChunkStore) -> None:
        written = struct.pack("<3f", 0.123_456_78, -0.6, 0.790_438_1)
        store.add(TABLE, [row(1, 0, "alpha", vector=written)])

        [read] = store.read_generations(TABLE, [Generation(1)])

        assert read.vector is not None
        assert struct.unpack("<3f", read.vector) == pytest.approx(struct.unpack("<3f", written), rel=2**-11)

    def test_odd_characters_are_kept_and_half_ones_become_question_marks(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "nul \x00 bell \x07 \U0010ffff \u202e"), row(2, 0, "half \ud800 character")])

        with store.open(TABLE) as view:
            assert view.file_rows(Generation(1), FileId("file_1"))[0].words == "nul \x00 bell \x07 \U0010ffff \u202e"
            assert view.file_rows(Generation(2), FileId("file_2"))[0].words == "half ? character"

    def test_rows_are_found_as_soon_as_they_are_added(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha", vector=unit(1, 0, 0))])

        found = ask(store, "alpha", vector=unit(1, 0, 0))

        assert keys(found.words) == [(1, 0)]
        assert keys(found.vectors) == [(1, 0)]

    def test_folding_and_merging_change_no_answer(self, store: ChunkStore) -> None:
        for generation in range(12):
            words = "alpha beta" if generation % 2 else "alpha"
            store.add(TABLE, [row(generation, 0, words, vector=unit(1, generation, 0))])
            store.fold(TABLE)
        before = ask(store, "beta", vector=unit(0, 1, 0))

        store.merge(TABLE)
        store.merge(TABLE)

        after = ask(store, "beta", vector=unit(0, 1, 0))
        assert sorted(keys(after.words)) == [(generation, 0) for generation in range(1, 12, 2)]
        assert keys(after.words) == keys(before.words)
        assert keys(after.vectors) == keys(before.vectors)

    def test_adding_no_rows_does_nothing(self, store: ChunkStore) -> None:
        store.add(TABLE, [])

        assert counted(store) == {}

    def test_a_vector_of_another_length_is_refused_and_no_row_is_added(self, store: ChunkStore) -> None:
        with pytest.raises(StoreError):
            store.add(TABLE, [row(1, 0, "alpha", vector=unit(1, 0, 0)), row(1, 1, "beta", vector=unit(1, 0))])

        with pytest.raises(StoreError):
            store.add(TABLE, ChunkRows.of([row(1, 0, "alpha", vector=unit(1, 0))], 2))

        assert counted(store) == {}

    def test_deleting_removes_whole_generations_and_nothing_else(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha"), row(1, 1, "alpha"), row(2, 0, "alpha"), row(3, 0, "alpha")])

        store.delete(TABLE, [Generation(1), Generation(3)])
        store.delete(TABLE, [Generation(1), Generation(99)])
        store.delete(TABLE, [])

        assert counted(store) == {(2, "file_2"): 1}
        assert keys(ask(store, "alpha").words) == [(2, 0)]

    def test_deleting_everything_leaves_a_table_that_works(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha", vector=unit(1, 0, 0))])
        store.fold(TABLE)
        store.delete(TABLE, [Generation(1)])
        store.fold(TABLE)
        store.merge(TABLE)
        assert ask(store, "alpha", vector=unit(1, 0, 0)) == Candidates()

        store.add(TABLE, [row(2, 0, "alpha", vector=unit(1, 0, 0))])
        store.fold(TABLE)

        assert keys(ask(store, "alpha").words) == [(2, 0)]

    def test_cleaning_keeps_every_row_of_the_newest_version(self, store: ChunkStore) -> None:
        for generation in (1, 2, 3):
            store.add(TABLE, [row(generation, 0, "alpha")])
            store.fold(TABLE)
        store.delete(TABLE, [Generation(2)])

        store.clean(TABLE, older_than_s=0)

        assert counted(store) == {(1, "file_1"): 1, (3, "file_3"): 1}
        assert sorted(keys(ask(store, "alpha").words)) == [(1, 0), (3, 0)]

    def test_purging_keeps_every_row_that_was_not_deleted(self, store: ChunkStore) -> None:
        for generation in (1, 2, 3):
            store.add(TABLE, [row(generation, 0, "alpha")])
            store.fold(TABLE)
        store.delete(TABLE, [Generation(2)])

        store.purge(TABLE)
        store.purge(TABLE)

        assert counted(store) == {(1, "file_1"): 1, (3, "file_3"): 1}
        assert sorted(keys(ask(store, "alpha").words)) == [(1, 0), (3, 0)]
