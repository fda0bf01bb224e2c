"""Marks of chat templates: ends of turns, roles and thoughts to a server, also where text only quotes them.

A server writes a prompt into the model's template as text and then reads the whole of it for such marks. A fence made
of words does not hold against them: behind `<|im_end|>` in a document the rest is a turn of its own.
"""

import re

BROKEN = "‹"
"""Stands for the first character of a mark: what is quoted stays legible and as long as it was."""

_BARRED = r"<(?=[|｜]\S)|<(?=[^<>|｜\s]{1,64}[|｜]>)|\[(?=\|[^\]\n]{1,64}\|\])"
"""`<|im_end|>`, `<｜Assistant｜>`, `<|channel>`, `<turn|>`, `[|assistant|]`, whatever the name is."""
_TAGS = (
    "s",
    "think(?:ing)?",
    "thought",
    "reasoning",
    "seed:[a-z_]+",
    "bos",
    "eos",
    "eod",
    "eot",
    "pad",
    "unk",
    "mask",
    "cls",
    "sep",
    "sop",
    "eop",
    "image",
    "img",
    "audio",
    "video",
    "__[a-z]+__",
    "(?:start|end|begin)_of_[a-z_]+",
    "[a-z_]+_(?:start|end|token)",
    "fake_token_[a-z_]+",
    "global-img",
    "row_[0-9]+_col_[0-9]+",
    "tool_[a-z]+",
    "function_[a-z]+",
    "fim_[a-z]+",
    "(?:unused|reserved_|extra_id_|special_|s_|0x)[0-9a-f_]+",
    "human",
    "user",
    "bot",
    "assistant",
    "system",
    "developer",
)
_BRACKETS = (
    "INST",
    "SYSTEM_PROMPT",
    "AVAILABLE_TOOLS",
    "TOOL_[A-Z_]+",
    "THINK",
    "ARGS",
    "CALL_ID",
    "PREFIX",
    "MIDDLE",
    "SUFFIX",
    "IMG(?:_BREAK|_END)?",
    "(?:BEGIN|END)_[A-Z_]+",
    "USER",
    "BOT",
    "SEP",
    "g?MASK",
    "CLS",
    "PAD",
    "UNK",
)
_MARK = re.compile(
    rf"{_BARRED}"
    rf"|<(?=/?(?i:{'|'.join(_TAGS)})\s*/?>)"
    r"|<(?=<\s*/?SYS\s*>>)"
    rf"|\[(?=/?(?:{'|'.join(_BRACKETS)})\])"
    r"|\](?=~!?b[\[\]])|\[(?=e~\[)"
)


def without_template_marks(text: str) -> str:
    """Break up every mark of a chat template; nothing else changes, and nothing gets longer or shorter.

    The marks are those of the templates of Llama, Mistral, Gemma, Qwen (ChatML), Phi, DeepSeek, GLM, Granite, EXAONE,
    MiniMax and gpt-oss as their model cards publish them. Breaking twice changes nothing.
    """
    return _MARK.sub(BROKEN, text)
