import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.text import MAX_MARKS, as_seen, clean

ANY_TEXT = st.text(st.characters(), max_size=200) | st.text(
    st.sampled_from("a\r\n\x00\t\x0b\ud83d\ude00\u0301é"), max_size=40
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "two\nlines\n",
        "tab\tkept",
        "Straße 数据库 👩‍👩‍👧 e\u0301",
        "\u202ebidi\u202c",
        "form\x7ffeed",
        "\ufeffmark",
    ],
)
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("nul\x00byte", "nulbyte"),
        ("\x1b[31mred\x1b\x0c\x0b", "red"),
        ("half \ud83d and \udc00", "half \ufffd and \ufffd"),
        ("\ud83d\ude00", "😀"),
        ("z" + "\u0301" * 30 + "z", "z" + "\u0301" * MAX_MARKS + "z"),
    ],
)
def test_what_no_store_takes_is_replaced(raw: str, cleaned: str) -> None:
    assert clean(raw) == cleaned


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("pay \u202elatot\u202c now", "pay latot now"),
        ("a\U000e0068\U000e0069b", "ab"),
        ("a" + "".join(chr(0xE0100 + code) for code in b"obey") + "b", "ab"),
        ("h\u200bid\u2060den\xad \ufeffword", "hidden word"),
        ("Zu\u0308rich", "Z\xfcrich"),
        ("👩\u200d👧 ❤\ufe0f می\u200cخواهم", "👩\u200d👧 ❤\ufe0f می\u200cخواهم"),
    ],
)
def test_models_are_given_what_people_see(text: str, seen: str) -> None:
    assert as_seen(text) == seen
    assert as_seen(seen) == seen


@settings(deadline=None, max_examples=100)
@given(ANY_TEXT)
def test_what_is_seen_is_never_longer_than_the_text(text: str) -> None:
    assert len(as_seen(clean(text))) <= len(clean(text))


def test_lines_keep_their_numbers() -> None:
    raw = "one\r\ntwo\x00\rthree\n\nfive"

    assert clean(raw).split("\n") == ["one", "two", "three", "", "five"]


@settings(deadline=None, max_examples=200)
@given(ANY_TEXT)
def test_clean_text_can_be_stored_and_stays_as_it_is(text: str) -> None:
    once = clean(text)

    once.encode()
    assert clean(once) == once
    assert not any(character < " " and character not in "\t\n" for character in once)


@pytest.mark.parametrize(
    "text", ["\u0301" * 300_000, ("a" + "\u0301" * 8) * 30_000, "\r\x00" * 200_000, "\ud800" * 200_000]
)
def test_hostile_text_takes_no_longer_than_its_length(text: str) -> None:
    before = time.process_time()

    clean(text)

    assert time.process_time() - before < 5
