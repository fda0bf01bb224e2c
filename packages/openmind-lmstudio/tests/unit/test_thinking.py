from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.answers import AnswerReasoning, AnswerText
from openmind_lmstudio.thinking import ThoughtFilter, without_thoughts

PLAIN = st.text(st.characters(blacklist_characters="<>"), min_size=1).filter(lambda text: text.strip() == text)


def told(text: str, places: list[int], thoughts: ThoughtFilter | None = None) -> tuple[str, str]:
    """Feed a text in pieces; return what was said and what was thought."""
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    thoughts = thoughts or ThoughtFilter()
    pieces = [piece for start, end in pairwise(edges) for piece in thoughts.feed(text[start:end])]
    pieces += thoughts.finish()
    said = "".join(piece.text for piece in pieces if isinstance(piece, AnswerText))
    return said, "".join(piece.text for piece in pieces if isinstance(piece, AnswerReasoning))


@settings(deadline=None, max_examples=200)
@given(
    thought=PLAIN,
    answer=PLAIN,
    tag=st.sampled_from(["think", "thinking"]),
    places=st.lists(st.integers(0, 500), max_size=10),
)
def test_a_block_of_thoughts_is_parted_wherever_the_pieces_are_cut(
    thought: str, answer: str, tag: str, places: list[int]
) -> None:
    text = f" \n<{tag}>{thought}</{tag}>\n\n{answer}"

    assert told(text, places) == (answer, thought)
    assert without_thoughts(text) == answer


@settings(deadline=None, max_examples=100)
@given(text=PLAIN, places=st.lists(st.integers(0, 500), max_size=10))
def test_a_text_without_thoughts_passes_unchanged(text: str, places: list[int]) -> None:
    assert told(text, places) == (text, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        ("<", "<"),
        ("<thin ice>", "<thin ice>"),
        ("<think>never ends", ""),
        ("<think>a</think>", ""),
        ("<think>a</think><think>b</think>c", "c"),
        ("Use <think> tags.", "Use <think> tags."),
        ("Use <think> and </think>.", "Use <think> and </think>."),
        ("a thought</think>\nthe answer", "the answer"),
        ("a </think", "a </think"),
    ],
)
def test_only_what_stands_in_front_is_a_thought(text: str, said: str) -> None:
    assert without_thoughts(text) == said


@settings(deadline=None, max_examples=50)
@given(thought=PLAIN, answer=PLAIN, places=st.lists(st.integers(0, 500), max_size=10))
def test_a_thought_without_an_opening_mark_is_parted_where_one_may_come(
    thought: str, answer: str, places: list[int]
) -> None:
    text = f"{thought}</think>\n\n{answer}"

    assert told(text, places, ThoughtFilter(guarded=True)) == (answer, thought)


def test_what_is_held_back_is_told_when_the_server_parts_thoughts_itself() -> None:
    thoughts = ThoughtFilter(guarded=True)

    assert thoughts.feed("The") == []
    assert thoughts.trust() == [AnswerText("The")]
    assert thoughts.feed(" well") == [AnswerText(" well")]


def test_words_come_at_once() -> None:
    thoughts = ThoughtFilter()

    assert thoughts.feed("The") == [AnswerText("The")]
    assert thoughts.feed(" well") == [AnswerText(" well")]
    assert thoughts.finish() == []
