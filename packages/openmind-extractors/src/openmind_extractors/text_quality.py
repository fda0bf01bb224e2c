"""Whether the text of a page can be used, judged by the text alone."""

import re
from enum import StrEnum

from attrs import frozen

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

# Counting bytes is ten times as fast as matching characters, and most of most texts has codes below 256.
_LATIN_1 = bytes(range(256)).decode("latin-1")
_UNUSUAL_BYTES = bytes(ord(char) for char in _LATIN_1 if _UNUSUAL.match(char))
_WORD_BYTES = bytes(ord(char) for char in _LATIN_1 if _WORD_CHARS.match(char))
_BEYOND = re.compile("[^\x00-\xff]+")


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


@frozen
class Measures:
    """What is counted of a page's text; counted once, since there are many pages."""

    text: str
    lengths: list[int]
    """Of the words between spaces."""
    low: bytes
    """The characters with codes below 256."""
    beyond: str
    """The others."""

    @classmethod
    def of(cls, text: str) -> "Measures":
        low = text.encode("latin-1", "ignore")
        beyond = "" if len(low) == len(text) else "".join(_BEYOND.findall(text))
        return cls(text, list(map(len, text.split())), low, beyond)

    @property
    def unusual_share(self) -> float:
        """The share of characters that texts do not have."""
        return self._count(_UNUSUAL, _UNUSUAL_BYTES) / len(self.text) if self.text else 0.0

    @property
    def is_letter_spaced(self) -> bool:
        """Whether words are torn into letters: `H e re i s`."""
        words = len(self.lengths)
        if words <= 10 or self.lengths.count(1) <= SPACED_SHARE * words:
            return False
        return len(_SPACED.findall(self.text)) > SPACED_SHARE * words

    @property
    def is_right_to_left(self) -> bool:
        """Whether the text is mostly Arabic, Hebrew or the like."""
        return bool(self.beyond) and len(_RIGHT_TO_LEFT.findall(self.beyond)) > RIGHT_TO_LEFT_SHARE * len(self.text)

    def usability(self, *, min_chars: int) -> Usability:
        """Judge the text; `min_chars` is the least number of printed characters that count as text."""
        printed = sum(self.lengths)
        if printed == 0:
            return Usability.EMPTY
        if self.unusual_share > MAX_UNUSUAL_SHARE:
            return Usability.UNUSUAL
        if self._count(_WORD_CHARS, _WORD_BYTES) < MIN_WORD_SHARE * (printed - self._leaders()):
            return Usability.UNUSUAL if printed >= min_chars else Usability.SPARSE
        if max(self.lengths) > _LONG_WORD:
            glued = sum(map(len, _GLUED.findall(self.text)))
            if glued > MAX_GLUED_SHARE * printed:
                return Usability.GLUED
        return Usability.SPARSE if printed < min_chars else Usability.OK

    def _leaders(self) -> int:
        """Count the dots that lead to a page number."""
        return sum(len(run.group()) for run in _LEADERS.finditer(self.text)) if "..." in self.text else 0

    def _count(self, pattern: re.Pattern[str], low: bytes) -> int:
        count = len(self.low) - len(self.low.translate(None, low))
        return count + sum(map(len, pattern.findall(self.beyond))) if self.beyond else count


def usability(text: str, *, min_chars: int) -> Usability:
    """Judge the text of a page.

    Args:
        text: as it was found in the page.
        min_chars: the least number of printed characters that count as text.
    """
    return Measures.of(text).usability(min_chars=min_chars)


def usable(text: str, *, min_chars: int) -> bool:
    """Whether a page's text can be taken as it is, so that nothing has to be recognised."""
    return usability(text, min_chars=min_chars) is Usability.OK


def has_lost_spaces(text: str) -> bool:
    """Whether recognised text lacks the spaces between its words; only said of scripts that have them."""
    letters = len(_LATIN.findall(text))
    return letters > 60 and letters > LETTERS_PER_SPACE * len(text.split())
