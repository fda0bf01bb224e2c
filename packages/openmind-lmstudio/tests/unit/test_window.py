from hypothesis import given, settings
from hypothesis import strategies as st
from openmind_lmstudio.window import CHARS_PER_TOKEN, output_tokens, passage_chars, prompt_chars, surely_too_long

WINDOWS = st.integers(1_024, 1_000_000)


@settings(deadline=None, max_examples=100)
@given(WINDOWS)
def test_the_greatest_prompt_leaves_room_for_the_answer(window: int) -> None:
    prompt = prompt_chars(window)

    assert prompt > 0
    assert prompt / CHARS_PER_TOKEN + output_tokens(window, prompt) <= window


@settings(deadline=None, max_examples=100)
@given(WINDOWS, st.integers(0, 10_000_000))
def test_an_answer_always_has_some_room(window: int, prompt: int) -> None:
    assert min(2_048, window // 4) <= output_tokens(window, prompt) <= 8_192


@settings(deadline=None, max_examples=100)
@given(WINDOWS)
def test_what_fits_is_never_surely_too_long(window: int) -> None:
    assert not surely_too_long(window, prompt_chars(window))
    assert surely_too_long(window, window * 100)


def test_a_passage_of_usual_size_fits_in_a_window_of_usual_size() -> None:
    assert passage_chars(2_048) > 1_200
    assert passage_chars(512) > 900


def test_a_tiny_window_leaves_nothing() -> None:
    assert prompt_chars(64) == 0
