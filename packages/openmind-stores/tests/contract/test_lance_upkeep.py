"""Indexes and files are tended without any answer changing."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

import numpy as np
import pyarrow as pa
import pytest
from lance.file import LanceFileReader
from lance.fragment import write_fragments
from openmind.domain.chunk_rows import ChunkRows
from openmind.domain.ids import Generation, SourceId
from openmind.ports.chunk_store import CandidateQuery, Candidates, ChunkFilter, WordsQuery
from openmind.testing.contracts.chunk_store_promises.samples import EVERYTHING, TABLE, ask, counted, keys, row
from openmind_stores.lance.batches import to_batch
from openmind_stores.lance.chunk_store import LanceChunkStore
from openmind_stores.lance.engine import WORDS_OPTIONS, Caches, Dataset, any_of
from openmind_stores.lance.policy import UpkeepPolicy
from openmind_stores.lance.upkeep import WORDS_INDEX

SMALL = UpkeepPolicy(most_segments=4, vector_index_rows=300, loose_vectors=0, rows_per_partition=50, most_tiny_files=3)


def vector(number: int) -> bytes:
    components = np.random.default_rng(number).normal(size=8)
    return (components / np.linalg.norm(components)).astype("<f4").tobytes()


def grow(store: LanceChunkStore, first: int, last: int, *, rows: int = 50) -> None:
    for n in range(first, last + 1):
        store.add(TABLE, [row(n, i, f"alpha w{n}", vector=vector(n * 1_000 + i)) for i in range(rows)])
        store.fold(TABLE)


def opened(store: LanceChunkStore) -> Dataset:
    return Dataset.open(store.folder / f"{TABLE}.lance", Caches())


@pytest.fixture
def store(tmp_path: Path) -> LanceChunkStore:
    store = LanceChunkStore(tmp_path, policy=SMALL)
    store.create(TABLE, dimension=8)
    return store


def test_segments_stay_few_while_a_table_grows(store: LanceChunkStore) -> None:
    grow(store, 1, 12, rows=5)

    for name in ("words_idx", "generation_idx", "source_id_idx"):
        state = opened(store).index_state(name)
        assert len(state.segments) <= 4
        assert sum(state.segments) == 60
        assert state.unindexed == 0
    assert len(ask(store, "alpha").words) == 60


def test_a_run_ends_with_one_segment_in_each_index_that_filters_ask(store: LanceChunkStore) -> None:
    grow(store, 1, 4, rows=5)
    store.merge(TABLE)

    for name in ("generation_idx", "modified_at_idx", "path_idx", "source_id_idx", "extension_idx"):
        state = opened(store).index_state(name)
        assert (state.segments, state.unindexed) == ((20,), 0)
    assert len(ask(store, "alpha").words) == 20


def test_the_first_rows_take_the_place_of_the_empty_index_of_words(tmp_path: Path) -> None:
    store = LanceChunkStore(tmp_path, policy=UpkeepPolicy(most_merged_words=60))
    store.create(TABLE, dimension=8)

    grow(store, 1, 2)

    assert opened(store).index_state("words_idx").segments == (50, 50)
    assert len(ask(store, "alpha").words) == 100


def test_words_that_are_merged_lie_in_one_part(store: LanceChunkStore) -> None:
    grow(store, 1, 2, rows=5)

    [segment] = segments_of_words(store)

    assert len(list((store.folder / f"{TABLE}.lance" / "_indices" / segment).glob("part_*_tokens.lance"))) == 1


def test_the_vector_index_comes_when_there_are_many_and_follows(store: LanceChunkStore) -> None:
    grow(store, 1, 5)
    assert "vector_idx" not in opened(store).index_names()
    exact = keys(ask(store, vector=vector(1_007), limit=5).vectors)

    grow(store, 6, 6)

    assert opened(store).index_state("vector_idx").segments == (300,)
    assert keys(ask(store, vector=vector(1_007), limit=5).vectors)[0] == exact[0] == (1, 7)
    grow(store, 7, 8)
    assert opened(store).index_state("vector_idx").segments == (300, 50, 50)
    assert keys(ask(store, vector=vector(8_003), limit=5).vectors)[0] == (8, 3)
    grow(store, 9, 11)
    assert opened(store).index_state("vector_idx").segments == (300, 200, 50)
    assert keys(ask(store, vector=vector(8_003), limit=5).vectors)[0] == (8, 3)
    grow(store, 12, 13)
    assert opened(store).index_state("vector_idx").segments == (300, 350)
    store.merge(TABLE)  # the end of a run, when there is memory for it
    assert opened(store).index_state("vector_idx").segments == (650,)
    assert keys(ask(store, vector=vector(13_003), limit=5).vectors)[0] == (13, 3)


def test_a_run_leaves_vectors_outside_the_index_and_takes_them_in_at_its_end(tmp_path: Path) -> None:
    store = LanceChunkStore(
        tmp_path, policy=UpkeepPolicy(vector_index_rows=100, loose_vectors=300, rows_per_partition=50)
    )
    store.create(TABLE, dimension=8)

    grow(store, 1, 6)
    assert "vector_idx" not in opened(store).index_names()
    grow(store, 7, 13)
    assert (state := opened(store).index_state("vector_idx")).segments == (350,)
    assert state.unindexed == 300
    store.merge(TABLE)
    assert opened(store).index_state("vector_idx").segments == (650,)
    grow(store, 14, 14)
    store.merge(TABLE)
    grow(store, 15, 15)
    store.merge(TABLE)

    assert (state := opened(store).index_state("vector_idx")).segments == (650, 100)
    assert state.unindexed == 0
    assert keys(ask(store, vector=vector(15_003), limit=5).vectors)[0] == (15, 3)


def test_a_filter_that_leaves_few_rows_finds_all_of_them_in_the_vector_index(tmp_path: Path) -> None:
    store = LanceChunkStore(
        tmp_path, policy=UpkeepPolicy(vector_index_rows=1_000, loose_vectors=0, rows_per_partition=10)
    )
    store.create(TABLE, dimension=8)
    store.add(
        TABLE,
        [row(n, 0, "alpha", source=f"src_{n % 100}", vector=vector(n)) for n in range(2_000)],
    )
    store.fold(TABLE)
    where = ChunkFilter(visible=EVERYTHING, source_ids=(SourceId("src_7"),))

    found = ask(store, vector=vector(1), where=where, limit=100).vectors

    assert "vector_idx" in opened(store).index_names()
    assert sorted(keys(found)) == [(n, 0) for n in range(7, 2_000, 100)]


def test_rows_without_vectors_do_not_bring_the_vector_index(store: LanceChunkStore) -> None:
    store.add(TABLE, [row(1, i, "alpha") for i in range(400)])
    store.fold(TABLE)

    assert "vector_idx" not in opened(store).index_names()


def test_many_small_files_become_one_at_the_end_of_a_run(store: LanceChunkStore) -> None:
    grow(store, 1, 8, rows=10)
    assert len(opened(store).fragments()) == 8

    store.merge(TABLE)

    assert [each.rows for each in opened(store).fragments()] == [80]
    assert len(ask(store, "alpha").words) == 80
    assert keys(ask(store, vector=vector(3_004), limit=1).vectors) == [(3, 4)]


def test_a_file_of_which_much_is_deleted_is_written_anew(store: LanceChunkStore) -> None:
    store.add(TABLE, [row(n, i, f"alpha w{n}", vector=vector(n * 1_000 + i)) for n in range(10) for i in range(10)])
    store.fold(TABLE)
    store.delete(TABLE, [Generation(1)])
    store.merge(TABLE)
    assert [each.deleted for each in opened(store).fragments()] == [10]

    store.delete(TABLE, [Generation(2), Generation(3)])
    store.merge(TABLE)

    assert [(each.rows, each.deleted) for each in opened(store).fragments()] == [(70, 0)]
    assert len(ask(store, "alpha").words) == 70
    assert keys(ask(store, vector=vector(5_004), limit=1).vectors) == [(5, 4)]


def test_a_lost_index_is_built_anew(store: LanceChunkStore) -> None:
    grow(store, 1, 7)
    data = opened(store)
    for name in ("words_idx", "vector_idx", "generation_idx"):
        data.drop_index(name)

    store.fold(TABLE)

    assert {"words_idx", "vector_idx", "generation_idx"} <= opened(store).index_names()
    assert store.health().unindexed_rows == {TABLE: 0}
    assert len(ask(store, "w3").words) == 50


def test_cleaning_gives_the_space_of_old_versions_back(store: LanceChunkStore) -> None:
    grow(store, 1, 6)
    store.delete(TABLE, [Generation(n) for n in range(1, 6)])
    store.merge(TABLE)
    before = store.size_bytes()

    store.clean(TABLE, older_than_s=3_600)
    assert store.size_bytes() == before
    store.clean(TABLE, older_than_s=0)

    assert store.size_bytes() < before / 2
    assert counted(store) == {(6, "file_6"): 50}


def test_a_reader_never_fails_while_rows_are_written_merged_and_cleaned(store: LanceChunkStore) -> None:
    """A version may be taken from a search once; whoever searches begins anew when it happens while a view opens."""
    grow(store, 1, 1)
    opening, done = threading.Lock(), threading.Event()
    answers: SimpleQueue[Candidates] = SimpleQueue()
    query = CandidateQuery(
        words=WordsQuery(terms=("w1",)), vector=vector(1_000), filter=ChunkFilter(visible=EVERYTHING), limit=10
    )

    def read() -> None:
        reader = LanceChunkStore(store.folder, policy=SMALL)
        while not done.is_set():
            with ExitStack() as views:
                with opening:
                    view = views.enter_context(reader.open(TABLE))
                answers.put(view.candidates(query))

    def clean() -> None:
        """Clean, and let the search end that was under way."""
        with opening:
            store.clean(TABLE, older_than_s=0)
        for _ in range(answers.qsize() + 1):
            assert_found_w1(answers.get(timeout=60))

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        try:
            for n in range(2, 14):
                grow(store, n, n, rows=40)
                if n % 3 == 0:
                    store.delete(TABLE, [Generation(n - 1)])
                    store.merge(TABLE)
                clean()
        finally:
            done.set()
            reading.result()


def assert_found_w1(found: Candidates) -> None:
    assert (len(found.words), found.words_error, found.vectors_error) == (10, "", "")
    assert keys(found.vectors)[0] == (1, 0)


def test_an_emptied_table_keeps_no_word_of_what_it_held(store: LanceChunkStore) -> None:
    store.add(TABLE, [row(1, i, "alpha", path=f"/home/zanzibarquartz/{i}.txt", vector=vector(i)) for i in range(400)])
    store.fold(TABLE)
    store.delete(TABLE, [Generation(1)])

    store.purge(TABLE)
    store.clean(TABLE, older_than_s=0)

    assert strangers(store) == set()
    assert (opened(store).count(), terms(store)) == (0, 0)
    grow(store, 2, 3)
    assert strangers(store)
    assert terms(store) >= 2
    assert len(ask(store, "alpha").words) == 100


def test_purging_lost_files_builds_only_the_segments_of_words_anew_that_held_them(tmp_path: Path) -> None:
    store = LanceChunkStore(tmp_path, policy=UpkeepPolicy(cheap_rows=100))
    store.create(TABLE, dimension=8)
    store.add(TABLE, [row(1, i, f"alpha w{i}") for i in range(300)])
    store.fold(TABLE)
    for generation, word in ((2, "zanzibarquartz"), (3, "tanager")):
        store.add(TABLE, [row(generation, i, f"alpha {word}") for i in range(40)])
        store.fold(TABLE)
    [large, small] = segments_of_words(store).items()
    assert len(small[1]) == 2, "the segments of both small files were merged"

    store.delete(TABLE, [Generation(2)])
    store.purge(TABLE)
    store.clean(TABLE, older_than_s=0)

    after = segments_of_words(store)
    assert len(after) == 2
    assert after[large[0]] == large[1]
    assert small[0] not in after
    assert strangers(store) == set()
    assert texts(store) == {*(f"alpha w{i}" for i in range(300)), "alpha tanager"}
    assert terms(store) == 301 + 2  # alpha is in both segments
    assert len(ask(store, "tanager").words) == 40
    assert len(ask(store, "alpha", limit=1_000).words) == 340
    store.add(TABLE, [row(4, 0, "alpha omega")])
    store.fold(TABLE)
    assert store.health().unindexed_rows == {TABLE: 0}
    assert keys(ask(store, "omega").words) == [(4, 0)]


def segments_of_words(store: LanceChunkStore) -> dict[str, frozenset[int]]:
    [found] = [each for each in opened(store).native.describe_indices() if each.name == WORDS_INDEX]
    segments = {each.uuid: frozenset(each.fragment_ids) for each in found.segments}
    return dict(sorted(segments.items(), key=lambda pair: min(pair[1])))


@pytest.mark.parametrize("older_than_s", [0, 300])
def test_what_killed_writers_left_goes_with_the_next_cleaning(store: LanceChunkStore, older_than_s: float) -> None:
    grow(store, 1, 2)
    reader = opened(store)
    store.delete(TABLE, [Generation(1)])
    store.purge(TABLE)
    before = files(store)
    data = opened(store)
    rows = ChunkRows.of([row(3, 0, "zanzibarquartz")], data.dimension)
    abandoned = pa.Table.from_batches([to_batch(rows, data.native.schema)])
    write_fragments(abandoned, data.native.uri)  # killed before the version that names the rows,
    covered = [each.id for each in data.fragments()]
    data.native.create_index_uncommitted(  # or the one that names the index,
        "words", "INVERTED", name=WORDS_INDEX, replace=True, fragment_ids=covered, **WORDS_OPTIONS
    )
    (store.folder / f"{TABLE}.lance" / "data" / ".tmpAbCdEf").write_bytes(b"zanzibarquartz")  # or within a file
    left = files(store) - before
    assert {Path(each).parts[0] for each in left} == {"data", "_indices"}
    assert strangers(store) >= {"data/.tmpAbCdEf"}

    store.clean(TABLE, older_than_s=older_than_s)

    assert files(store) & left == set()
    assert len(ask(store, "w2").words) == 50
    if older_than_s:  # what a reader may still have open is there
        assert sum(len(columns["text"]) for columns in reader.scan(["text"])) == 100
        assert len(reader.match(any_of(["w1"]), where="", limit=100)) == 50
    else:
        assert strangers(store) == set()


def files(store: LanceChunkStore) -> set[str]:
    folder = store.folder / f"{TABLE}.lance"
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def strangers(store: LanceChunkStore) -> set[str]:
    """Name the data files and the folders of indexes that the newest version lacks, or that lack in it."""
    data = opened(store)
    folder = store.folder / f"{TABLE}.lance"
    rows = {file.path for fragment in data.native.get_fragments() for file in fragment.data_files()}
    named = {f"data/{name}" for name in rows} | {f"_indices/{name}" for name in data.index_segments()}
    return named ^ {
        path.relative_to(folder).as_posix() for path in [*folder.glob("data/*"), *folder.glob("_indices/*")]
    }


def texts(store: LanceChunkStore) -> set[str]:
    return {str(text).lower() for columns in opened(store).scan(["text"]) for text in columns["text"]}


def terms(store: LanceChunkStore) -> int:
    """Count the words in the dictionaries of the index of words; what they are is packed."""
    segments = [segment for segment, name in opened(store).index_segments().items() if name == WORDS_INDEX]
    folder = store.folder / f"{TABLE}.lance" / "_indices"
    tokens = [file for segment in segments for file in (folder / segment).glob("*_tokens.lance")]
    return sum(LanceFileReader(str(file)).read_all().to_table()["_token_next_id"][0].as_py() for file in tokens)
