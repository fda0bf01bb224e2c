"""Refusals: a model that says that the excerpts do not hold the answer, in the one word it was told to use."""

import re

from attrs import define, field

NOT_IN_FILES = "NOT_IN_FILES"
_LETTERS = NOT_IN_FILES.replace("_", "")
_NO_LETTER = re.compile(r"[\W\d_]+")
_MARKUP = " \t\r\n*_`\"'.“”"


def refuses(text: str) -> bool:
    """Whether a whole answer is a refusal: the word at its start, or nothing but the word in whatever spelling."""
    return text.lstrip(_MARKUP).startswith(NOT_IN_FILES) or _bare(text) == _LETTERS


def without_refusals(text: str) -> str:
    """Take the word out of an answer that says something nevertheless."""
    return without_word(text).strip()


def without_word(text: str) -> str:
    """Take the word out of a part of an answer; blanks at its ends stay."""
    return re.sub(rf"[ \t]*[`*\"']*{NOT_IN_FILES}[`*\"']*\.?", "", text)


def _bare(text: str) -> str:
    return _NO_LETTER.sub("", text).upper()


@define
class RefusalGate:
    """Holds back the beginning of a streamed answer for as long as it may become a refusal."""

    _held: str | None = field(default="", init=False)
    """None once the answer is known to be one."""

    def let(self, piece: str) -> str:
        """Take a piece of text; returns what may be shown by now."""
        if self._held is None:
            return piece
        held = self._held + piece
        if _LETTERS.startswith(_bare(held)) or refuses(held):
            self._held = held
            return ""
        self._held = None
        return held

    def rest(self) -> str:
        """Return what is still held back at the end."""
        held, self._held = self._held or "", None
        return "" if refuses(held) else held
