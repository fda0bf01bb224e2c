import pytest
from hypothesis import given
from hypothesis import strategies as st
from openmind_extractors.text_quality import Measures, Usability, has_lost_spaces, usability, usable

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
    assert Measures.of("H e re i s s o m e t e x t t h a t i s t o r n a p a r t").is_letter_spaced
    assert not Measures.of(PROSE).is_letter_spaced
    assert not Measures.of("a b c").is_letter_spaced
    assert not Measures.of("1 2 3 4 5 6 7 8 9 10 11 12 13").is_letter_spaced


def test_right_to_left_scripts_are_recognised() -> None:
    assert Measures.of("مرحبا بالعالم، هذا نص").is_right_to_left
    assert Measures.of("שלום עולם").is_right_to_left
    assert not Measures.of(PROSE).is_right_to_left
    assert not Measures.of("").is_right_to_left


def test_lost_spaces_are_noticed_only_in_scripts_that_have_them() -> None:
    assert has_lost_spaces("thecommitteemetontuesdayandagreed " * 3)
    assert not has_lost_spaces(PROSE)
    assert not has_lost_spaces("今天天气很好我们去公园散步" * 20)


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    assert usability(text, min_chars=80) in Usability
    assert 0 <= Measures.of(text).unusual_share <= 1


@given(st.text())
def test_the_fast_way_of_counting_counts_what_is_there(text: str) -> None:
    unusual = sum(
        char in "\ufffd\uffff\ufffe" or "\ue000" <= char <= "\uf8ff" or "\ufdd0" <= char <= "\ufdef" for char in text
    )
    unusual += sum(char < "\x09" or "\x0e" <= char <= "\x1f" or "\x7f" <= char <= "\x9f" for char in text)

    assert round(Measures.of(text).unusual_share * len(text)) == unusual
