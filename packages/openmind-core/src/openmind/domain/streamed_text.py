"""An answer while it is streamed, checked as the whole of it will be: what is shown is never taken back.

A piece is held for as long as what comes next may change it: half a citation, half a picture, half a tag, blanks that
may turn out to stand at the end.
"""

import re

from attrs import define, field

from openmind.domain.answers import Evidence
from openmind.domain.citations import check_plain
from openmind.domain.refusals import NOT_IN_FILES, RefusalGate, without_word

_CODE = re.compile(r"```|~~~|`(?=[^`\n]*`)")
_CODE_TO_COME = re.compile(r"(?:(?<!`)``|`[^`\n]*|~{1,2})\Z")
_HALF = re.compile(
    r"""[!<]*
    (?:[ \t]*[\[【][^\[\]【】\n]*[\]】](?:\([^)\n]*\))?)*   # brackets: one that is taken out joins what is around it
    (?:
        [ \t]*[\[【][^\[\]【】\n]*                          # one that is open
      | (?<=[\]】])\([^)\n]*                              # the address behind one
      | \s*
    )\Z""",
    re.VERBOSE,
)
_BEGINNINGS = "|".join(NOT_IN_FILES[:end] for end in range(1, len(NOT_IN_FILES)))
_HALF_WORD = re.compile(rf"[ \t]*[`*\"']*(?:{NOT_IN_FILES}[`*\"']*|{_BEGINNINGS})?\Z")
"""What may become the word of a refusal."""


@define
class TextGate:
    """Lets an answer's text through as it will be in the checked answer."""

    evidence: Evidence
    _refusals: RefusalGate = field(factory=RefusalGate, init=False)
    _word: str = field(default="", init=False)
    """Text that may hold the beginning of the word."""
    _text: str = field(default="", init=False)
    """Text that is not shown yet, without the word."""
    _fence: str = field(default="", init=False)
    """What ends the code that is being shown; empty outside of code."""
    _begun: bool = field(default=False, init=False)

    def let(self, piece: str) -> str:
        """Take a piece of text; returns what may be shown by now."""
        self._take(self._refusals.let(piece))
        return self._shown(whole=False)

    def rest(self) -> str:
        """Return what is still held back at the end."""
        self._take(self._refusals.rest())
        self._text += without_word(self._word)
        return self._shown(whole=True).rstrip()

    def _take(self, piece: str) -> None:
        word = self._word + piece
        held = _HALF_WORD.search(word)
        certain = held.start() if held else len(word)
        self._text += without_word(word[:certain])
        self._word = word[certain:]

    def _shown(self, *, whole: bool) -> str:
        shown = ""
        while part := self._next(whole=whole):
            shown += part
        if not self._begun:
            shown = shown.lstrip()
            self._begun = bool(shown)
        return shown

    def _next(self, *, whole: bool) -> str:
        """Take the next part that is certain; nothing when there is none."""
        return self._code(whole=whole) if self._fence else self._plain(whole=whole)

    def _code(self, *, whole: bool) -> str:
        at = self._text.find(self._fence)
        if at >= 0:
            part = self._cut(at + len(self._fence))
            self._fence = ""
            return part
        return self._cut(len(self._text) if whole else max(0, len(self._text) - len(self._fence) + 1))

    def _plain(self, *, whole: bool) -> str:
        code = _CODE.search(self._text)
        unclear = None if whole else _CODE_TO_COME.search(self._text)
        if code is not None and (unclear is None or code.start() < unclear.start()):
            plain = check_plain(self._cut(code.start()), self.evidence)
            self._fence = code.group()
            return plain + self._cut(len(self._fence))
        end = unclear.start() if unclear else len(self._text)
        half = None if whole else _HALF.search(self._text, 0, end)
        return check_plain(self._cut(half.start() if half else end), self.evidence)

    def _cut(self, end: int) -> str:
        part, self._text = self._text[:end], self._text[end:]
        return part
