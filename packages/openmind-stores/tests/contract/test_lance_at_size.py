"""Tables large enough for what small ones hide: segments, unfolded rows, garbage, two tables, many answers."""

import random
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from openmind.domain.chunks import ChunkRow
from openmind.domain.ids import Generation
from openmind.domain.index import Visibility
from openmind.ports.chunk_store import ChunkFilter
from openmind.testing.contracts.chunk_store_promises.samples import TABLE, ask, counted, keys, row
from openmind_stores.lance.chunk_store import LanceChunkStore
from openmind_stores.lance.policy import UpkeepPolicy

FOLDED, UNFOLDED = 2_100, 400
"""Generations of five rows each."""
DIMENSION = 16
NEWEST = FOLDED + 300
"""The last hundred generations are not published."""
DEAD = ((10, 10), (400, 450), (FOLDED + 3, FOLDED + 3))
WORDS = [f"word{number}" for number in range(3_000)]


def made_rows(first: int, last: int) -> Iterator[ChunkRow]:
    """Make rows of which each is the same whenever it is made."""
    for generation in range(first, last + 1):
        rng = random.Random(generation)
        vectors = np.random.default_rng(generation).normal(size=(5, DIMENSION))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        for index in range(5):
            words = " ".join([*rng.choices(WORDS, k=10), "everywhere", f"only{generation}"])
            vector = None if generation % 7 == 0 else vectors[index].astype("<f2").astype("<f4").tobytes()
            yield row(generation, index, words, source=f"src_{generation % 3}", vector=vector)


