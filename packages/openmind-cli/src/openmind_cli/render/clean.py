"""Makes text from files and names safe to print: none of it can give orders to a terminal."""

import re

_CONTROL = "\x00-\x1f\x7f-\x9f"
_REORDERING = "\u202a-\u202e\u2066-\u2069"
"""Bidi embeddings, overrides and isolates: one left open would turn round what is printed after it."""
_SEPARATORS = "\u2028\u2029"
_SURROGATES = "\ud800-\udfff"

_UNSAFE = re.compile(f"[{_CONTROL}{_SEPARATORS}{_REORDERING}{_SURROGATES}]")
_UNSAFE_IN_BLOCK = re.compile(f"(?![\n\t])[{_CONTROL}{_SEPARATORS}{_REORDERING}{_SURROGATES}]")
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def one_line(text: str) -> str:
    """Show a name, a path or a message on one line: line breaks and everything else that acts is escaped."""
    return _UNSAFE.sub(_escape, text)


def flowing(text: str) -> str:
    """Show a passage as one paragraph: all white space is a single space."""
    return one_line(re.sub(r"\s+", " ", text))


def block(text: str) -> str:
    """Show text of several lines as it is."""
    return _UNSAFE_IN_BLOCK.sub(_escape, text.replace("\r\n", "\n"))


def _escape(found: re.Match[str]) -> str:
    character = found.group()
    code = ord(character)
    return _NAMED.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
