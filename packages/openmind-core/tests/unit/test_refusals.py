import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.refusals import RefusalGate, refuses, without_refusals


@pytest.mark.parametrize(
    "text", ["NOT_IN_FILES", " **NOT_IN_FILES**.", "`NOT_IN_FILES`", "Not in files.", "NOT_IN_FILES: nothing is said."]
)
def test_the_word_is_a_refusal_in_many_dresses(text: str) -> None:
    assert refuses(text)


@pytest.mark.parametrize(
    "text", ["Not in files, but in the database [1].", "Nothing changed [1].", "It says NOT_IN_FILES [1].", ""]
)
def test_an_answer_is_none(text: str) -> None:
    assert not refuses(text)


def test_the_word_is_taken_out_of_an_answer() -> None:
    assert without_refusals("The year is 1990 [1]. The month: NOT_IN_FILES.") == "The year is 1990 [1]. The month:"


def through(pieces: list[str]) -> list[str]:
    gate = RefusalGate()
    return [*(gate.let(piece) for piece in pieces), gate.rest()]


def test_a_streamed_refusal_is_never_shown() -> None:
    assert "".join(through(["NO", "T_IN", "_FILES", ". The excerpts", " say nothing"])) == ""


def test_an_answer_that_begins_alike_is_shown_as_soon_as_it_differs() -> None:
    assert through(["Not", " in", " the", " files"]) == ["", "", "Not in the", " files", ""]
    assert through(["No"]) == ["", "No"]


@settings(deadline=None, max_examples=200)
@given(st.lists(st.text(alphabet="NOT_INFILES* x.", max_size=5), max_size=8))
def test_the_gate_shows_all_of_an_answer_and_nothing_of_a_refusal(pieces: list[str]) -> None:
    text = "".join(pieces)

    shown = "".join(through(pieces))

    assert shown in ("", text) if refuses(text) else shown == text