@pytest.fixture(scope="module", params=["exact", "indexed"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LanceChunkStore:
    policy = UpkeepPolicy(
        vector_index_rows=8_000 if request.param == "indexed" else 50_000, most_segments=3, loose_vectors=0
    )
    store = LanceChunkStore(tmp_path_factory.mktemp(request.param), policy=policy)
    for table in (TABLE, "chunks_2"):
        store.create(table, dimension=DIMENSION)
    for first in range(1, FOLDED, 300):
        store.add(TABLE, list(made_rows(first, first + 299)))
        store.fold(TABLE)
    store.add(TABLE, list(made_rows(FOLDED + 1, FOLDED + UNFOLDED)))
    store.add("chunks_2", list(made_rows(1, 50)))
    return store


def alive(where: ChunkFilter) -> list[ChunkRow]:
    return [
        each
        for each in every_row()
        if each.generation <= where.visible.newest
        and not any(first <= each.generation <= last for first, last in where.visible.dead)
        and (where.source_ids is None or each.source_id in where.source_ids)
    ]


@cache
def every_row() -> tuple[ChunkRow, ...]:
    return tuple(made_rows(1, FOLDED + UNFOLDED))


@pytest.fixture(params=["all", "source"])
def where(request: pytest.FixtureRequest) -> ChunkFilter:
    dead = tuple((Generation(first), Generation(last)) for first, last in DEAD)
    seen = Visibility(newest=Generation(NEWEST), dead=dead)
    return ChunkFilter(visible=seen, source_ids=("src_1",) if request.param == "source" else None)


def test_there_are_as_many_rows_as_were_written(store: LanceChunkStore) -> None:
    health = store.health()

    assert health.rows == {TABLE: 12_500, "chunks_2": 250}
    assert health.unindexed_rows == {TABLE: 2_000, "chunks_2": 250}
    assert counted(store) == {(n, f"file_{n}"): 5 for n in range(1, FOLDED + UNFOLDED + 1)}


@pytest.mark.parametrize("generation", [1, 10, 14, 300, 301, 425, 2_100, 2_101, 2_103, 2_400, 2_401, 2_500])
def test_each_files_own_word_finds_it_unless_it_is_dead(
    store: LanceChunkStore, where: ChunkFilter, generation: int
) -> None:
    found = ask(store, f"only{generation}", where=where)

    expected = [(each.generation, each.index) for each in alive(where) if each.generation == generation]
    assert sorted(keys(found.words)) == expected


@pytest.mark.parametrize("term", ["word7", "word2999"])
def test_a_term_finds_every_row_that_holds_it(store: LanceChunkStore, where: ChunkFilter, term: str) -> None:
    found = ask(store, term, where=where, limit=1_000)

    expected = [(each.generation, each.index) for each in alive(where) if term in each.words.split()]
    assert sorted(keys(found.words)) == expected


def test_a_phrase_finds_every_row_that_holds_it(store: LanceChunkStore, where: ChunkFilter) -> None:
    rows = alive(where)
    for some in rows[:: len(rows) // 12]:
        phrase = tuple(some.words.split()[3:5])

        found = ask(store, phrases=(phrase,), where=where, limit=1_000)

        expected = [(each.generation, each.index) for each in rows if f" {' '.join(phrase)} " in f" {each.words} "]
        assert sorted(keys(found.words)) == expected


def test_the_nearest_vectors_are_found(store: LanceChunkStore, where: ChunkFilter) -> None:
    rows = [each for each in alive(where) if each.vector is not None]
    matrix = np.frombuffer(b"".join(each.vector or b"" for each in rows), "<f4").reshape(len(rows), DIMENSION)
    hits = 0
    for number in range(20):
        query = np.random.default_rng(-number - 1 + 2**31).normal(size=DIMENSION)
        query = (query / np.linalg.norm(query)).astype("<f4")

        found = ask(store, vector=query.tobytes(), where=where, limit=10).vectors

        nearest = np.argsort(-(matrix @ query), kind="stable")[:10]
        hits += len({(rows[at].generation, rows[at].index) for at in nearest} & set(keys(found)))
        assert found[0].score == pytest.approx(float((matrix @ query).max()), abs=0.02)
    assert hits >= 190


def test_a_common_word_gives_the_limit_and_rows_that_may_be_seen(store: LanceChunkStore, where: ChunkFilter) -> None:
    found = ask(store, "everywhere", where=where, limit=300)

    seen = {(each.generation, each.index) for each in alive(where)}
    assert len(found.words) == 300
    assert set(keys(found.words)) <= seen
    assert len(set(keys(found.words))) == 300


def test_the_background_is_about_that_of_all_vectors(store: LanceChunkStore, where: ChunkFilter) -> None:
    rows = [each.vector for each in every_row() if each.vector is not None]
    mean = np.frombuffer(b"".join(rows), "<f4").reshape(len(rows), DIMENSION).mean(axis=0)
    query = np.full(DIMENSION, 1 / np.sqrt(DIMENSION), "<f4")

    found = ask(store, vector=query.tobytes(), where=where)

    assert found.background == pytest.approx(float(mean @ query), abs=0.03)


def test_the_share_of_a_term_is_about_right(store: LanceChunkStore) -> None:
    with store.open(TABLE) as view:
        shares = view.document_share(["everywhere", "word7", "nowhere"])

    assert shares == pytest.approx((1.0, 10 / 3_000, 0.0), abs=0.01)


def test_passages_are_fetched_by_key_and_rows_copied_in_order(store: LanceChunkStore) -> None:
    every = {each.key: each for each in every_row()}
    some = random.Random(5).sample(sorted(every), 300)

    with store.open(TABLE) as view:
        found = view.passages(some)
    assert {key: (one.key, one.text, one.words) for key, one in found.items()} == {
        key: (key, every[key].text, every[key].words) for key in some
    }
    wanted = [Generation(n) for n in (2_500, 7, 1_200)]
    assert list(store.read_generations(TABLE, wanted)) == [
        every[key] for key in sorted(every) if key.generation in wanted
    ]


def test_the_other_table_is_searched_by_itself(store: LanceChunkStore) -> None:
    found = ask(store, "everywhere", table="chunks_2", limit=1_000)

    assert sorted(keys(found.words)) == [(each.generation, each.index) for each in made_rows(1, 50)]
