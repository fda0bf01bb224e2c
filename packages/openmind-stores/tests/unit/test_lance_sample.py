import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind_stores.lance.sample import SAMPLE_ROWS, TERMS_BY_HAND, Passages, as_needle, positions

TERMS = st.sampled_from(["a", "ab", "run", "c++", "数据", "naïve", "e-1042"])
PASSAGES = st.lists(st.lists(TERMS, max_size=6), min_size=1, max_size=12)


@settings(deadline=None, max_examples=60)
@given(PASSAGES, TERMS)
def test_the_share_is_that_of_passages_not_of_occurrences(passages: list[list[str]], term: str) -> None:
    found = Passages.of([" ".join(passage) for passage in passages]).share(as_needle(term))

    assert found == pytest.approx(sum(term in passage for passage in passages) / len(passages))


WORDS = ["index", "indexes", "indexing", "indices", "study", "studies", "cat", "catalogue", "c++", "größe", "数据", "a"]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=12))
def test_who_asks_for_many_terms_gets_the_same_shares(passages: list[list[str]]) -> None:
    sample = Passages.of([" ".join(passage) for passage in passages])
    needles = [as_needle(word) for word in WORDS]
    before = [sample.share(needle) for needle in needles]

    for _ in range(TERMS_BY_HAND):
        sample.share(needles[0])

    assert sample.text == b""
    assert [sample.share(needle) for needle in needles] == before


@pytest.mark.parametrize(
    ("term", "words", "found"),
    [
        ("index", "indexes indexing", True),
        ("indexing", "an index", True),
        ("studies", "to study", True),
        ("cat", "catalogue", False),
        ("c++", "c++17", False),
        ("e-1042", "e-10421", False),
        ("größe", "größer", False),
    ],
)
def test_longer_english_words_are_found_in_their_forms(term: str, words: str, found: bool) -> None:
    assert Passages.of([words]).share(as_needle(term)) == float(found)


def test_nothing_is_in_no_passages() -> None:
    assert Passages.of([]).share(as_needle("word")) == 0.0


def test_a_small_table_is_its_own_sample() -> None:
    assert list(positions(0)) == []
    assert list(positions(SAMPLE_ROWS)) == list(range(SAMPLE_ROWS))


@given(st.integers(SAMPLE_ROWS + 1, 5_000_000))
def test_a_sample_of_a_large_table_reaches_from_end_to_end(rows: int) -> None:
    chosen = list(positions(rows))

    assert len(chosen) == SAMPLE_ROWS
    assert chosen == sorted(set(chosen))
    assert chosen[0] == 0
    assert chosen[-1] == rows - 1
