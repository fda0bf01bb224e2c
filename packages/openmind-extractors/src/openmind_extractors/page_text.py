"""The text of pages, mended: what a layout does to words is undone."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from attrs import define, field
from openmind.domain.text import clean

from openmind_extractors.line_ends import joined

HEAD_LINES = 2
"""Lines at the top and at the bottom of a page that may be running heads."""

MIN_LINES = 7
"""A page of fewer lines is a slide or a form: all of it may be the text."""

MAX_HEAD_CHARS = 120
MIN_REPEATS = 3
REPEATED_SHARE = 0.3
"""Of the pages looked at: left and right pages often have different heads, so neither is on more than half."""

_PRESENTATION = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdff\ufe70-\ufefc]+")
_PAGE_NUMBER = "#"
_IS_PAGE_NUMBER = re.compile(
    r"[-–—|\s]*(?:(?:page|seite|p\.|s\.)\s*)?(?:\d{1,5}|[ivxlc]{1,8})(?:\s*(?:/|of|von|de)\s*\d{1,5})?[-–—|\s]*",
    re.IGNORECASE,
)


def mend(text: str) -> str:
    """Join words that were divided at the end of a line, expand ligatures, take out what is no character of a text."""
    text = joined(text.replace("\r\n", "\n"))
    if not text.isascii():
        # Letters in the shape they have at their place in a word are the same letters to a reader.
        text = _PRESENTATION.sub(lambda match: unicodedata.normalize("NFKC", match.group()), text)
    return clean(text).strip()


@define
class RunningHeads:
    """Recognises lines that return, letter by letter, at the edge of page after page.

    Lines that differ in a number are left alone, but for bare page numbers: they may be the text.
    """

    _seen: Counter[str] = field(factory=Counter)
    _pages: int = 0
    _shown: set[str] = field(factory=set)

    def learn(self, pages: Sequence[str]) -> None:
        """Look at the next pages; call this before `strip` of any of them."""
        self._pages += len(pages)
        for page in pages:
            lines = page.split("\n")
            self._seen.update({_key(lines[index]) for index in _edges(lines)})

    def strip(self, page: str) -> str:
        """Take running heads and page numbers out; a head stays where it stands for the first time."""
        lines = page.split("\n")
        dropped = set()
        for index in _edges(lines):
            key = _key(lines[index])
            is_repeated = self._seen[key] >= max(MIN_REPEATS, REPEATED_SHARE * self._pages)
            if key and is_repeated and (key in self._shown or key == _PAGE_NUMBER):
                dropped.add(index)
            self._shown.add(key)
        if not dropped:
            return page
        return "\n".join(line for index, line in enumerate(lines) if index not in dropped).strip()


def _edges(lines: Sequence[str]) -> list[int]:
    count = len(lines)
    if count < MIN_LINES:
        return []
    return [*range(HEAD_LINES), *range(count - HEAD_LINES, count)]


def _key(line: str) -> str:
    """Return what is the same in a running head on each page; empty for a line that is none."""
    line = line.strip()
    if len(line) > MAX_HEAD_CHARS:
        return ""
    return _PAGE_NUMBER if _IS_PAGE_NUMBER.fullmatch(line) else line
