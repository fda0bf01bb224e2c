"""How a message reads: one rule for everything that a person is told has gone wrong."""

import re

_PLAIN_WORD = re.compile(r"(?!openmind\b)[a-z]+(?=[\s,;]|:\s|$)")
"""An ordinary word in lower case; names such as `nomic-embed-text`, paths, addresses, keys such as `a.b` are none."""


def as_message(text: str) -> str:
    """Write a message as a sentence without its full stop: `the file is gone.` becomes `The file is gone`.

    Other sentences can follow it then, and it can stand in brackets or behind a path. Several sentences keep theirs.
    """
    told = text.strip()
    if told.endswith(".") and not told.endswith("..") and ". " not in told:
        told = told[:-1].rstrip()
    first = _PLAIN_WORD.match(told)
    return told[0].upper() + told[1:] if first else told


def as_sentence(text: str) -> str:
    """Write a message as a whole sentence, its full stop included."""
    told = as_message(text)
    return told if not told or told.endswith((".", "!", "?", "…")) else f"{told}."


def counted(number: int, noun: str) -> str:
    """Write a number with what it counts: `1 file`, `2 files`, `1,200 files`; `noun` is one that takes an s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
