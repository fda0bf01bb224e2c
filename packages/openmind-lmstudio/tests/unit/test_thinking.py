from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.answers import AnswerReasoning, AnswerRestarted, AnswerText
from openmind_lmstudio.thinking import ThoughtFilter, without_thoughts

# No mark can begin, and none can stand in code.
PLAIN = st.text(st.characters(exclude_characters="<>`~"), min_size=1).filter(lambda text: text.strip() == text)


def told(text: str, places: list[int], thoughts: ThoughtFilter | None = None) -> tuple[str, str]:
    """Feed a text in pieces; return what was said and what was thought."""
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    thoughts = thoughts or ThoughtFilter()
    pieces = [piece for start, end in pairwise(edges) for piece in thoughts.feed(text[start:end])]
    pieces += thoughts.finish()
    restarts = [at for at, piece in enumerate(pieces, 1) if isinstance(piece, AnswerRestarted)]
    answer = pieces[restarts[-1] :] if restarts else pieces
    said = "".join(piece.text for piece in answer if isinstance(piece, AnswerText))
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
        ("Use `<think>` and `</think>`.", "Use `<think>` and `</think>`."),
        ("Put this:\n```\n<think>a</think>\n```\n", "Put this:\n```\n<think>a</think>\n```\n"),
        ("At 09:15 [1]. <think>late</think>Ok.", "At 09:15 [1]. Ok."),
        ("One.\n\n<think>late</think>\n\nTwo. <thinking>later</thinking>", "One.\n\n\n\nTwo. "),
        ("a</think>b<think>c</think>d", "bd"),
        ("a thought</think>\nthe answer", "the answer"),
        ("a </think", "a </think"),
        ("The ` key is it.</think>\nPress it.", "Press it."),
        ("The ` key is it.</think>", ""),
        ("```\nnever closed</think>\nIt is dry.", "It is dry."),
        ("It's ``</think>`` that ends one.", "It's ``</think>`` that ends one."),
        ("Say `</think>`, or ` </think>\nIt is dry.", "It is dry."),
    ],
)
def test_a_block_of_thoughts_is_left_out_wherever_it_stands_but_in_code(text: str, said: str) -> None:
    assert without_thoughts(text) == said


@settings(deadline=None, max_examples=50)
@given(thought=PLAIN, answer=PLAIN, places=st.lists(st.integers(0, 500), max_size=10))
def test_a_thought_without_an_opening_mark_is_parted_where_one_may_come(
    thought: str, answer: str, places: list[int]
) -> None:
    text = f"{thought}</think>\n\n{answer}"

    assert told(text, places, ThoughtFilter(guarded=True)) == (answer, thought)


@settings(deadline=None, max_examples=50)
@given(
    parts=st.lists(
        st.sampled_from(["<think>", "</think>", "</thinking>", "a ", "<", "`", "``", "    ", "\n", "```\n", "word"])
    ),
    places=st.lists(st.integers(0, 200), max_size=10),
)
def test_what_streams_is_in_the_end_what_comes_whole(parts: list[str], places: list[int]) -> None:
    text = "".join(parts)

    assert told(text, places)[0] == told(text, places, ThoughtFilter(guarded=True))[0] == without_thoughts(text)


def test_a_thought_that_only_ends_takes_back_what_was_told() -> None:
    thoughts = ThoughtFilter()

    assert thoughts.feed("Let me see. ") == [AnswerText("Let me see. ")]
    assert thoughts.feed("</thi") == []
    assert thoughts.feed("nk>\nIt is dry.") == [
        AnswerRestarted(),
        AnswerReasoning("Let me see. "),
        AnswerText("It is dry."),
    ]


def test_a_mark_that_may_be_in_code_waits_for_the_end_of_its_line() -> None:
    thoughts = ThoughtFilter()

    assert thoughts.feed("Press ` or ") == [AnswerText("Press ` or ")]
    assert thoughts.feed("</think>") == []
    assert thoughts.feed(" so") == []
    assert thoughts.feed("`. Then") == [AnswerText("</think> so`. Then")]


def test_what_broke_off_within_a_late_block_stays_a_thought() -> None:
    thoughts = ThoughtFilter()

    assert thoughts.feed("It is dry. <think>secret") == [AnswerText("It is dry. ")]
    assert thoughts.finish(whole=False) == [AnswerReasoning("secret")]


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
