from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.application.recovering.differences import Difference, differences, is_dead
from openmind.domain.ids import FileId, Generation
from openmind.domain.index import Visibility, as_ranges

versions = st.dictionaries(
    st.tuples(st.integers(1, 9), st.sampled_from(["file_a", "file_b"])), st.integers(1, 3), max_size=12
)


@settings(max_examples=50, deadline=None)
@given(there=versions, expected=versions)
def test_exactly_what_two_streams_do_not_have_in_common_comes_out_in_order(there, expected) -> None:
    found = list(differences(*([(*key, rows) for key, rows in sorted(each.items())] for each in (there, expected))))

    assert found == [
        Difference(Generation(generation), FileId(file), there.get(key, 0), expected.get(key, 0))
        for key in sorted({*there, *expected})
        if there.get(key) != expected.get(key)
        for generation, file in [key]
    ]


@settings(max_examples=50, deadline=None)
@given(dead=st.sets(st.integers(1, 30)), generation=st.integers(1, 31))
def test_a_generation_is_dead_when_one_of_the_ranges_holds_it(dead: set[int], generation: int) -> None:
    ranges = as_ranges([Generation(number) for number in sorted(dead)])

    assert is_dead(Generation(generation), Visibility(newest=Generation(31), dead=ranges)) == (generation in dead)
