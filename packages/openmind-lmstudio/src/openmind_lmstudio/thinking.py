"""Keeps a model's thoughts out of its answer, where a server did not part them.

Some models write `<think>…</think>` in front of what they say. The chat template of others has written the opening
mark already: then only the closing one comes, and nothing tells a thought from an answer before it does.
"""

import re

from openmind.domain.answers import AnswerReasoning, AnswerText

_OPENINGS = ("<think>", "<thinking>")
_OPENING = re.compile(r"<think(?:ing)?>")
_CLOSING = re.compile(r"</think(?:ing)?>")
_LONGEST_CLOSING = len("</thinking>")

Piece = AnswerText | AnswerReasoning


class ThoughtFilter:
    """Parts thoughts from text while it streams in. Only a block in front of the text is a thought.

    Args:
        guarded: whether the text may begin within a thought. Then nothing is given before a closing mark, or before
            the end proves that there is none.
    """

    def __init__(self, *, guarded: bool = False) -> None:
        self._guarded = guarded
        self._held = ""
        self._thinking = False
        self._speaking = False

    @property
    def holding(self) -> bool:
        """Whether there is text of which nobody knows yet what it is."""
        return self._guarded and not self._speaking and not self._thinking and bool(self._held.strip())

    def feed(self, piece: str) -> list[Piece]:
        """Take a piece and give what is certain by now."""
        if self._speaking:
            return [AnswerText(piece)] if piece else []
        self._held += piece
        if not self._thinking:
            return self._begin()
        return self._think()

    def trust(self) -> list[Piece]:
        """Note that the server parts thoughts itself, and give what was held back only because it might not."""
        self._guarded = False
        return self.feed("")

    def finish(self, *, whole: bool = True) -> list[Piece]:
        """Give what was held back. Thoughts that never ended stay thoughts.

        Args:
            whole: whether the text ended by itself. What broke off before its closing mark may be a thought.
        """
        thought = self._thinking or (self.holding and not whole)
        held, self._held = self._held, ""
        if not held.strip():
            return []
        return [AnswerReasoning(held) if thought else AnswerText(held.lstrip())]

    def _begin(self) -> list[Piece]:
        start = self._held.lstrip()
        opening = _OPENING.match(start)
        if opening is not None:
            self._thinking = True
            self._held = start[opening.end() :]
            return self._think()
        if not start or any(tag.startswith(start) for tag in _OPENINGS):
            return []
        if self._guarded and _OPENING.search(start) is None:
            return self._end_of_thought() if _CLOSING.search(start) else []
        self._speaking, self._held = True, ""
        return [AnswerText(start)]

    def _think(self) -> list[Piece]:
        if _CLOSING.search(self._held):
            return self._end_of_thought()
        certain = max(0, len(self._held) - _LONGEST_CLOSING + 1)
        thought, self._held = self._held[:certain], self._held[certain:]
        return [AnswerReasoning(thought)] if thought else []

    def _end_of_thought(self) -> list[Piece]:
        thought, rest = _CLOSING.split(self._held, maxsplit=1)
        self._thinking, self._guarded, self._held = False, False, ""
        told: list[Piece] = [AnswerReasoning(thought)] if thought else []
        return told + self.feed(rest)


def without_thoughts(text: str) -> str:
    """Take the thoughts out of a whole text, also those whose opening mark the chat template had written."""
    told = ThoughtFilter(guarded=True)
    pieces = told.feed(text) + told.finish()
    return "".join(piece.text for piece in pieces if isinstance(piece, AnswerText))


def thinks_unmarked(text: str) -> bool:
    """Whether a whole text begins within a thought."""
    closing = _CLOSING.search(text)
    return closing is not None and _OPENING.search(text, 0, closing.start()) is None
