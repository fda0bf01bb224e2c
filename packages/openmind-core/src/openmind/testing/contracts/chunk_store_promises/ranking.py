"""What a chunk store promises about its two legs: what they find, and in which order."""

import math

import pytest

from openmind.domain.chunks import passage_hash
from openmind.ports.chunk_store import (
    CandidateQuery,
    Candidates,
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

LITERAL_TERMS = (
    *("c++", "c#", ".net", "e-1042", "v1.0.21", "user@example.com", "snake_case_name", "0123456789abcdef" * 4),
    *("数据", "서울", "ﬁ", "😀", "not", "and", "a:b", "a*", "~b", '"', "'", "(", "[x]", "{", "\\", "%", "*", "^2", "!"),
)


class RankingPromises:
    """Words, vectors, and the order of both."""

    def test_any_term_may_match_and_more_terms_rank_higher(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha beta"), row(2, 0, "alpha beta gamma"), row(3, 0, "delta alpha")])

        found = ask(store, "beta", "gamma").words

        assert keys(found) == [(2, 0), (1, 0)]
        assert found[0].score > found[1].score > 0
        assert found[0].passage == passage_hash("alpha beta gamma")

    def test_a_rarer_term_counts_for_more(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "common rare")] + [row(n, 0, "common usual") for n in range(2, 12)])

        assert keys(ask(store, "common", "rare", limit=1).words) == [(1, 0)]

    def test_a_term_that_stands_twice_counts_twice(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha beta"), row(2, 0, "gamma beta"), row(3, 0, "delta")])
        store.fold(TABLE)

        [once] = ask(store, "alpha").words
        [twice] = ask(store, "alpha", "alpha").words

        assert twice.score == pytest.approx(2 * once.score, rel=1e-3)

    @pytest.mark.parametrize("term", LITERAL_TERMS)
    def test_a_term_is_taken_literally(self, store: ChunkStore, term: str) -> None:
        store.add(TABLE, [row(1, 0, f"some {term} text"), row(2, 0, "c e user example v1 snake 数 据 a b")])
        store.fold(TABLE)

        found = ask(store, term)

        assert keys(found.words) == [(1, 0)]
        assert found.words_error == ""

    def test_a_phrase_is_a_run_of_neighbours(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "to be or not to be"), row(2, 0, "not or be to to be"), row(3, 0, "to be")])
        store.fold(TABLE)

        assert keys(ask(store, "or", "not", phrases=(("or", "not", "to"),)).words) == [(1, 0)]

    def test_every_phrase_must_match_and_terms_only_add_to_the_score(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "red fox"), row(2, 0, "red fox old tree"), row(3, 0, "old tree red")])
        store.fold(TABLE)

        assert keys(ask(store, "tree", phrases=(("red", "fox"),)).words) == [(2, 0), (1, 0)]
        assert keys(ask(store, phrases=(("red", "fox"), ("old", "tree"))).words) == [(2, 0)]
        assert keys(ask(store, "fox", phrases=(("tree",),)).words) == [(2, 0), (3, 0)]

    def test_a_query_without_terms_finds_nothing_by_words(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha", vector=unit(1, 0, 0))])

        with store.open(TABLE) as view:
            found = view.candidates(CandidateQuery(words=WordsQuery(terms=()), filter=ChunkFilter(visible=EVERYTHING)))

        assert found == Candidates()

    def test_vectors_are_ranked_by_cosine(self, store: ChunkStore) -> None:
        store.add(
            TABLE,
            [
                row(1, 0, "a", vector=unit(1, 0, 0)),
                row(2, 0, "b", vector=unit(1, 1, 0)),
                row(3, 0, "c", vector=unit(-1, 0, 0)),
            ],
        )

        found = ask(store, vector=unit(1, 0, 0)).vectors

        assert keys(found) == [(1, 0), (2, 0), (3, 0)]
        assert [candidate.score for candidate in found] == pytest.approx([1.0, math.sqrt(0.5), -1.0], abs=1e-3)
        assert found[0].passage == passage_hash("a")

    def test_rows_without_a_vector_are_found_by_words_only(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha"), row(1, 1, "alpha", vector=unit(0, 1, 0))])
        store.fold(TABLE)

        found = ask(store, "alpha", vector=unit(1, 0, 0))

        assert sorted(keys(found.words)) == [(1, 0), (1, 1)]
        assert keys(found.vectors) == [(1, 1)]

    def test_the_background_is_the_mean_cosine(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(n, 0, "a", vector=unit(1, 0, 0) if n % 2 else unit(0, 1, 0)) for n in range(10)])
        store.add(TABLE, [row(10, 0, "a")])

        assert ask(store, vector=unit(1, 0, 0)).background == pytest.approx(0.5, abs=0.05)
        assert ask(store, "a").background == 0.0

    def test_a_query_of_another_dimension_fails_in_its_leg_only(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(1, 0, "alpha", vector=unit(1, 0, 0))])

        found = ask(store, "alpha", vector=unit(1, 0))

        assert keys(found.words) == [(1, 0)]
        assert found.words_error == ""
        assert found.vectors == ()
        assert found.vectors_error != ""

    def test_each_leg_gives_at_most_the_limit(self, store: ChunkStore) -> None:
        store.add(TABLE, [row(n, 0, "alpha", vector=unit(1, n, 0)) for n in range(30)])

        found = ask(store, "alpha", vector=unit(1, 0, 0), limit=4)

        assert len(found.words) == 4
        assert keys(found.vectors) == [(0, 0), (1, 0), (2, 0), (3, 0)]

    def test_equal_scores_are_ordered_by_key(self, store: ChunkStore) -> None:
        rows = [row(n, i, "alpha", vector=unit(0, 0, 1)) for n in range(5) for i in (0, 1)]
        store.add(TABLE, rows[::-1][:6])
        store.fold(TABLE)
        store.add(TABLE, rows[::-1][6:])
        store.fold(TABLE)

        found = ask(store, "alpha", vector=unit(0, 0, 1))

        assert keys(found.words) == [(n, i) for n in range(5) for i in (0, 1)]
        assert keys(found.vectors) == keys(found.words)
