"""Keeps a model's thoughts out of its answer, where a server did not part them.

Some models write `<think>…</think>` into what they say, mostly in front of it. The chat template of others has written
the opening mark already: then only the closing one comes, and nothing tells a thought from an answer before it does.
Marks in code are words about thoughts, and stay.
"""

import re

from openmind.domain.answers import AnswerReasoning, AnswerRestarted, AnswerText

_MARK = re.compile(r"<(?P<closing>/?)think(?:ing)?>")
_CLOSING = re.compile(r"</think(?:ing)?>")
_LONGEST_CLOSING = len("</thinking>")
_MARKS = ("<think>", "<thinking>", "</think>", "</thinking>")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)

Piece = AnswerText | AnswerReasoning | AnswerRestarted


class ThoughtFilter:
    """Parts thoughts from text while it streams in.

    A closing mark without an opening one makes a thought of all that came before it. What was given as text by then is
    taken back with `AnswerRestarted`.

    Args:
        guarded: whether the text may begin within a thought. Then nothing is given before a closing mark, or before
            the end proves that there is none.
    """

    def __init__(self, *, guarded: bool = False) -> None:
        self._guarded = guarded
        self._held = ""
        self._said = ""
        self._opening = ""
        """The mark that opened the thought which is being read; empty outside of one."""

    @property
    def holding(self) -> bool:
        """Whether there is text of which nobody knows yet what it is."""
        return self._guarded and not self._opening and bool(self._held.strip())

    def feed(self, piece: str) -> list[Piece]:
        """Take a piece and give what is certain by now."""
        self._held += piece
        told: list[Piece] = []
        while self._turns(told):
            pass
        return told + (self._thinking() if self._opening else self._speaking())

    def trust(self) -> list[Piece]:
        """Note that the server parts thoughts itself, and give what was held back only because it might not."""
        self._guarded = False
        return self.feed("")

    def finish(self, *, whole: bool = True) -> list[Piece]:
        """Give what was held back. Thoughts in front that never ended stay thoughts; elsewhere the mark was a word.

        Args:
            whole: whether the text ended by itself. What broke off before its closing mark may be a thought.
        """
        inside = bool(self._opening)
        thought = (inside and not (whole and self._said)) or (self.holding and not whole)
        held, self._held = self._held, ""
        if thought:
            return [AnswerReasoning(held)] if held.strip() else []
        return self._told(f"{self._opening}{held}")

    def _turns(self, told: list[Piece]) -> bool:
        """Take the next mark out of what is held, and give what stands before it; false when there is none."""
        mark = _CLOSING.search(self._held) if self._opening else _next_mark(self._said, self._held)
        if mark is None:
            return False
        before, self._held = self._held[: mark.start()], self._held[mark.end() :]
        if self._opening:
            self._opening = ""
            told += [AnswerReasoning(before)] if before else []
        elif mark["closing"]:
            if self._said:
                told.append(AnswerRestarted())
            thought, self._said = f"{self._said}{before}", ""
            told += [AnswerReasoning(thought)] if thought else []
        else:
            told += self._told(before)
            self._opening = mark.group()
            return True
        self._guarded = False
        return True

    def _thinking(self) -> list[Piece]:
        if self._said:
            return []  # the end may show that it is none
        certain = max(0, len(self._held) - _LONGEST_CLOSING + 1)
        thought, self._held = self._held[:certain], self._held[certain:]
        return [AnswerReasoning(thought)] if thought else []

    def _speaking(self) -> list[Piece]:
        if self._guarded:
            return []
        at = self._held.rfind("<")
        half = at >= 0 and any(mark.startswith(self._held[at:]) for mark in _MARKS)
        certain = at if half else len(self._held)
        text, self._held = self._held[:certain], self._held[certain:]
        return self._told(text)

    def _told(self, text: str) -> list[Piece]:
        if not self._said:
            text = text.lstrip()
        self._said += text
        return [AnswerText(text)] if text else []


def without_thoughts(text: str) -> str:
    """Take the thoughts out of a whole text, also those whose opening mark the chat template had written."""
    told = ThoughtFilter(guarded=True)
    pieces = told.feed(text) + told.finish()
    restarts = [at for at, piece in enumerate(pieces, 1) if isinstance(piece, AnswerRestarted)]
    answer = pieces[restarts[-1] :] if restarts else pieces
    return "".join(piece.text for piece in answer if isinstance(piece, AnswerText))


def thinks_unmarked(text: str) -> bool:
    """Whether a whole text begins within a thought."""
    mark = _next_mark("", text)
    return mark is not None and bool(mark["closing"])


def _next_mark(before: str, text: str) -> re.Match[str] | None:
    """The first mark in a text that is not in code."""
    return next((mark for mark in _MARK.finditer(text) if not _ends_in_code(before + text[: mark.start()])), None)


def _ends_in_code(text: str) -> bool:
    return len(_FENCE.findall(text)) % 2 == 1 or text.rpartition("\n")[2].count("`") % 2 == 1
