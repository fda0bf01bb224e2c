"""Marks of notes: the small figures in a line that lead to a note, and the arrows that lead back from it."""

import re
from collections.abc import Mapping

from attrs import define, field, frozen

_MARK = re.compile(r"[\[(]?(?:[a-z]{0,4}\s?\d{0,4}|[*†‡§¶‖#]{1,4})[\])]?", re.IGNORECASE)
_NOTE = re.compile(r"(?:^|\s)(?:doc-)?(?:foot|end|rear)note")
_NOTES = re.compile(r"(?:^|\s)(?:doc-)?(?:foot|end|rear)note(?:s|-list)(?!\w)")


def is_note(attributes: Mapping[str, str]) -> bool:
    """Whether an element of a page says that it is a note, or holds some."""
    return _names(_NOTE, attributes)


def are_notes(attributes: Mapping[str, str]) -> bool:
    """Whether an element of a page says that it gathers notes, as at the end of a page or a book."""
    return _names(_NOTES, attributes)


def _names(pattern: re.Pattern[str], attributes: Mapping[str, str]) -> bool:
    return any(
        name in attributes and pattern.search(attributes[name].lower()) for name in ("role", "epub:type", "class")
    )


def apart(line: list[str], raised: str) -> str:
    """Return a raised piece of a line so that a figure is not read as the end of a number: 10^6 is not 106."""
    return f"^{raised}" if raised[:1].isdecimal() and "".join(line)[-1:].isdecimal() else raised


@frozen
class _Open:
    """A link, or a raised piece of a line, that has begun."""

    tag: str
    position: int
    """How many pieces the line had."""
    leads_within: bool = False
    """To another place of the document; a link that is raised is the mark of a note."""
    is_mark: bool = False
    is_way_back: bool = False


@define
class NoteMarks:
    """Takes the marks of notes out of lines: they would be read as part of the word or the number before them."""

    _open: list[_Open] = field(factory=list)

    def start(self, tag: str, attributes: Mapping[str, str], line: list[str]) -> None:
        """Begin a link or a raised piece.

        Args:
            tag: `a` or `sup`.
            attributes: of the element.
            line: the pieces of the line so far.
        """
        if tag == "sup" or not attributes:
            self._open.append(_Open(tag, len(line)))
            return
        role = attributes.get("role", "")
        kinds = attributes.get("epub:type", "").split()
        self._open.append(
            _Open(
                tag,
                len(line),
                leads_within="#" in attributes.get("href", ""),
                is_mark=role == "doc-noteref" or "noteref" in kinds,
                is_way_back=role == "doc-backlink" or "backlink" in kinds,
            )
        )

    def end(self, tag: str, line: list[str]) -> None:
        """End a link or a raised piece, and take it out of the line when it is a mark."""
        if not self._open or self._open[-1].tag != tag:
            return
        piece = self._open.pop()
        text = "".join(line[piece.position :]).strip()
        around = self._open[-1] if self._open else None
        is_raised_link = around is not None and around.tag != tag and (piece.leads_within or around.leads_within)
        is_mark = (piece.is_mark or is_raised_link) and _MARK.fullmatch(text)
        is_arrow = piece.is_way_back and not any(char.isalnum() for char in text)
        if is_mark or is_arrow:
            del line[piece.position :]
        elif tag == "sup" and apart(line[: piece.position], text) != text:
            line.insert(piece.position, "^")

    def forget(self) -> None:
        """Begin a line: what is open does not reach into it."""
        self._open.clear()
