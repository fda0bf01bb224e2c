"""What every chunk store promises."""

import math
import struct
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

import pytest

from openmind.domain.chunks import ChunkKey, ChunkRow, passage_hash
from openmind.domain.errors import StoreDamaged, StoreError
from openmind.domain.ids import FileId, Generation, SourceId
from openmind.domain.index import Visibility
from openmind.ports.chunk_store import (
    Candidate,
    CandidateQuery,
    Candidates,
    ChunkFilter,
    ChunkStore,
    TableChanges,
    WordsQuery,
)

TABLE = "chunks"
DIMENSION = 3
EVERYTHING = Visibility(newest=Generation(2**40))

LITERAL_TERMS = (
    *("c++", "c#", ".net", "e-1042", "v1.0.21", "user@example.com", "snake_case_name", "0123456789abcdef" * 4),
    *("数据", "서울", "ﬁ", "😀", "not", "and", "a:b", "a*", "~b", '"', "'", "(", "[x]", "{", "\\", "%", "*", "^2", "!"),
)


def unit(*components: float) -> bytes:
    """Pack a vector scaled to length one, of components that half precision can say, so that all come back alike."""
    length = math.hypot(*components)
    halves = struct.unpack(spelled := f"<{len(components)}e", struct.pack(spelled, *(c / length for c in components)))
    return struct.pack(f"<{len(components)}f", *halves)


def row(
    generation: int,
    index: int,
    words: str,
    *,
    file: str = "",
    source: str = "src_a",
    path: str = "",
    vector: bytes | None = None,
    modified_at: float = 1.5,
) -> ChunkRow:
    """Make a row; what a test does not speak of follows from the rest."""
    path = path or f"/home/ada/{generation}.txt"
    return ChunkRow(
        generation=Generation(generation),
        file_id=FileId(file or f"file_{generation}"),
        source_id=SourceId(source),
        path=path,
        file_name=path.rpartition("/")[2],
        extension="." + path.rpartition(".")[2],
        title="",
        text=words.upper(),
        words=words,
        vector=vector,
        index=index,
        content_hash="c0ffee",
        modified_at=modified_at,
        indexed_at="2026-01-02T03:04:05Z",
        passage=passage_hash(words),
    )


def keys(found: Collection[Candidate]) -> list[tuple[int, int]]:
    return [(candidate.key.generation, candidate.key.index) for candidate in found]


def ask(
    store: ChunkStore,
    *terms: str,
    phrases: tuple[tuple[str, ...], ...] = (),
    vector: bytes | None = None,
    where: ChunkFilter | None = None,
    limit: int = 100,
    table: str = TABLE,
) -> Candidates:
    words = WordsQuery(terms=terms, phrases=phrases) if terms or phrases else None
    query = CandidateQuery(words=words, vector=vector, filter=where or ChunkFilter(visible=EVERYTHING), limit=limit)
    with store.open(table) as view:
        return view.candidates(query)


def counted(store: ChunkStore, table: str = TABLE) -> dict[tuple[int, str], int]:
    return {(generation, file_id): rows for generation, file_id, rows in store.counts(table)}


class ChunkStoreContract:
    """Subclass in an adapter's tests and give an empty `store` fixture; every promise is checked."""

    @pytest.fixture(autouse=True)
    def an_empty_table(self, store: ChunkStore) -> None:
        store.create(TABLE, dimension=DIMENSION)

    # Tables

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

    # Writing

    def test_rows_come_back_as_they_were_written(self, store: ChunkStore) -> None:
        odd = row(2**40, 7, "o'neill 数据 naïve", path='/tmp/it\'s "a" \\ b%_\n.txt', vector=unit(1, 2, 3))
        plain = row(1, 0, "alpha")
        store.add(TABLE, [odd, plain])

        with store.open(TABLE) as view:
            assert view.rows([odd.key, plain.key], vectors=True) == {odd.key: odd, plain.key: plain}
        assert list(store.read_generations(TABLE, [odd.generation])) == [odd]

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

    # Words

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

    # Vectors

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

    # Order and number

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

    # Filters

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

    # Reading

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
            assert len(view.rows([candidate.key for candidate in after.words])) == 2
        assert keys(ask(store, "alpha").words) == [(2, 0)]

    def test_rows_that_are_not_there_are_left_out(self, store: ChunkStore) -> None:
        there = row(1, 1, "alpha", vector=unit(1, 0, 0))
        store.add(TABLE, [row(1, 0, "alpha"), there, row(2, 1, "alpha")])
        lost = [
            ChunkKey(generation=Generation(1), file_id=FileId("file_1"), index=9),
            ChunkKey(generation=Generation(1), file_id=FileId("file_2"), index=1),
            ChunkKey(generation=Generation(9), file_id=FileId("file_1"), index=0),
        ]

        with store.open(TABLE) as view:
            assert set(view.rows([*lost, there.key])) == {there.key}
            assert view.rows([]) == {}

    def test_rows_have_their_vector_only_when_asked_for(self, store: ChunkStore) -> None:
        there = row(1, 0, "alpha", vector=unit(1, 2, 0))
        store.add(TABLE, [there, row(1, 1, "alpha")])

        with store.open(TABLE) as view:
            assert view.rows([there.key])[there.key].vector is None
            assert view.rows([there.key], vectors=True)[there.key].vector == there.vector

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
