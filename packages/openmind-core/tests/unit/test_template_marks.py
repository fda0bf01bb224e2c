import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.domain.template_marks import BROKEN, without_template_marks

MARKS = [
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>", "<|begin_of_text|>",
    "<s>", "</s>", "<bos>", "<eos>", "<pad>", "<unk>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>",
    "<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<|turn>", "<turn|>", "<|channel|>", "<|message|>",
    "<think>", "</think>", "<THINKING>", "<seed:think>", "<tool_call>", "</tool_response>", "<|user|>", "<|system|>",
    "<｜Assistant｜>", "<｜end▁of▁sentence｜>", "[gMASK]", "<sop>", "[|assistant|]", "[SYSTEM_PROMPT]", "[TOOL_CALLS]",
    "[THINK]", "]~b]", "]~!b[", "[e~[", "<extra_id_1>", "<SPECIAL_12>", "<unused99>", "<reserved_106>", "<0x0A>",
    "<image>", "<__media__>", "<end_of_utterance>", "<|START_OF_TURN_TOKEN|>", "<fim_prefix>",
]  # fmt: skip


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_of_a_chat_template_is_broken_up(mark: str) -> None:
    broken = without_template_marks(f"before {mark} after")

    assert mark not in broken
    assert BROKEN in broken
    assert len(broken) == len(f"before {mark} after")


@pytest.mark.parametrize(
    "text",
    [
        "if a < b | c > d",
        "xs |> List.map f <| y",
        "<p class='s'>a</p> <b>bold</b> <div>",
        "Vec<String> and map<int, str>",
        "see [1] and [2][3], [INSTALL], [x|y]",
        "a <- b, a << 2, a <= b",
        "<https://example.org> and <ada@example.org>",
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert without_template_marks(text) == text


@settings(max_examples=50, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(MARKS), st.sampled_from("<>|[]/s "), st.text(max_size=5)), max_size=12))
def test_no_mark_is_left_or_made_however_they_are_put_together(parts: list[str]) -> None:
    text = "".join(parts)

    broken = without_template_marks(text)

    assert not [mark for mark in MARKS if mark in broken]
    assert len(broken) == len(text)
    assert without_template_marks(broken) == broken
    assert all(new in (old, BROKEN) for old, new in zip(text, broken, strict=True))
