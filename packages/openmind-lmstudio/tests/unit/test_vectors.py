import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind_lmstudio.errors import Nonsense
from openmind_lmstudio.vectors import NoVector, read_vectors
from openmind_lmstudio.wire import Record

ROWS = st.lists(
    st.lists(st.floats(-1e6, 1e6).filter(lambda component: abs(component) > 1e-3), min_size=3, max_size=3),
    min_size=1,
    max_size=5,
)


def reply(rows: list[list[object]], order: list[int] | None = None) -> Record:
    places = order or list(range(len(rows)))
    return Record.of({"data": [{"index": place, "embedding": rows[place]} for place in places]})


@settings(deadline=None, max_examples=100)
@given(rows=ROWS, data=st.data())
def test_vectors_come_in_the_order_of_their_numbers_and_with_unit_length(
    rows: list[list[object]], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(rows))))

    vectors = read_vectors(reply(rows, list(order)), len(rows))

    assert [math.hypot(*row) for row in vectors.rows()] == pytest.approx([1.0] * len(rows), abs=1e-5)
    for row, given_row in zip(vectors.rows(), rows, strict=True):
        assert [math.copysign(1, component) for component in row] == [
            math.copysign(1, component) for component in given_row if isinstance(component, float)
        ]


def test_a_unit_vector_is_kept_as_it_is() -> None:
    assert read_vectors(reply([[0.6, 0.8]]), 1).rows() == [pytest.approx([0.6, 0.8], abs=1e-7)]


def test_whole_numbers_are_numbers() -> None:
    assert read_vectors(reply([[0, 1]]), 1).rows() == [[0.0, 1.0]]


def test_a_vector_of_another_dimension_is_refused() -> None:
    with pytest.raises(Nonsense, match="different dimensions"):
        read_vectors(reply([[0, 1], [0, 1, 0]]), 2)


@pytest.mark.parametrize("row", [[], [0, 0], [1e-30, 0], [10**400, 1], [1.0, True], [1.0, "x"], "AAAA", None])
def test_what_is_no_vector_is_named_by_its_place(row: list[object]) -> None:
    with pytest.raises(NoVector) as raised:
        read_vectors(reply([[0, 1], row]), 2)

    assert raised.value.index == 1


def test_a_wrong_number_of_vectors_is_told_in_words() -> None:
    with pytest.raises(Nonsense, match=r"“m” answered with 3 vectors for 1 text$"):
        read_vectors(reply([[0, 1], [1, 0], [1, 1]]), 1, "m")
