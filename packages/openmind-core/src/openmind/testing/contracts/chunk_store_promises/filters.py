"""What a chunk store promises about filters."""

from openmind.domain.ids import Generation, SourceId
from openmind.domain.index import Visibility
from openmind.ports.chunk_store import (
    ChunkFilter,
    ChunkStore,
)
from openmind.testing.contracts.chunk_store_promises.samples import (
    EVERYTHING,
    TABLE,
    ask,
    keys,
    row,
    unit,
)


class FilterPromises:
    """Filters."""

    def filtered(self, store: ChunkStore, where: ChunkFilter) -> list[int]:
        """Generations that both legs let through."""
        found = ask(store, "alpha", vector=unit(1, 0, 0), where=where)
        by_words = sorted(candidate.key.generation for candidate in found.words)
        assert by_words == sorted(candidate.key.generation for candidate in found.vectors)
        return [int(generation) for generation in by_words]

    def a_varied_table(self, store: ChunkStore) -> None:
        store.add(
            TABLE,
            [
                row(1, 0, "alpha", vector=unit(1, 0, 0), source="src_a", path="/docs/a/one.txt", modified_at=10.0),
                row(2, 0, "alpha", vector=unit(1, 1, 0), source="src_b", path="/docs/a'%/two.md", modified_at=20.5),
                row(3, 0, "alpha", vector=unit(1, 2, 0), source="src'c", path="/docs/ab_/three.txt", modified_at=30.0),
            ],
        )
        store.fold(TABLE)
        store.add(
            TABLE,
            [row(4, 0, "alpha", vector=unit(1, 3, 0), source="src_a", path="/docs/abc/four.TXT", modified_at=40.0)],
        )

    def test_only_generations_up_to_the_newest_are_seen(self, store: ChunkStore) -> None:
        self.a_varied_table(store)

        assert self.filtered(store, ChunkFilter(visible=Visibility(newest=Generation(2)))) == [1, 2]
        assert self.filtered(store, ChunkFilter(visible=Visibility(newest=Generation(0)))) == []

    def test_dead_ranges_are_not_seen(self, store: ChunkStore) -> None:
        self.a_varied_table(store)
        dead = ((Generation(0), Generation(0)), (Generation(2), Generation(3)), (Generation(9), Generation(9)))

        assert self.filtered(store, ChunkFilter(visible=Visibility(newest=Generation(9), dead=dead))) == [1, 4]

    def test_filters_narrow_both_legs(self, store: ChunkStore) -> None:
        self.a_varied_table(store)
        expected: list[tuple[ChunkFilter, list[int]]] = [
            (ChunkFilter(visible=EVERYTHING), [1, 2, 3, 4]),
            (ChunkFilter(visible=EVERYTHING, source_ids=()), []),
            (ChunkFilter(visible=EVERYTHING, source_ids=(SourceId("src_a"), SourceId("src'c"))), [1, 3, 4]),
            (ChunkFilter(visible=EVERYTHING, path_prefix="/docs/a/"), [1]),
            (ChunkFilter(visible=EVERYTHING, path_prefix="/docs/a'%/"), [2]),
            (ChunkFilter(visible=EVERYTHING, path_prefix="/docs/ab_/"), [3]),
            (ChunkFilter(visible=EVERYTHING, path_prefix="/docs/%"), []),
            (ChunkFilter(visible=EVERYTHING, extensions=(".md", ".txt")), [1, 2, 3]),
            (ChunkFilter(visible=EVERYTHING, modified_after=20.5), [2, 3, 4]),
            (ChunkFilter(visible=EVERYTHING, without_files=(row(2, 0, "").file_id,)), [1, 3, 4]),
            (ChunkFilter(visible=EVERYTHING, keys=()), []),
            (ChunkFilter(visible=EVERYTHING, keys=(row(2, 0, "").key, row(3, 0, "").key)), [2, 3]),
            (ChunkFilter(visible=EVERYTHING, modified_before=20.5), [1, 2]),
            (
                ChunkFilter(
                    visible=Visibility(newest=Generation(9), dead=((Generation(1), Generation(1)),)),
                    source_ids=(SourceId("src_a"), SourceId("src_b")),
                    path_prefix="/docs/a",
                    extensions=(".TXT",),
                    modified_after=0.0,
                    modified_before=1e12,
                ),
                [4],
            ),
        ]

        assert [self.filtered(store, where) for where, _ in expected] == [generations for _, generations in expected]

    def test_filters_hold_before_anything_is_ranked(self, store: ChunkStore) -> None:
        loud = [row(n, 0, "alpha alpha alpha", vector=unit(1, 0, 0), source="src_b") for n in range(2, 60)]
        store.add(TABLE, [row(1, 0, "alpha beta gamma delta", vector=unit(1, 5, 0)), *loud])
        store.fold(TABLE)
        where = ChunkFilter(visible=EVERYTHING, source_ids=(SourceId("src_a"),))

        found = ask(store, "alpha", vector=unit(1, 0, 0), where=where, limit=1)

        assert keys(found.words) == keys(found.vectors) == [(1, 0)]
