"""Nothing from a file can act on a terminal."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind_cli.render.clean import block, flowing, one_line


def acts(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} or character in "\u202e\u2066"


@settings(deadline=None, max_examples=200)
@given(st.text())
def test_no_text_can_act_on_a_terminal(text: str) -> None:
    assert not any(map(acts, one_line(text)))
    assert not any(map(acts, flowing(text)))
    assert not any(map(acts, block(text).replace("\n", "").replace("\t", "")))


@settings(deadline=None, max_examples=100)
@given(st.text(st.characters(categories=["L", "N", "P", "S", "Mn"])))
def test_letters_digits_and_signs_stay_as_they_are(text: str) -> None:
    assert one_line(text) == text
    assert flowing(text) == text
    assert block(text) == text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb.txt", r"a\nb.txt"),
        ("\x1b[2Jx", r"\x1b[2Jx"),
        ("\x9b31m", r"\x9b31m"),
        ("[b]bold[/b]", "[b]bold[/b]"),
        ("gpj\u202etxt.exe", r"gpj\u202etxt.exe"),
        ("caf\udce9", r"caf\udce9"),
        ("naïve 文件 🎉", "naïve 文件 🎉"),
    ],
)
def test_a_name_is_shown_on_one_line(name: str, shown: str) -> None:
    assert one_line(name) == shown


def test_a_passage_flows_as_one_paragraph() -> None:
    assert flowing("one\n\n  two\tthree\u2028four") == "one two three four"


def test_a_block_keeps_its_lines() -> None:
    assert block("a\r\n\tb\x07\n") == "a\n\tb\\x07\n"
