"""The headings that the bookmarks of a PDF put above its pages, and the lines at which they begin."""

import re
from collections.abc import Callable, Sequence

from attrs import define, field
from openmind.domain.documents import Place

from openmind_extractors.outline import HeadingPath
from openmind_extractors.pdfium import Bookmark

_TITLE_LINES = 5
"""A title may be printed on so many lines."""

_LOOKS = 50
"""Bookmarks of one page whose place is looked up on it; each takes as long as reading the page."""

_LABEL = re.compile(
    r"(?:(?:§+|[^\W\d_]{2,12}\.?) ?)?(?:\d{1,4}(?:\.\d{1,4}){0,6}|[IVXLCDM]{1,8}|[A-Z])[.):]?(?: [–—-])?(?: |$)"
)
"""`2.`, `1.3`, `IV`, `Chapter 2`, `Annex B:` before a title: printed, and often no part of the bookmark."""


@define
class Chapters:
    """Says for each page which headings it stands below; pages come in order."""

    _by_page: dict[int, list[Bookmark]]
    _path: HeadingPath = field(factory=HeadingPath)
    _next_page: int = 0

    @classmethod
    def of(cls, bookmarks: Sequence[Bookmark]) -> "Chapters":
        by_page: dict[int, list[Bookmark]] = {}
        for bookmark in bookmarks:
            by_page.setdefault(bookmark.page, []).append(bookmark)
        return cls(by_page)

    @property
    def places(self) -> tuple[Place, ...]:
        return self._path.places

    def divide(self, page: int, text: str, below: Callable[[Bookmark], str]) -> list[tuple[tuple[Place, ...], str]]:
        """Divide a page's text where a chapter begins on it.

        Args:
            page: its index.
            text: what it says.
            below: returns the text from the place on that a bookmark points at; empty when that is not known.
        """
        for skipped in range(self._next_page, page):
            self._enter(self._by_page.get(skipped, ()))
        self._next_page = page + 1
        bookmarks = self._by_page.get(page, ())
        if not bookmarks:
            return [(self.places, text)] if text.strip() else []
        lines = text.split("\n")
        parts = []
        start = 0
        for number, bookmark in enumerate(bookmarks):
            first = _first_line(bookmark, lines, start, below if number < _LOOKS else _nowhere)
            before = "\n".join(lines[start:first]).strip()
            if before:
                parts.append((self.places, before))
                start = first
            self._enter((bookmark,))
        rest = "\n".join(lines[start:]).strip()
        if rest:
            parts.append((self.places, rest))
        return parts

    def _enter(self, bookmarks: Sequence[Bookmark]) -> None:
        for bookmark in bookmarks:
            self._path = self._path.enter(bookmark.level, bookmark.title)


def _nowhere(bookmark: Bookmark) -> str:
    return ""


def _first_line(bookmark: Bookmark, lines: Sequence[str], start: int, below: Callable[[Bookmark], str]) -> int:
    """Return the line at which a bookmark's text begins, `start` when that cannot be told.

    The title is looked for, on lines of its own. Where it is not there, or more than once, the place on the page
    decides that the bookmark points at.
    """
    found = _titles(lines, bookmark.title, start)
    if len(found) == 1:
        return found[0]
    rest = [line for line in below(bookmark).split("\n") if line.strip()]
    if not rest:
        return found[0] if found else start
    if found:
        return found[-max(len(_titles(rest, bookmark.title, 0)), 1) :][0]
    same = [index for index in range(start, len(lines)) if lines[index].strip() == rest[0].strip()]
    following = sum(line.strip() == rest[0].strip() for line in rest)
    return same[-following:][0] if same else start


def _titles(lines: Sequence[str], title: str, start: int) -> list[int]:
    """Return the first lines of those that hold a title, with or without a number before it, and nothing else."""
    wanted = _folded(title)
    found = []
    index = start
    while index < len(lines):
        size = _size_of_title(lines[index : index + _TITLE_LINES], wanted)
        if size:
            found.append(index)
        index += max(size, 1)
    return found


def _size_of_title(lines: Sequence[str], wanted: str) -> int:
    """Return how many lines the title takes that begins with the first of them; 0 when there is none."""
    shown = ""
    for size, line in enumerate(lines, start=1):
        shown = " ".join(f"{shown} {line}".split())
        bare = _LABEL.sub("", shown, count=1) if _LABEL.match(shown) else shown
        versions = {_folded(shown), _folded(bare)}
        if wanted in versions and line.strip():
            return size
        if not any(wanted.startswith(version) for version in versions) or not shown:
            return 0
    return 0


def _folded(text: str) -> str:
    return " ".join(text.split()).replace("- ", "-").casefold().rstrip(".:")
