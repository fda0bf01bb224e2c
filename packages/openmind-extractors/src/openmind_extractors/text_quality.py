"""Whether the text of a page can be used, judged by the text alone."""

import re
from enum import StrEnum

MAX_UNUSUAL_SHARE = 0.2
"""Control and private characters among those that are printed; real text has none, a broken font has little else."""

MIN_WORD_SHARE = 0.35
"""Letters and figures among the printed characters; below, a page is dot leaders or a font without meaning."""

MAX_GLUED_SHARE = 0.3
"""Letters that stand in words of more than 30 of them."""

SPACED_SHARE = 0.4
"""Words of a single letter; a text has 3 to 10 per cent, one whose letters are set apart has most."""

RIGHT_TO_LEFT_SHARE = 0.3

LETTERS_PER_SPACE = 14
"""Recognised text with fewer spaces has lost them: words have five letters on average, in German six."""

_UNUSUAL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufdd0-\ufdef\ufffd-\uffff]")
_WORD_CHARS = re.compile(r"\w+")
_LEADERS = re.compile(r"([^\w\s])\1{3,}")
_LONG_WORD = 30
_GLUED = re.compile("[A-Za-z\u00c0-\u024f]{31,}")
_SPACED = re.compile(r"(?<!\S)[^\W\d_](?!\S)")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")

# Most pages are ASCII, where counting bytes is ten times as fast as matching characters.
_ASCII = bytes(range(128))
_ASCII_UNUSUAL = bytes(byte for byte in _ASCII if _UNUSUAL.match(chr(byte)))
_ASCII_WORD_CHARS = bytes(byte for byte in _ASCII if _WORD_CHARS.match(chr(byte)))


def _count(text: str, pattern: re.Pattern[str], ascii_chars: bytes) -> int:
    """Count the characters of a kind."""
    if text.isascii():
        return len(text) - len(text.encode("ascii").translate(None, ascii_chars))
    return sum(map(len, pattern.findall(text)))


class Usability(StrEnum):
    """What is the matter with a page's text."""

    OK = "ok"
    EMPTY = "empty"
    SPARSE = "sparse"
    """Fewer characters than a page of text has."""
    UNUSUAL = "unusual"
    """Mostly characters that no text has."""
    GLUED = "glued"
    """Words without the spaces between them."""


def usability(text: str, *, min_chars: int) -> Usability:
    """Judge the text of a page.

    Args:
        text: as it was found in the page.
        min_chars: the least number of printed characters that count as text.
    """
    words = text.split()
    printed = sum(map(len, words))
    if printed == 0:
        return Usability.EMPTY
    if unusual_share(text) > MAX_UNUSUAL_SHARE:
        return Usability.UNUSUAL
    if _count(text, _WORD_CHARS, _ASCII_WORD_CHARS) < MIN_WORD_SHARE * _printed_but_leaders(text, printed):
        return Usability.UNUSUAL if printed >= min_chars else Usability.SPARSE
    if max(map(len, words)) > _LONG_WORD and sum(map(len, _GLUED.findall(text))) > MAX_GLUED_SHARE * printed:
        return Usability.GLUED
    return Usability.SPARSE if printed < min_chars else Usability.OK


def _printed_but_leaders(text: str, printed: int) -> int:
    """Return the number of printed characters without the dots that lead to a page number."""
    return printed - sum(len(match.group()) for match in _LEADERS.finditer(text)) if "..." in text else printed


def usable(text: str, *, min_chars: int) -> bool:
    """Whether a page's text can be taken as it is, so that nothing has to be recognised."""
    return usability(text, min_chars=min_chars) is Usability.OK


def unusual_share(text: str) -> float:
    """Return the share of characters that texts do not have."""
    return _count(text, _UNUSUAL, _ASCII_UNUSUAL) / len(text) if text else 0.0


def is_letter_spaced(text: str) -> bool:
    """Whether words are torn into letters: `H e re i s`."""
    lengths = list(map(len, text.split()))
    if len(lengths) <= 10 or lengths.count(1) <= SPACED_SHARE * len(lengths):
        return False
    return len(_SPACED.findall(text)) > SPACED_SHARE * len(lengths)


def is_right_to_left(text: str) -> bool:
    """Whether the text is mostly Arabic, Hebrew or the like."""
    return not text.isascii() and len(_RIGHT_TO_LEFT.findall(text)) > RIGHT_TO_LEFT_SHARE * len(text)


def has_lost_spaces(text: str) -> bool:
    """Whether recognised text lacks the spaces between its words; only said of scripts that have them."""
    letters = len(_LATIN.findall(text))
    return letters > 60 and letters > LETTERS_PER_SPACE * len(text.split())
