import pytest
from hypothesis import given
from hypothesis import strategies as st
from openmind_extractors.text_quality import (
    Usability,
    has_lost_spaces,
    is_letter_spaced,
    is_right_to_left,
    unusual_share,
    usability,
    usable,
)

PROSE = "The committee met on Tuesday and agreed that the bridge needs a new deck before the winter. " * 3


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("", Usability.EMPTY),
        (" \n\t ", Usability.EMPTY),
        ("Page 12", Usability.SPARSE),
        (PROSE, Usability.OK),
        ("Die Straße wird größer. " * 20, Usability.OK),
        ("今天天气很好我们去公园散步" * 20, Usability.OK),
        ("1,204.50 3,881.00 17.25\n" * 30, Usability.OK),
        ("Introduction" + "." * 120 + "7\n" + "Methods" + "." * 120 + "12\n" + PROSE, Usability.OK),
        ("\x01\x02\x03\x04 \x05\x06abc" * 30, Usability.UNUSUAL),
        ("\ue001\ue002\ue003 \ue010a" * 40, Usability.UNUSUAL),
        ("!\"#$%&'()*+,-./ :;<=>?@" * 20, Usability.UNUSUAL),
        ("thecommitteemetontuesdayandagreedthatthebridge " * 10, Usability.GLUED),
        ("Siehe https://example.com/" + "a" * 60 + " " + PROSE, Usability.OK),
    ],
)
def test_a_page_is_judged_by_its_text(text: str, verdict: Usability) -> None:
    assert usability(text, min_chars=80) is verdict
    assert usable(text, min_chars=80) is (verdict is Usability.OK)


def test_how_much_is_too_little_is_configurable() -> None:
    assert usable("Page 12", min_chars=0)
    assert not usable(PROSE, min_chars=10_000)


def test_torn_words_are_recognised() -> None:
    assert is_letter_spaced("H e re i s s o m e t e x t t h a t i s t o r n a p a r t")
    assert not is_letter_spaced(PROSE)
    assert not is_letter_spaced("a b c")
    assert not is_letter_spaced("1 2 3 4 5 6 7 8 9 10 11 12 13")


def test_right_to_left_scripts_are_recognised() -> None:
    assert is_right_to_left("مرحبا بالعالم، هذا نص")
    assert is_right_to_left("שלום עולם")
    assert not is_right_to_left(PROSE)
    assert not is_right_to_left("")


def test_lost_spaces_are_noticed_only_in_scripts_that_have_them() -> None:
    assert has_lost_spaces("thecommitteemetontuesdayandagreed " * 3)
    assert not has_lost_spaces(PROSE)
    assert not has_lost_spaces("今天天气很好我们去公园散步" * 20)


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    assert usability(text, min_chars=80) in Usability
    assert 0 <= unusual_share(text) <= 1


@given(st.text(st.characters(max_codepoint=127)))
def test_the_fast_way_for_ascii_counts_the_same(text: str) -> None:
    with_accent = text + "é"

    assert round(unusual_share(text) * len(text)) == round(unusual_share(with_accent) * len(with_accent))
