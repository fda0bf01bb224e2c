"""Keeps a model's thoughts out of its answer, where a server did not part them.

Some models write `<think>…</think>` in front of what they say.
"""

import re

from openmind.domain.answers import AnswerReasoning, AnswerText

_OPENINGS = ("<think>", "<thinking>")
_OPENING = re.compile(r"<think(?:ing)?>")
_CLOSING = re.compile(r"</think(?:ing)?>")
_LONGEST_CLOSING = len("</thinking>")

Piece = AnswerText | AnswerReasoning


class ThoughtFilter:
    """Parts thoughts from text while it streams in. Only a block in front of the text is a thought."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._speaking = False

    def feed(self, piece: str) -> list[Piece]:
        """Take a piece and give what is certain by now."""
        if self._speaking:
            return [AnswerText(piece)] if piece else []
        self._held += piece
        if not self._thinking:
            return self._begin()
        return self._think()

    def finish(self) -> list[Piece]:
        """Give what was held back. Thoughts that never ended stay thoughts."""
        held, self._held = self._held, ""
        if not held.strip():
            return []
        return [AnswerReasoning(held) if self._thinking else AnswerText(held.lstrip())]

    def _begin(self) -> list[Piece]:
        start = self._held.lstrip()
        opening = _OPENING.match(start)
        if opening is not None:
            self._thinking = True
            self._held = start[opening.end() :]
            return self._think()
        if not start or any(tag.startswith(start) for tag in _OPENINGS):
            return []
        self._speaking, self._held = True, ""
        return [AnswerText(start)]

    def _think(self) -> list[Piece]:
        closing = _CLOSING.search(self._held)
        if closing is None:
            certain = len(self._held) - _LONGEST_CLOSING + 1
            thought, self._held = self._held[: max(0, certain)], self._held[max(0, certain) :]
            return [AnswerReasoning(thought)] if thought else []
        thought, rest = self._held[: closing.start()], self._held[closing.end() :]
        self._thinking, self._held = False, ""
        told: list[Piece] = [AnswerReasoning(thought)] if thought else []
        return told + self.feed(rest)


def without_thoughts(text: str) -> str:
    """Take the thoughts out of a whole text, also those whose opening mark the chat template had written."""
    if "</think" in text and not _OPENING.search(text):
        text = text[list(_CLOSING.finditer(text))[-1].end() :] if _CLOSING.search(text) else text
    told = ThoughtFilter()
    pieces = told.feed(text) + told.finish()
    return "".join(piece.text for piece in pieces if isinstance(piece, AnswerText))
