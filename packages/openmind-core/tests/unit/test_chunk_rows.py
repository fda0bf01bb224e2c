from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.chunk_rows import ChunkRows, FileRows, portions
from openmind.domain.chunks import ChunkRow
from openmind.testing.contracts.chunk_store_promises.samples import DIMENSION, row, unit

WORDS = st.sampled_from(["", "heron", "Überfluß", "数据", "\U0001f600"])
VECTORS = st.sampled_from([None, unit(1, 0, 0), unit(0, 1, 0)])


@st.composite
def some_rows(draw: st.DrawFn) -> list[ChunkRow]:
    """Rows of a few files, in any order and with gaps."""
    places = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 4)), max_size=12))
    return [row(generation, at, draw(WORDS), vector=draw(VECTORS)) for generation, at in places]


@given(some_rows(), st.integers(1, 5))
@settings(max_examples=50, deadline=None)
def test_rows_are_the_same_in_columns_and_in_portions_of_them(rows: list[ChunkRow], size: int) -> None:
    columns = ChunkRows.of(rows, DIMENSION)

    cut = list(portions(columns.files, size))

    assert list(columns) == rows
    assert len(columns) == len(rows)
    assert [each for portion in cut for each in portion] == rows
    assert all(len(portion) == size for portion in cut[:-1])
    assert all(0 < len(portion) <= size for portion in cut[-1:])


def test_what_a_file_shares_is_said_once() -> None:
    rows = [row(1, at, "heron", vector=unit(1, 0, 0)) for at in range(4)]

    columns = ChunkRows.of([*rows, evolve(rows[3], index=4, title="another title")], DIMENSION)

    assert [len(file) for file in columns.files] == [4, 1]


def test_a_half_character_becomes_a_question_mark() -> None:
    [back] = FileRows.of([row(1, 0, "half \ud800 character")], DIMENSION)

    assert back.words == "half ? character"
