import pytest
from openmind_extractors.page_text import RunningHeads, mend


def test_words_divided_at_the_end_of_a_line_are_joined() -> None:
    assert mend("an exam\x02\r\nple") == "an example"
    assert mend("an exam\x02ple") == "an example"
    assert mend("an exam-\r\nple of") == "an example of"
    assert mend("größ-\nte") == "größte"


def test_a_hyphen_that_belongs_there_stays() -> None:
    assert mend("Anglo\x02Saxon") == "Anglo-Saxon"
    assert mend("1990-\n1995") == "1990-\n1995"
    assert mend("well-known") == "well-known"


@pytest.mark.parametrize("end", ["-\r\n", "\x02", "\ufffe\r\n"])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("to jean|pierre@example.org.", "to jean-pierre@example.org."),
        ("https://example.org/long|path/file", "https://example.org/long-path/file"),
        ("www.long|path.example", "www.long-path.example"),
        ("der Ein|und Ausgang", "der Ein- und Ausgang"),
        ("pre|and post-war", "pre- and post-war"),
        ("send an e|mail", "send an e-mail"),
        ("a well|known method", "a well-\nknown method"),
        ("a long|term plan", "a long-\nterm plan"),
        ("the state-of|the-art", "the state-of-\nthe-art"),
        ("his rendez|vous", "his rendez-\nvous"),
        ("an exam|ple and an|other", "an example and another"),
    ],
)
def test_what_speaks_against_a_division_keeps_the_hyphen_and_a_doubt_the_end_of_the_line(
    text: str, shown: str, end: str
) -> None:
    assert mend(text.replace("|", end)) == shown


def test_a_soft_hyphen_divides_whatever_stands_around_it() -> None:
    assert mend("self\u00ad\ncontrol and sil\u00adver") == "selfcontrol and silver"


def test_ligatures_and_letter_shapes_are_expanded() -> None:
    assert mend("e\ufb03cient \ufb01sh") == "efficient fish"
    assert mend("\ufee3\ufeae\ufea3\ufe92\ufe8e") == "مرحبا"
    assert mend("x² and Ⅳ") == "x² and Ⅳ"


def test_control_characters_go() -> None:
    assert mend("\x00a\x07b\x1f\ufffe") == "ab-"[:2] + "-"


def pages_with(head: str, foot: str = "end {}", count: int = 8) -> list[str]:
    body = "\n".join(f"line {letter} of page {{}}" for letter in "abcdef")
    return [f"{head}\n{body}\n{foot}".replace("{}", str(number)) for number in range(1, count + 1)]


def stripped(pages: list[str]) -> list[str]:
    heads = RunningHeads()
    heads.learn(pages)
    return [heads.strip(page) for page in pages]


def test_running_heads_and_page_numbers_go_but_for_the_first_head() -> None:
    first, *others = stripped(pages_with("Annual report 2024", "Page {} of 8"))

    assert first.startswith("Annual report 2024\nline a of page 1\n")
    assert all(page.startswith("line a of page") and page.endswith(str(n)) for n, page in enumerate(others, start=2))


def test_lines_that_differ_in_a_number_stay() -> None:
    assert all(f"Sample {n}" in page for n, page in enumerate(stripped(pages_with("Sample {}")), start=1))


def test_heads_of_left_and_right_pages_are_both_recognised() -> None:
    left, right = pages_with("Left head", "x{}"), pages_with("Right head", "y{}")

    pages = stripped([page for pair in zip(left, right, strict=True) for page in pair])

    assert sum("head" in page for page in pages) == 2


def test_pages_of_few_lines_are_left_alone() -> None:
    pages = ["Title\none\ntwo"] * 9

    assert stripped(pages) == pages


def test_a_short_document_has_no_running_heads() -> None:
    pages = ["Title\none", "Title\ntwo"]
    heads = RunningHeads()
    heads.learn(pages)

    assert [heads.strip(page) for page in pages] == pages
