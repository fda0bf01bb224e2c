"""Search results, for a person and for `grep`."""

import attrs
import pytest
from openmind.domain.documents import Place
from openmind.domain.search import SearchResult, SearchState
from openmind_cli.render.hits import grep_line, marked, print_result


def test_a_hit_in_a_pipe_is_one_line_with_path_line_number_and_headings(make_hit) -> None:
    assert grep_line(make_hit()).plain == "/notes/garden.md:40: Trees: Prune the apple tree in March."


@pytest.mark.parametrize(
    ("snippet", "mark", "line"),
    [
        ("Plant one. Prune the apple tree. And wait.", "apple", 42),
        ("…the apple tree. And wait.", "wait", 43),
        ("Plant one. Prune", "Plant", 40),
        ("Shown otherwise: apple", "apple", 40),
        ("e", "e", 40),  # it stands there more than once
    ],
)
def test_a_hit_in_a_pipe_names_the_line_of_its_first_match(make_hit, snippet: str, mark: str, line: int) -> None:
    start = snippet.index(mark)
    hit = make_hit(
        text="Plant one.\n\nPrune  the apple tree.\nAnd wait.",
        snippet=snippet,
        marks=((start, start + len(mark)),),
        locator=(Place(kind="lines", start=40, end=43),),
    )

    assert grep_line(hit).plain == f"/notes/garden.md:{line}: {snippet}"
    elsewhere = attrs.evolve(hit, locator=(Place(kind="lines", start=40, end=50),))  # lines were put together
    assert grep_line(elsewhere).plain.startswith("/notes/garden.md:40:")


def test_where_nothing_was_found_it_comes_first_that_the_search_was_not_complete(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_result(SearchResult(query="q", state=SearchState.NOTHING_FOUND, degraded=True, degraded_reason="No index"))

    err = capsys.readouterr().err
    assert "other words" not in err
    assert err.index("not complete: No index") < err.index("Nothing was found in what could be searched")


def test_a_hit_without_headings_is_path_line_number_and_snippet(make_hit) -> None:
    hit = make_hit(locator=(Place(kind="lines", start=40, end=52),))

    assert grep_line(hit).plain == "/notes/garden.md:40: Prune the apple tree in March."


def test_a_hit_without_lines_has_its_place_in_words(make_hit) -> None:
    hit = make_hit(locator=(Place(kind="page", start=12), Place(kind="heading", label="Methods")))

    assert grep_line(hit).plain == "/notes/garden.md:p. 12 › Methods: Prune the apple tree in March."


def test_lines_of_a_part_are_told_as_such_and_not_as_lines_of_the_file(make_hit) -> None:
    hit = make_hit(locator=(Place(kind="attachment", start=2, label="a.txt"), Place(kind="lines", start=3, end=9)))

    assert grep_line(hit).plain == "/notes/garden.md:a.txt › lines 3–9: Prune the apple tree in March."


def test_a_hit_with_copies_is_one_line_that_names_them(make_hit, capsys: pytest.CaptureFixture[str]) -> None:
    print_result(SearchResult(query="q", state=SearchState.OK, hits=(make_hit(also_at=("/copy.md", "/b/c.md")),)))

    assert capsys.readouterr().out.splitlines() == [
        "/notes/garden.md:40: Trees: Prune the apple tree in March.  (also in /copy.md, /b/c.md)"
    ]


def test_a_hit_without_a_place_is_path_and_snippet(make_hit) -> None:
    assert grep_line(make_hit(locator=())).plain == "/notes/garden.md: Prune the apple tree in March."


def test_names_and_snippets_of_many_lines_stay_on_one(make_hit) -> None:
    shown = grep_line(make_hit(path="/a\nb.md", snippet="one\n\ttwo\x1b[31m")).plain

    assert shown == "/a\\nb.md:40: Trees: one two\\x1b[31m"


def test_explain_tells_both_ranks(make_hit) -> None:
    shown = grep_line(make_hit(), explain=True).plain

    assert shown.endswith("[score 0.75; words: rank 1 (4.500); meaning: not found; coverage 1.00]")


def test_the_marked_spans_make_up_the_snippet(make_hit) -> None:
    spans = list(marked(make_hit(marks=((0, 5), (10, 15)))))

    assert "".join(span.text for span in spans) == "Prune the apple tree in March."
    assert [span.text for span in spans if span.style] == ["Prune", "apple"]


@pytest.mark.parametrize("marks", [((10, 900),), ((-3, 4),), ((15, 10),), ((5, 9), (7, 12))])
def test_marks_that_make_no_sense_lose_no_text(make_hit, marks: tuple[tuple[int, int], ...]) -> None:
    assert "".join(span.text for span in marked(make_hit(marks=marks))) == "Prune the apple tree in March."


def test_a_result_in_a_pipe_holds_hits_only(make_hit, capsys: pytest.CaptureFixture[str]) -> None:
    result = SearchResult(
        query="q", state=SearchState.NOTHING_FOUND, hits=(make_hit(),), degraded=True, degraded_reason="words only"
    )

    print_result(result)

    out, err = capsys.readouterr()
    assert out.splitlines() == ["/notes/garden.md:40: Trees: Prune the apple tree in March."]
    assert "Nothing is clearly relevant" in err
    assert "words only" in err


@pytest.mark.parametrize("state", [SearchState.FILTERED_OUT, SearchState.NOTHING_FOUND, SearchState.UNREADABLE])
def test_every_empty_result_says_what_to_do(state: SearchState, capsys: pytest.CaptureFixture[str]) -> None:
    print_result(SearchResult(query="q", state=state))

    out, err = capsys.readouterr()
    assert out == ""
    assert err.strip().endswith(".")


def test_a_terminal_shows_place_score_and_the_words_marked(make_hit, terminal) -> None:
    with terminal() as stream:
        print_result(SearchResult(query="q", state=SearchState.OK, hits=(make_hit(also_at=("/copy.md",)),)))

    shown = stream.getvalue()
    assert "Garden · Trees › lines 40–52" in shown
    assert "score 0.75" in shown
    assert "\x1b[1;33mapple\x1b[0m" in shown
    assert "also in /copy.md" in shown


def test_a_terminal_obeys_nothing_that_stands_in_a_file(make_hit, terminal) -> None:
    hit = make_hit(path="/[b]x[/b]\x1b]0;evil\x07", snippet="\x1b[2J[red]x[/red] :smile:", marks=())

    with terminal() as stream:
        print_result(SearchResult(query="q", state=SearchState.OK, hits=(hit,)))

    shown = stream.getvalue()
    assert "\x1b]0;" not in shown
    assert "\x1b[2J" not in shown
    assert "/[b]x[/b]" in shown
    assert "[red]x[/red] :smile:" in shown


def test_a_long_path_is_not_broken_but_a_long_passage_wraps(make_hit, terminal) -> None:
    path = "/notes" + "/a folder with a long name" * 5 + "/garden.md"

    hit = make_hit(path=path, snippet="word " * 60, marks=())

    with terminal() as stream:
        print_result(SearchResult(query="q", state=SearchState.OK, hits=(hit,)))

    assert path in stream.getvalue()
    assert max(len(line) for line in stream.getvalue().splitlines() if "word" in line) <= 80
