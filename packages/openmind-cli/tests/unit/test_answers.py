"""Answers and their sources."""

import os
from pathlib import Path

import attrs
import pytest
from openmind.domain.answers import Answer, AnswerState
from openmind.domain.ids import FileId
from openmind_cli.render.answers import print_answer, shown_rows
from openmind_cli.render.links import file_link

FILE = FileId("file_0011223344556677")


def an_answer(**changes: object) -> Answer:
    values: dict[str, object] = {
        "question": "When?",
        "state": AnswerState.ANSWERED,
        "markdown": "In **March** [1].",
    }
    return Answer(**(values | changes))


def test_the_sources_follow_the_answer_as_links(make_hit, capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(an_answer(sources=(make_hit(),)), {FILE: "file:///notes/garden.md"})

    assert capsys.readouterr().out.splitlines() == [
        "In **March** [1].",
        "",
        "Sources",
        "[1] garden.md  Trees › lines 40–52",
        "    file:///notes/garden.md",
    ]


@pytest.mark.parametrize("state", [AnswerState.EVIDENCE_ONLY, AnswerState.NOT_IN_FILES, AnswerState.INCOMPLETE])
def test_what_is_not_an_answer_is_said_beside_it(state: AnswerState, capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(an_answer(state=state, markdown=""), {})

    out, err = capsys.readouterr()
    assert out == ""
    assert err.strip()


def test_a_failed_model_is_told_with_the_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    failed = an_answer(
        state=AnswerState.PROVIDER_FAILED, markdown="", error="LM Studio does not answer", error_hint="Start it."
    )

    print_answer(failed, {})

    assert capsys.readouterr().err.splitlines() == ["openmind: LM Studio does not answer", "  Start it."]


def test_an_answer_that_breaks_off_is_told_with_the_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    why = "LM Studio answered nonsense: The reply is not JSON"
    broken = an_answer(state=AnswerState.INCOMPLETE, markdown="The heron", error=why, error_hint="Update it.")

    print_answer(broken, {})

    assert capsys.readouterr().err.splitlines()[-2:] == [f"The answer is not complete: {why}", "  Update it."]


def test_what_failed_the_answer_and_the_search_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    why = "Found by words only: LM Studio does not answer. Start it."
    failed = an_answer(state=AnswerState.PROVIDER_FAILED, markdown="", error="LM Studio does not answer")

    print_answer(attrs.evolve(failed, degraded=True, degraded_reason=why), {})

    told = capsys.readouterr().err
    assert told.count("does not answer") == 1
    assert "for the same reason: it found by words only" in told


def test_a_terminal_shows_markdown_but_hides_no_link(terminal) -> None:
    with terminal() as stream:
        print_answer(an_answer(markdown="# Title\n\nSee [the bank](https://evil.example/x).\x1b]8;;evil\x07"), {})

    shown = stream.getvalue()
    assert "https://evil.example/x" in shown
    assert "\x1b]8;" not in shown


@pytest.mark.skipif(os.name == "nt", reason="names of bytes are those of a POSIX file system")
@pytest.mark.parametrize(
    ("path", "link"),
    [
        (b"/a/b.md", "file:///a/b.md"),
        ("/ä ö/50%#?.md".encode(), "file:///%C3%A4%20%C3%B6/50%25%23%3F.md"),
        (b"/a/\xff\n.md", "file:///a/%FF%0A.md"),
        (b"/a/[b].md", "file:///a/%5Bb%5D.md"),
    ],
)
def test_a_link_carries_every_byte_of_a_path(path: bytes, link: str) -> None:
    assert file_link(path) == link


@pytest.mark.skipif(os.name == "nt", reason="names of bytes are those of a POSIX file system")
def test_a_link_leads_back_to_the_file(tmp_path: Path) -> None:
    from urllib.parse import unquote_to_bytes, urlparse

    path = os.fsencode(tmp_path) + b"/\xff 100% #1?.md"

    assert unquote_to_bytes(urlparse(file_link(path)).path) == path


def test_a_sentence_that_a_file_breaks_into_lines_flows_but_lists_and_code_stay_as_they_are(make_hit) -> None:
    text = (
        "There were forty people and thirty bowls, and the lanterns\n"
        "were empty at nine.\n"
        "- bread: eight loaves\n"
        "- soup\n"
        "import this as that\n"
        "from there import everything"
    )

    rows = shown_rows(make_hit(text=text, snippet=" ".join(text.split())))

    assert rows == [
        "There were forty people and thirty bowls, and the lanterns were empty at nine.",
        "- bread: eight loaves",
        "- soup",
        "import this as that",
        "from there import everything",
    ]
