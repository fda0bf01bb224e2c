import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.analysis import analyse_query
from openmind.domain.snippets import ELLIPSIS, WIDTH, snippet

FILLER = "Nothing of interest is said in this long sentence here. "
WORDS = ["rent", "Zürich", "数据库", " ", "\n", ". ", "👩\u200d👧", "e\u0301", "C++", "x" * 50]
TEXT = st.lists(st.sampled_from(WORDS), max_size=90).map("".join)


def marked(text: str, query: str, *, width: int = WIDTH) -> tuple[str, list[str]]:
    line, marks = snippet(text, analyse_query(query), width=width)
    return line, [line[start:end] for start, end in marks]


def test_a_short_passage_is_shown_whole_on_one_line() -> None:
    assert marked("The rent\n\n  is due.\n", "rent") == ("The rent is due.", ["rent"])


def test_the_stretch_with_most_of_the_query_is_shown() -> None:
    text = FILLER * 4 + "Rent is due. " + FILLER * 8 + "The rent of the flat is due in May. " + FILLER * 6

    line, marks = marked(text, "flat rent may")

    assert marks == ["rent", "flat", "May"]
    assert len(line) <= WIDTH
    assert line.startswith(ELLIPSIS)
    assert line.endswith(ELLIPSIS)


def test_the_first_of_equals_is_shown() -> None:
    text = "Rent one. " + FILLER * 10 + "Rent two. " + FILLER * 10

    assert marked(text, "rent")[0].startswith("Rent one.")


def test_a_phrase_counts_for_more_than_its_words_apart() -> None:
    text = "To be is to do, or not. " + FILLER * 8 + "It is not to be done. " + FILLER * 8

    assert marked(text, '"not to be" do')[1] == ["not to be"]


def test_a_snippet_begins_with_a_sentence_and_ends_with_a_word() -> None:
    line, _ = marked(FILLER * 6 + "Rent is due. " + FILLER * 6, "rent")

    assert line.startswith(f"{ELLIPSIS}Nothing")
    assert line.removesuffix(ELLIPSIS).split()[-1] in FILLER.split()


def test_no_snippet_begins_within_a_word() -> None:
    text = "The tawny owl hoots at dusk near the mill. " * 4

    shown = [snippet(text, analyse_query("tawny owl"), width=width)[0] for width in range(60, 120)]

    assert {each.removeprefix(ELLIPSIS).split(" ")[0] for each in shown} <= {"The", "tawny", "owl"}


def test_without_a_match_the_beginning_is_shown() -> None:
    line, marks = marked(FILLER * 20, "unheard")

    assert line.startswith("Nothing of interest")
    assert line.endswith(ELLIPSIS)
    assert marks == []


def test_the_end_of_a_passage_is_shown_without_an_ellipsis() -> None:
    line, marks = marked(FILLER * 20 + "Rent", "rent")

    assert line.endswith("Rent")
    assert marks == ["Rent"]


def test_text_without_blanks_is_cut_between_characters() -> None:
    line, marks = marked("👩‍👧" * 300 + "数据库" + "👩‍👧" * 300, "数据库")

    assert marks == ["数据库"]
    assert line.strip(ELLIPSIS).replace("👩‍👧", "") == "数据库"


@pytest.mark.parametrize(
    ("before", "match", "after", "query"),
    [
        ("合", "秘密", "同", "秘密"),
        ("ก", "ความลับ", "ข", "ความลับ"),
        ("x", "needle7needle", "y", "needle7needle"),
        ("0f", "deadbeef", "e1", "deadbeef"),
        ("abcXYZ", "getUserName", "defQ", "username"),
        ("a=1&", "needle=2&", "b=3&", "needle"),
        ("ß", "Straße", "ä", "strasse"),
        ("🎉", "会議", "🎊", "会議"),
    ],
)
def test_a_match_amid_a_line_without_blanks_is_in_the_middle_of_the_snippet(
    before: str, match: str, after: str, query: str
) -> None:
    line, marks = marked(before * 600 + match + after * 600, query)

    assert match in line
    assert len(marks) == 1
    assert marks[0] in match
    assert WIDTH // 4 < line.index(marks[0]) < WIDTH * 3 // 4


def test_a_long_word_beside_the_match_is_cut_rather_than_left_out() -> None:
    line, marks = marked("a" * 3_000 + " rent " + "c" * 3_000, "rent")

    assert marks == ["rent"]
    assert len(line) > WIDTH * 3 // 4


def test_a_match_longer_than_the_snippet_is_marked_as_far_as_it_shows() -> None:
    line, marks = marked(FILLER * 5, f'"{FILLER * 2}"', width=40)

    assert len(line) <= 40
    assert marks
    assert all(part in FILLER for part in marks)


@settings(deadline=None, max_examples=200)
@given(TEXT, st.sampled_from(["rent zurich", "数据库", "C++", '"rent"', "xxx", ""]), st.integers(1, 300))
def test_a_snippet_is_one_line_within_its_width_and_marks_lie_in_it(text: str, query: str, width: int) -> None:
    line, marks = snippet(text, analyse_query(query), width=width)

    assert len(line) <= max(width, 3)
    assert "\n" not in line
    assert line.strip(ELLIPSIS) in " ".join(text.split())
    borders = [border for mark in marks for border in mark]
    assert borders == sorted(set(borders))
    assert not borders or 0 <= borders[0] <= borders[-1] <= len(line)


@pytest.mark.parametrize("text", ["rent " * 20_000, "数据库" * 20_000, "x" * 100_000, "a-b " * 20_000])
def test_a_long_text_takes_no_longer_than_its_length(text: str) -> None:
    before = time.process_time()

    snippet(text, analyse_query('rent 数据库 "a b"'))

    assert time.process_time() - before < 15
