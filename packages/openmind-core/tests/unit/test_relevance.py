import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.relevance import AskedWord, Signals, coverage, holds_phrase, is_relevant, is_worth_showing, weigh
from openmind.domain.search import Explanation

WORD = st.text(alphabet="abcdef中文", min_size=1, max_size=9)


def asked(**rarities: float) -> tuple[AskedWord, ...]:
    return tuple(AskedWord(term=term, rarity=rarity) for term, rarity in rarities.items())


@pytest.mark.parametrize(
    ("signals", "relevant"),
    [
        (Signals(coverage=0.1, cosine=0.2), False),
        (Signals(coverage=0.1, cosine=0.45), True),
        (Signals(coverage=0.5, cosine=0.2), True),
        (Signals(coverage=0.0, cosine=0.0, exact=True), True),
        (Signals(coverage=0.1, cosine=None), False),
        (Signals(coverage=0.2, cosine=None), True),
        (Signals(coverage=0.2, cosine=0.1), False),
    ],
)
def test_nothing_is_relevant_when_all_witnesses_say_so(signals: Signals, relevant: bool) -> None:
    assert is_relevant(signals, cosine_floor=0.4) is relevant


def test_rare_words_weigh_more_and_words_of_every_passage_nothing() -> None:
    everywhere, common, rare, absent = weigh("abcd", [1.0, 0.3, 0.01, 0.0], passages=500)

    assert everywhere.rarity < 0.05 < common.rarity < rare.rarity < absent.rarity


def test_in_a_small_memory_words_differ_little() -> None:
    everywhere, absent = weigh("ab", [1.0, 0.0], passages=2)

    assert absent.rarity < 2.5 * everywhere.rarity


def test_coverage_is_the_share_of_rarity_that_a_passage_holds() -> None:
    terms = asked(bread=3.0, oven=1.0)

    assert coverage(terms, "how to bake bread") == 0.75
    assert coverage(terms, "bread in the oven") == 1.0
    assert coverage(terms, "a bicycle") == 0.0
    assert coverage((), "anything") == 0.0


@pytest.mark.parametrize(
    ("term", "words"),
    [
        ("recipes", "the recipe"),
        ("recipe", "recipes"),
        ("computing", "a computer"),
        ("warned", "warnings"),
        ("中文", "中文 文字"),
    ],
)
def test_other_forms_of_a_word_count_too(term: str, words: str) -> None:
    assert coverage(asked(**{term: 1.0}), words) == 1.0


@pytest.mark.parametrize(
    ("term", "words"), [("cat", "catalogue"), ("art", "part"), ("e-1042", "e-10421"), ("c++", "c")]
)
def test_short_and_exact_words_are_met_whole(term: str, words: str) -> None:
    assert coverage(asked(**{term: 1.0}), words) == 0.0


def test_a_phrase_stands_side_by_side() -> None:
    assert holds_phrase(("to", "be"), "or not to be")
    assert holds_phrase(("moving", "averages"), "the moving average filter")
    assert not holds_phrase(("be", "to"), "or not to be")
    assert not holds_phrase(("to", "be", "or", "not"), "to be or")
    assert holds_phrase((), "anything")


@settings(deadline=None, max_examples=100)
@given(st.lists(WORD, min_size=1, max_size=8), st.lists(WORD, max_size=30))
def test_coverage_is_a_share(terms: list[str], words: list[str]) -> None:
    weighed = weigh(terms, [0.1] * len(terms), passages=100)

    assert 0 <= coverage(weighed, " ".join(words)) <= 1
    assert coverage(weighed, " ".join([*words, *terms])) == pytest.approx(1)


@pytest.mark.parametrize(
    ("shown", "score", "explanation"),
    [
        (True, 0.8, Explanation()),
        (True, 0.2, Explanation()),
        (False, 0.19, Explanation(words_rank=2, coverage=0.14)),
        (True, 0.19, Explanation(words_rank=2, coverage=0.15)),
        (False, 0.19, Explanation(vector_rank=1, cosine=0.3)),
        (True, 0.19, Explanation(vector_rank=1, cosine=0.4)),
        (False, 0.19, Explanation(vector_rank=2, cosine=0.4)),
        (False, 0.0, Explanation()),
    ],
)
def test_a_hit_far_behind_the_best_is_shown_only_if_something_speaks_for_it(
    shown: bool, score: float, explanation: Explanation
) -> None:
    assert is_worth_showing(explanation, score=score, best=0.8, cosine_floor=0.4) is shown
