"""How much text fits in a model's window, in characters."""

from math import ceil

CHARS_PER_TOKEN = 2.0
"""Fewer than a token holds in any alphabet: English has about 4, German 3, URLs and tables 2 to 2.5.

Chinese, Japanese and Korean have 1 to 1.5. To reckon with that would halve the window for all others; a prompt full of
such text may be refused by the server, a passage be cut by it."""

MAX_CHARS_PER_TOKEN = 8
"""More than a tokenizer puts into a token on the average of a page: what lies beyond cannot have fitted."""

MARGIN_TOKENS = 128
"""Held back for the chat template."""

SPECIAL_TOKENS = 8
"""Held back for the marks around an embedded text."""

ASSUMED_CHAT_TOKENS = 4_096
"""The window of a chat model whose server does not tell: what LM Studio and Ollama allocate by default."""

ASSUMED_EMBEDDING_TOKENS = 512
"""The window of an embedding model whose server does not tell: that of the BERT family, the smallest in use."""

MAX_OUTPUT_TOKENS = 8_192


def reserved_tokens(context_length: int) -> int:
    """Tokens that are kept free for the answer, thoughts included."""
    return min(2_048, context_length // 4)


def prompt_chars(context_length: int) -> int:
    """Characters of a prompt that fit beside the answer."""
    return max(0, int((context_length - reserved_tokens(context_length) - MARGIN_TOKENS) * CHARS_PER_TOKEN))


def output_tokens(context_length: int, prompt: int, *, at_most: int = MAX_OUTPUT_TOKENS) -> int:
    """Tokens an answer may have after a prompt of so many characters."""
    free = context_length - ceil(prompt / CHARS_PER_TOKEN) - MARGIN_TOKENS
    return max(reserved_tokens(context_length), min(free, at_most))


def surely_too_long(context_length: int, prompt: int) -> bool:
    """Whether a prompt of so many characters cannot fit, whatever it says."""
    return prompt > context_length * MAX_CHARS_PER_TOKEN


def passage_chars(context_length: int) -> int:
    """Characters of a text that are embedded whole."""
    return int((context_length - SPECIAL_TOKENS) * CHARS_PER_TOKEN)
