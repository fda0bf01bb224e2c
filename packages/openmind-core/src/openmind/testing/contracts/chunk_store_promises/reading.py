"""What a chunk store promises about reading rows and counting them."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from openmind.domain.chunks import ChunkKey
from openmind.domain.ids import FileId, Generation
from openmind.ports.chunk_store import (
    CandidateQuery,
    ChunkFilter,
    ChunkStore,
    WordsQuery,
)
from openmind.testing.contracts.chunk_store_promises.samples import (
    EVERYTHING,
    TABLE,
    ask,
    keys,
    row,
    unit,
)


class ReadingPromises:
    """Reading."""

    def test_a_view_does_not_change_while_rows_are_written(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha"), row(1, 1, "alpha")])

        with store.open(TABLE) as view:
            query = CandidateQuery(words=WordsQuery(terms=("alpha",)), filter=ChunkFilter(visible=EVERYTHING))
            before = view.candidates(query)
            store.add(TABLE, [row(2, 0, "alpha")])
            store.delete(TABLE, [Generation(1)])
            store.fold(TABLE)
            after = view.candidates(query)

            assert keys(before.words) == keys(after.words) == [(1, 0), (1, 1)]
            assert len(view.passages([candidate.key for candidate in after.words])) == 2
        assert keys(ask(store, "alpha").words) == [(2, 0)]

    def test_passages_that_are_not_there_are_left_out(self, store: ChunkStore) -> None:
        there = row(1, 1, "alpha", vector=unit(1, 0, 0))
        store.add(TABLE, [row(1, 0, "alpha"), there, row(2, 1, "alpha")])
        lost = [
            ChunkKey(generation=Generation(1), file_id=FileId("file_1"), index=9),
            ChunkKey(generation=Generation(1), file_id=FileId("file_2"), index=1),
            ChunkKey(generation=Generation(9), file_id=FileId("file_1"), index=0),
        ]

        with store.open(TABLE) as view:
            assert set(view.passages([*lost, there.key])) == {there.key}
            assert view.passages([]) == {}

    def test_each_passage_comes_with_its_own_text_in_whatever_order_they_are_asked_for(self, store: ChunkStore) -> None:
        rows = [row(n, index, f"w{n}{index}") for n in (1, 2, 3) for index in range(3)]
        store.add(TABLE, rows[4:])
        store.add(TABLE, rows[:4])
        asked = [each.key for each in rows[::-2]]

        with store.open(TABLE) as view:
            assert {key: each.words for key, each in view.passages(asked).items()} == {
                each.key: each.words for each in rows[::-2]
            }

    def test_the_rows_of_a_file_come_in_order_and_in_pages(self, store: ChunkStore) -> None:
        rows = [row(1, index, f"word{index}", vector=unit(1, 0, 0)) for index in range(10)]
        store.add(TABLE, [*rows[5:], row(2, 0, "other")])
        store.add(TABLE, rows[:5])

        with store.open(TABLE) as view:
            every = view.file_rows(Generation(1), FileId("file_1"))
            page = view.file_rows(Generation(1), FileId("file_1"), start=4, limit=3)

            assert [each.index for each in every] == list(range(10))
            assert all(each.vector is None for each in every)
            assert [each.index for each in page] == [4, 5, 6]
            assert view.file_rows(Generation(1), FileId("file_2")) == []
            assert view.file_rows(Generation(3), FileId("file_1")) == []

    def test_document_share_estimates_how_common_each_term_is(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(n, 0, f"all c++ {'half' if n % 2 else 'rest'} notall") for n in range(20)])
        store.fold(TABLE)

        with store.open(TABLE) as view:
            shares = view.document_share(["half", "all", "c++", "zebra", "not"])

            assert shares == pytest.approx((0.5, 1.0, 1.0, 0.0, 0.0), abs=0.05)
            assert view.document_share([]) == ()

    def test_document_share_of_an_empty_table_is_nothing(self, store: ChunkStore) -> None:
        with store.open(TABLE) as view:
            assert view.document_share(["alpha"]) == (0.0,)

    def test_generations_are_read_in_order_with_their_vectors(self, store: ChunkStore) -> None:
        rows = [row(n, index, f"w{n}{index}", vector=unit(1, index, n)) for n in (1, 2, 3) for index in range(4)]
        store.add(TABLE, rows[::-1])

        assert list(store.read_generations(TABLE, [Generation(3), Generation(1), Generation(8)])) == [
            *rows[:4],
            *rows[8:],
        ]
        assert list(store.read_generations(TABLE, [])) == []

    def test_counts_ascend_by_generation_and_file(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(2, 0, "d"), row(1, 2, "c", file="file_x")])
        store.add(TABLE, [row(1, 1, "b"), row(1, 0, "a")])
        store.fold(TABLE)

        assert list(store.counts(TABLE)) == [(1, "file_1", 2), (1, "file_x", 1), (2, "file_2", 1)]

    def test_health_counts_rows_and_those_outside_the_index(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha"), row(1, 1, "beta")])
        store.fold(TABLE)
        store.add(TABLE, [row(2, 0, "alpha")])

        health = store.health()

        assert health.tables == (TABLE,)
        assert health.rows == {TABLE: 3}
        assert health.unindexed_rows == {TABLE: 1}
        assert health.size_bytes > 0

    def test_many_threads_may_read(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(n, 0, f"alpha w{n}", vector=unit(1, n, 0)) for n in range(50)])
        store.fold(TABLE)

        with ThreadPoolExecutor(8) as pool:
            answers = list(
                pool.map(lambda n: keys(ask(store, f"w{n}", vector=unit(1, n, 0), limit=1).words), range(50))
            )

        assert answers == [[(n, 0)] for n in range(50)]
