import time

import pytest
from openmind.domain.documents import Place
from openmind.domain.headings import headings_of, names_of, without_headings


@pytest.mark.parametrize(
    "text",
    [
        "## Before the frost\n\nDrain the pump.",
        "## Before the frost ##\nDrain the pump.",
        "Before the frost\n----------------\nDrain the pump.",
        "================\nBefore the frost\n================\n\nDrain the pump.",
        "* Before the frost\nDrain the pump.",
        "#+TITLE: The pump\n* TODO [#A] Before the frost   :autumn:\nDrain the pump.",
        "\n\nBefore\nthe frost\nDrain the pump.",
        "# The pump\n\n## Before the frost\n\nDrain the pump.",
        "THE PUMP\nDrain the pump.",
    ],
)
def test_headings_that_a_passage_is_shown_under_are_no_part_of_it(text: str) -> None:
    assert without_headings(text, ["The pump", "Before the frost"]).strip() == "Drain the pump."


@pytest.mark.parametrize(
    "text",
    [
        "Before the frost comes, drain the pump.",
        "## Another heading\nBefore the frost\n",
        "## Before the frost\n\n",
        "",
    ],
)
def test_everything_else_a_passage_opens_with_stays(text: str) -> None:
    assert without_headings(text, ["The pump", "Before the frost"]) == text


def test_a_heading_is_left_out_once() -> None:
    assert without_headings("# Rent\n\nRent\nis due.", ["Rent", "Rent"]).strip() == "Rent\nis due."


def test_marks_of_markup_in_a_heading_are_taken_as_they_stand() -> None:
    assert without_headings("# **C++** (*a* | b)?\nText", ["**C++** (*a* | b)?"]) == "Text"


def test_small_sections_that_became_one_passage_have_several_names() -> None:
    locator = (Place(kind="page", start=2, label="ii"), Place(kind="heading", label="Bread · Soup"))

    assert list(names_of("Supper", locator)) == ["Supper", "Bread", "Soup"]


@pytest.mark.parametrize("text", [" " * 1_200, "#" * 1_200, "# " * 600, "-" * 600 + "\n" + "=" * 600, "\n " * 600])
def test_no_passage_takes_long_to_look_at(text: str) -> None:
    began = time.process_time()

    assert without_headings(text, ["a", "a b " * 20, "x"]) == text

    assert time.process_time() - began < 5


def test_headings_of_documents_without_markup_go_wherever_they_stand_on_a_line() -> None:
    places = (Place(kind="heading", label="The farm"), Place(kind="heading", label="Bread · Soup"))
    text = "The farm\nOf food.\nBread\nEight loaves.\nSoup\nOf pumpkin; soup\nSoup is hot."
    bare = headings_of((*places, Place(kind="paragraphs", start=1, end=7)))

    assert without_headings(text, names_of("", places), bare=bare).split("\n") == [
        "Of food.", "Eight loaves.", "Of pumpkin; soup", "Soup is hot.",
    ]  # fmt: skip
    assert headings_of((*places, Place(kind="lines", start=1))) == frozenset(), "markup shows which line is a heading"
    assert without_headings("Bread\nBread", ["x"], bare=bare) == "Bread\nBread", "else nothing would be left"


def test_marked_headings_of_small_sections_that_became_one_passage_go_too() -> None:
    text = "# Bread\nEight loaves.\n\n## Soup\nOf pumpkin.\nSoup\nis hot.\n## Cider\nFrom plot 3."

    assert without_headings(text, ["Bread", "Soup", "Cider"]).split("\n") == [
        "Eight loaves.",
        "",
        "Of pumpkin.",
        "Soup",
        "is hot.",
        "From plot 3.",
    ]
