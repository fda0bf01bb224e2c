import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.fusion import fuse

LEG = st.dictionaries(st.integers(0, 20), st.floats(0, 50), max_size=12)
COSINES = st.dictionaries(st.integers(0, 20), st.floats(-1, 1), max_size=12)
SHARE = st.floats(0, 1)


def scored(words: dict[str, float] | None, cosines: dict[str, float] | None, **settings: float) -> dict[str, float]:
    chosen = {"words_weight": 0.6, "coverage": 1.0, "background": 0.2} | settings
    return fuse(
        words,
        cosines,
        words_weight=chosen["words_weight"],
        coverage=chosen["coverage"],
        background=chosen["background"],
    )


def test_a_passage_that_is_best_in_every_way_scores_one() -> None:
    assert scored({"a": 12.0}, {"a": 1.0}) == pytest.approx({"a": 1.0})


def test_both_legs_add_up_by_their_weight() -> None:
    scores = scored({"a": 10.0, "b": 5.0}, {"b": 0.6, "c": 0.4})

    assert scores == pytest.approx({"a": 0.6, "b": 0.3 + 0.4 * 0.5, "c": 0.4 * 0.25})


def test_cosines_below_the_background_count_for_nothing() -> None:
    assert scored({}, {"a": 0.1, "b": -0.9}) == {"a": 0.0, "b": 0.0}


def test_a_leg_that_was_not_asked_leaves_its_weight_to_the_other() -> None:
    assert scored({"a": 3.0}, None) == {"a": 1.0}
    assert scored(None, {"a": 1.0}) == {"a": 1.0}
    assert scored(None, None) == {}


def test_words_that_hold_little_of_the_query_weigh_less() -> None:
    assert scored({"a": 10.0}, {"b": 0.9}, coverage=0.25) == pytest.approx({"a": 0.6 * 0.5, "b": 0.4 * 0.875})


def test_the_rest_of_the_list_changes_no_score_of_the_vectors() -> None:
    few = scored({"a": 10.0}, {"b": 0.5})
    many = scored({"a": 10.0}, {"b": 0.5, "c": 0.45, "d": 0.21})

    assert few["b"] == many["b"]


@settings(deadline=None, max_examples=100)
@given(LEG, COSINES, SHARE, SHARE, st.floats(-1, 1))
def test_every_candidate_gets_a_score_between_zero_and_one(
    words: dict[int, float], cosines: dict[int, float], weight: float, coverage: float, background: float
) -> None:
    scores = fuse(words, cosines, words_weight=weight, coverage=coverage, background=background)

    assert scores.keys() == words.keys() | cosines.keys()
    assert all(0 <= score <= 1 + 1e-9 for score in scores.values())


@settings(deadline=None, max_examples=100)
@given(LEG, SHARE, SHARE)
def test_words_keep_their_order(words: dict[int, float], weight: float, coverage: float) -> None:
    scores = fuse(words, {}, words_weight=weight, coverage=coverage, background=0.0)

    assert all(scores[one] <= scores[other] for one in words for other in words if words[one] <= words[other])
