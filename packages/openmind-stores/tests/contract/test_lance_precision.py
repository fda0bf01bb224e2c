"""Vectors lie in half precision; a table that was made with single precision goes on as it is."""

from pathlib import Path

import lance
import numpy as np
import pyarrow as pa
import pytest
from openmind.domain.chunks import ChunkRow
from openmind.domain.ids import Generation
from openmind.ports.chunk_store import ChunkFilter
from openmind.testing.contracts.chunk_store_promises.samples import EVERYTHING, TABLE, ask, keys, row
from openmind_stores.lance.chunk_store import LanceChunkStore
from openmind_stores.lance.columns import arrow_schema
from openmind_stores.lance.engine import Caches, Dataset
from openmind_stores.lance.policy import UpkeepPolicy

DIMENSION = 16
ROWS = 60


def vector(number: int) -> bytes:
    components = np.random.default_rng(number).normal(size=DIMENSION)
    return (components / np.linalg.norm(components)).astype("<f4").tobytes()


def some_rows() -> list[ChunkRow]:
    return [row(number, 0, f"word{number}", vector=vector(number)) for number in range(1, ROWS + 1)]


def precision(store: LanceChunkStore) -> pa.DataType:
    return Dataset.open(store.folder / f"{TABLE}.lance", Caches()).native.schema.field("vector").type.value_type


@pytest.fixture(params=["exact", "indexed"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> LanceChunkStore:
    rows = ROWS // 2 if request.param == "indexed" else 10 * ROWS
    return LanceChunkStore(tmp_path, policy=UpkeepPolicy(vector_index_rows=rows, loose_vectors=0))


@pytest.fixture
def former(store: LanceChunkStore) -> LanceChunkStore:
    """A store whose table was made when vectors were kept in single precision."""
    schema = arrow_schema(DIMENSION)
    at = schema.get_field_index("vector")
    schema = schema.set(at, schema.field(at).with_type(pa.list_(pa.float32(), DIMENSION)))
    lance.write_dataset(schema.empty_table(), str(store.folder / f"{TABLE}.lance"), schema=schema, mode="create")
    store.add(TABLE, some_rows())
    return store


def test_a_new_table_keeps_vectors_in_half_precision(store: LanceChunkStore) -> None:
    store.create(TABLE, dimension=DIMENSION)

    assert precision(store) == pa.float16()


def test_no_cosine_is_above_one_however_it_is_rounded(tmp_path: Path) -> None:
    store = LanceChunkStore(tmp_path)
    store.create(TABLE, dimension=DIMENSION)
    store.add(TABLE, some_rows())
    looked_for = [vector(number) for number in range(1, ROWS + 1)]

    best = [ask(store, vector=each).vectors[0].score for each in looked_for]

    assert min(best) > 0.999
    assert max(best) <= 1.0


def test_the_nearest_are_the_same_in_both_precisions(store: LanceChunkStore, former: LanceChunkStore) -> None:
    half = LanceChunkStore(store.folder / "half", policy=store.policy)
    half.create(TABLE, dimension=DIMENSION)
    half.add(TABLE, some_rows())
    for each in (former, half):
        each.fold(TABLE)

    for asked in range(1, ROWS, 7):
        single, rounded = (ask(each, vector=vector(asked), limit=5).vectors for each in (former, half))

        assert keys(single) == keys(rounded)
        assert [one.score for one in single] == pytest.approx([one.score for one in rounded], abs=0.02)


def test_scores_are_cosines_within_an_index_outside_of_it_and_of_chosen_passages(store: LanceChunkStore) -> None:
    later = [row(number, 0, f"word{number}", vector=vector(number)) for number in range(101, 121)]
    nothing = row(200, 0, "no vector")
    query = np.frombuffer(vector(1_000), "<f4")
    cosines = {each.key: float(query @ np.frombuffer(each.vector or b"", "<f4")) for each in (*some_rows(), *later)}
    store.create(TABLE, dimension=DIMENSION)
    store.add(TABLE, some_rows())
    store.fold(TABLE)
    store.merge(TABLE)
    indexes = Dataset.open(store.folder / f"{TABLE}.lance", Caches()).index_names()
    assert ("vector_idx" in indexes) == (store.policy.vector_index_rows < ROWS)

    settled = ask(store, vector=query.tobytes(), limit=ROWS).vectors
    store.add(TABLE, [*later, nothing])
    growing = ask(store, vector=query.tobytes(), limit=100).vectors
    chosen = ChunkFilter(visible=EVERYTHING, keys=(*list(cosines)[50:70], nothing.key))
    some = ask(store, vector=query.tobytes(), where=chosen, limit=30).vectors

    for found, keys_found in ((settled, list(cosines)[:ROWS]), (growing, list(cosines)), (some, list(cosines)[50:70])):
        assert {one.key: one.score for one in found} == pytest.approx(
            {key: cosines[key] for key in keys_found}, abs=2e-3
        )
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_a_table_of_single_precision_takes_more_rows_and_rounds_none(former: LanceChunkStore) -> None:
    former.create(TABLE, dimension=DIMENSION)
    former.fold(TABLE)
    more = row(ROWS + 1, 0, "more", vector=vector(ROWS + 1))
    former.add(TABLE, [more])
    former.merge(TABLE)

    assert precision(former) == pa.float32()
    assert list(former.read_generations(TABLE, [Generation(ROWS + 1)])) == [more]
    assert keys(ask(former, vector=vector(ROWS + 1), limit=1).vectors) == [(ROWS + 1, 0)]
    assert keys(ask(former, "word3").words) == [(3, 0)]
