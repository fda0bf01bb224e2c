"""Keeps a model's thoughts out of its answer, where a server did not part them.

Some models write `<think>…</think>` into what they say, mostly in front of it. The chat template of others has written
the opening mark already: then only the closing one comes, and nothing tells a thought from an answer before it does.
Marks in code are words about thoughts, and stay. Code is what is closed: a lone backtick, or a lone fence, is none.
"""

import re

from openmind.domain.answers import AnswerReasoning, AnswerRestarted, AnswerText

_MARK = re.compile(r"<(?P<closing>/?)think(?:ing)?>")
_CLOSING = re.compile(r"</think(?:ing)?>")
_LONGEST_CLOSING = len("</thinking>")
_MARKS = ("<think>", "<thinking>", "</think>", "</thinking>")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_TICKS = re.compile(r"`+")

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
        while self._turns(told, ended=False):
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
        told: list[Piece] = []
        while self._turns(told, ended=True):
            pass
        inside = bool(self._opening)
        thought = (inside and not (whole and self._said)) or (self.holding and not whole)
        held, self._held = self._held, ""
        if thought:
            return told + ([AnswerReasoning(held)] if held.strip() else [])
        return told + self._told(f"{self._opening}{held}")

    def _turns(self, told: list[Piece], *, ended: bool) -> bool:
        """Take the next mark out of what is held, and give what stands before it; false when none is certain."""
        if not self._opening and not self._said:
            self._held = self._held.lstrip()
        mark = _CLOSING.search(self._held) if self._opening else _next_mark(self._said, self._held, ended=ended)
        if mark is None or (not self._opening and _in_code(self._said, self._held, mark, ended=ended) is None):
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
        open_mark = _next_mark(self._said, self._held, ended=False)  # nobody can say yet whether it is in code
        at = self._held.rfind("<") if open_mark is None else open_mark.start()
        half = at >= 0 and any(mark.startswith(self._held[at:]) for mark in _MARKS)
        certain = at if half or open_mark is not None else len(self._held)
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
    mark = _next_mark("", text.lstrip(), ended=True)
    return mark is not None and bool(mark["closing"])


def _next_mark(before: str, text: str, *, ended: bool) -> re.Match[str] | None:
    """The first mark in a text that is not, or perhaps not, in code."""
    return next((mark for mark in _MARK.finditer(text) if not _in_code(before, text, mark, ended=ended)), None)


def _in_code(before: str, text: str, mark: re.Match[str], *, ended: bool) -> bool | None:
    """Whether a mark stands in code; None while what would close the code may still come."""
    ahead, after = before + text[: mark.start()], text[mark.end() :]
    if len(_FENCE.findall(ahead)) % 2 == 1:
        if _FENCE.search(f"{mark.group()}{after}"):
            return True
        if not ended:
            return None
    start, (rest, newline, _) = ahead.rpartition("\n")[2], after.partition("\n")
    return _in_ticks(start, rest, ended=ended or bool(newline))


def _in_ticks(start: str, rest: str, *, ended: bool) -> bool | None:
    """The same for code within a line, from what stands on the line before the mark and behind it.

    As in Markdown, code that begins with some backticks ends with as many.
    """
    opened = [len(ticks.group()) for ticks in _TICKS.finditer(start)]
    closing = {len(ticks.group()) for ticks in _TICKS.finditer(rest) if ended or ticks.end() < len(rest)}
    while opened:
        size, *later = opened
        if size in later:
            opened = later[later.index(size) + 1 :]
        elif size in closing:
            return True
        elif not ended:
            return None
        else:
            opened = later
    return False
