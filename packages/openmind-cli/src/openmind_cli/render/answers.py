"""Answers, and the files they rest on."""

import sys
from collections.abc import Iterator, Mapping, Sequence

from openmind.domain.answers import Answer, AnswerState
from openmind.domain.ids import FileId
from openmind.domain.location_text import location_text, title_and_location
from openmind.domain.search import SearchHit
from openmind.domain.sentences import as_sentence

from openmind_cli.render.clean import block, one_line
from openmind_cli.render.lines import BLANK, Line, Span, console_on, line, note, print_lines
from openmind_cli.terminal import is_terminal

ADVICE = {
    AnswerState.EVIDENCE_ONLY: "No chat model is set, so these are the passages that fit best.",
    AnswerState.NOT_IN_FILES: "Try other words, or `openmind search` for passages that come near.",
}

LEAST_WORDS = 9
"""Of a line that may have been broken for its length. Lines of code, lists and verse have fewer, mostly."""


def print_answer(answer: Answer, links: Mapping[FileId, str]) -> None:
    """Print an answer, then its sources: number, path, place and a link.

    Args:
        answer: the answer.
        links: the `file://` link of each file among the sources.
    """
    print_text(answer)
    print_rest(answer, links)


def print_text(answer: Answer) -> None:
    """Print what an answer says: the passages themselves where no model made anything of them."""
    text = block(answer.markdown).strip()
    if answer.state in {AnswerState.EVIDENCE_ONLY, AnswerState.PROVIDER_FAILED} and answer.sources:
        print_lines(excerpt_lines(answer.sources))
    elif text:
        print_markdown(text)


def excerpt_lines(hits: Sequence[SearchHit]) -> Iterator[Line]:
    """Numbered excerpts, line by line as they stand in the file, so that lists and tables stay what they are."""
    for number, hit in enumerate(hits, start=1):
        heading = one_line(title_and_location(hit))
        yield line(Span(f"[{number}] ", "bold"), Span(heading, "green"))
        for row in shown_rows(hit):
            yield line(one_line(row.expandtabs(4)), indent=4, wraps=True)
        if number < len(hits):
            yield BLANK


def shown_rows(hit: SearchHit) -> list[str]:
    """The lines of the passage that the snippet touches; the snippet itself where they are much longer."""
    core = hit.snippet.strip("…")
    at = " ".join(hit.text.split()).find(core)
    rows: list[str] = []
    passed, before = 0, ""
    for row in hit.text.splitlines():
        length = len(" ".join(row.split()))
        if passed + length > at and passed < at + len(core) and length:
            if rows and _goes_on(before, row):
                rows[-1] += f" {row.strip()}"
            else:
                rows.append(row.rstrip())
        passed, before = passed + (length + 1 if length else 0), row
    return rows if at >= 0 and rows and sum(map(len, rows)) <= 2 * len(core) + 80 else [hit.snippet]


def _goes_on(before: str, row: str) -> bool:
    """Whether a line looks like the rest of a sentence that was broken at the width of a page, not of this terminal."""
    return len(before.split()) >= LEAST_WORDS and row[:1].islower()


def print_sources(sources: Sequence[SearchHit], links: Mapping[FileId, str]) -> None:
    """Print what an answer rests on."""
    if sources:
        print_lines([BLANK, line(Span("Sources", "bold"))])
    for number, hit in enumerate(sources, start=1):
        place = one_line(location_text(hit.locator))
        print_lines(
            [
                line(
                    Span(f"[{number}] ", "dim"),
                    Span(one_line(hit.file_name), "bold cyan"),
                    Span(f"  {place}" if place else "", "green"),
                ),
                line(links.get(hit.file_id, one_line(hit.path)), indent=4),
            ]
        )


def print_rest(answer: Answer, links: Mapping[FileId, str]) -> None:
    """Print what follows the text of an answer."""
    print_sources(answer.sources, links)
    if answer.state in ADVICE:
        note(ADVICE[answer.state])
    if answer.state is AnswerState.PROVIDER_FAILED:
        note(f"openmind: {one_line(answer.error) or 'the model gave no answer'}")
    if answer.state is AnswerState.INCOMPLETE:
        note(f"The answer is not complete: {one_line(answer.error) or 'the model stopped early'}")
    if answer.error_hint:
        note(f"  {one_line(answer.error_hint)}")
    if answer.unknown_citations:
        numbers = ", ".join(f"[{number}]" for number in answer.unknown_citations)
        note(f"The model also cited {numbers}, which is none of the sources.")
    failure = as_sentence(answer.error) if answer.state is AnswerState.PROVIDER_FAILED else ""
    if answer.degraded and failure and failure in answer.degraded_reason:
        note("The search was not complete for the same reason: it found by words only.")
    elif answer.degraded:
        note(f"The search was not complete: {one_line(answer.degraded_reason) or 'a part of the index is missing'}")


def print_markdown(text: str) -> None:
    """Print Markdown, set out for reading at a terminal."""
    if not is_terminal():
        sys.stdout.write(text + "\n")
        return
    from rich.markdown import Markdown

    # A model's text must not hide where a link leads: links are shown as they are written.
    console_on(sys.stdout).print(Markdown(text, hyperlinks=False))
