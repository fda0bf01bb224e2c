"""Search results: passages with their place, for a person or for `grep`."""

import re
from collections.abc import Iterable, Iterator

from openmind.domain.documents import Place
from openmind.domain.location_text import lines_of_file, location_text, title_and_location
from openmind.domain.search import Explanation, SearchHit, SearchResult, SearchState
from openmind.domain.snippets import ELLIPSIS

from openmind_cli.render.clean import flowing, one_line
from openmind_cli.render.lines import BLANK, Line, Span, line, note, print_lines
from openmind_cli.terminal import is_terminal

MARK = "bold yellow"

ADVICE = {
    SearchState.FILTERED_OUT: "There are passages that match, but none within your filters. Widen or drop a filter.",
    SearchState.NOTHING_FOUND: "Nothing found. Try other words, or fewer.",
    SearchState.UNREADABLE: "Nothing could be searched, which says nothing about what the files hold.",
}
WEAK = {
    SearchState.FILTERED_OUT: "There are passages that match, but none within your filters. The nearest within them:",
    SearchState.NOTHING_FOUND: "Nothing is clearly relevant. The nearest passages are:",
}


def print_result(result: SearchResult, *, explain: bool = False) -> None:
    """Print a search result; where nothing was found, that the search was not complete comes first."""
    incomplete = f"This search was not complete: {one_line(result.degraded_reason) or 'a part of the index is missing'}"
    if result.degraded and not result.hits:
        note(incomplete)
    if result.state in WEAK and result.hits:
        note(WEAK[result.state])
    elif result.state is SearchState.NOTHING_FOUND and result.degraded:
        note("Nothing was found in what could be searched.")
    elif result.state in ADVICE:
        note(ADVICE[result.state])
    print_hits(result.hits, explain=explain)
    if result.degraded and result.hits:
        note(incomplete)


def print_hits(hits: Iterable[SearchHit], *, explain: bool = False) -> None:
    """Print hits as blocks at a terminal, one a line anywhere else."""
    if is_terminal():
        for number, hit in enumerate(hits, start=1):
            print_lines(_block(number, hit, explain=explain))
    else:
        print_lines(grep_line(hit, explain=explain) for hit in hits)


def grep_line(hit: SearchHit, *, explain: bool = False) -> Line:
    """One hit on one line, `path:40: heading: snippet`, behind which other files with the same passage are named.

    The number is the line of the first match in the snippet.
    """
    lines = lines_of_file(hit.locator)
    first = _line_of_match(hit, lines) if lines else ""
    where = one_line(location_text(hit.locator[:-1] if lines else hit.locator))
    parts = [one_line(hit.path), first, f" {where}" if first and where else where, _shown(hit)]
    copies = f"  ({_also_in(hit)})" if hit.also_at else ""
    told = f"  [{_score(hit)}; {explanation_text(hit.explanation)}]" if explain else ""
    return line(":".join(part for part in parts if part) + copies + told)


def marked(hit: SearchHit) -> Iterator[Span]:
    """The snippet as one paragraph, with the words that match marked."""
    position = 0
    for start, end in hit.marks:
        if position <= start < end <= len(hit.snippet):
            yield Span(flowing(hit.snippet[position:start]))
            yield Span(flowing(hit.snippet[start:end]), MARK)
            position = end
    yield Span(flowing(hit.snippet[position:]))


def explanation_text(explanation: Explanation) -> str:
    """Why a hit stands where it does, in one line."""
    words = _rank("words", explanation.words_rank, explanation.words_score)
    vectors = _rank("meaning", explanation.vector_rank, explanation.cosine)
    return f"{words}; {vectors}; coverage {explanation.coverage:.2f}"


def _rank(leg: str, rank: int | None, score: float | None) -> str:
    if rank is None:
        return f"{leg}: not found"
    return f"{leg}: rank {rank}" + (f" ({score:.3f})" if score is not None else "")


def _block(number: int, hit: SearchHit, *, explain: bool) -> Iterator[Line]:
    where = one_line(title_and_location(hit))
    yield line(Span(f"{number}. ", "dim"), Span(one_line(hit.path), "bold cyan"))
    yield line(Span(f"{where}  " if where else "", "green"), Span(_score(hit), "dim"), indent=3)
    yield line(*marked(hit), indent=3, wraps=True)
    if hit.also_at:
        yield line(Span(_also_in(hit), "dim"), indent=3)
    if explain:
        yield line(Span(explanation_text(hit.explanation), "dim"), indent=3)
    yield BLANK


def _also_in(hit: SearchHit) -> str:
    return "also in " + ", ".join(one_line(path) for path in hit.also_at)


def _shown(hit: SearchHit) -> str:
    return f" {flowing(hit.snippet).strip()}"


def _line_of_match(hit: SearchHit, lines: Place) -> str:
    """The line of the first match that is shown; the first of the passage where that cannot be told exactly.

    A snippet is a stretch of the passage on one line. Where it stands but once in the passage, and each line of that is
    a line of the file, it tells where the match is.
    """
    assert lines.start is not None
    shown = hit.snippet.removeprefix(ELLIPSIS).removesuffix(ELLIPSIS)
    words = [(found.group(), hit.text.count("\n", 0, found.start())) for found in re.finditer(r"\S+", hit.text)]
    flat = " ".join(word for word, _ in words)
    at = flat.find(shown)
    whole_lines = lines.end is not None and lines.end - lines.start == hit.text.count("\n")
    if not hit.marks or not whole_lines or at < 0 or flat.find(shown, at + 1) >= 0:
        return str(lines.start)
    mark = at + hit.marks[0][0] - (len(ELLIPSIS) if hit.snippet.startswith(ELLIPSIS) else 0)
    return str(lines.start + words[flat.count(" ", 0, mark)][1])


def _score(hit: SearchHit) -> str:
    return f"score {hit.score:.2f}"
