"""What an OpenDocument text does not show: text in hidden styles, sections and paragraphs."""

from collections.abc import Mapping

from attrs import define, field, frozen

from openmind_extractors.safe_xml import parse

_HIDING = frozenset({"hidden-text", "hidden-paragraph"})
_STYLED = {"p": "paragraph", "h": "paragraph", "span": "text"}
"""The family of the style that an element names."""

_Style = tuple[str, str]
"""Family and name."""


@frozen
class HiddenText:
    """Tells which elements of one part of a document are hidden."""

    shown: Mapping[_Style, bool]
    """Whether a style shows its text, for the styles that say so or inherit it."""
    paragraphs: frozenset[int]
    """Paragraphs and headings that a field hides, by their number from 1."""

    def hides(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Whether all of an element is hidden: a section, or a field.

        A section with a condition, and each of the fields, says how the condition last turned out.
        """
        if name == "section":
            display = attributes.get("display", "true")
            return display == "none" or (display == "condition" and attributes.get("is-hidden") == "true")
        return name in _HIDING and attributes.get("is-hidden") != "false"

    def shows(self, name: str, attributes: Mapping[str, str]) -> bool | None:
        """Whether the style of an element shows its text; None when that is up to what it stands in."""
        return self.shown.get((_STYLED.get(name, ""), attributes.get("style-name", "")))


def find_hidden(part: bytes, styles: bytes) -> HiddenText:
    """Read what is hidden in a part: the text itself, or the styles, which hold headers and footers.

    Args:
        part: XML of the part.
        styles: XML of the document's styles; may be empty. A style of the part's own replaces one of that name.

    Raises:
        ExtractionFailed: one of them is not well-formed.
    """
    common, own = _Styles(frozenset({"styles"})), _Styles(frozenset({"styles", "automatic-styles"}))
    for data, found in ((styles, common), (part, own)):
        if data:
            parse(data, start=found.start, end=found.end, text=lambda text: None)
    parents = {**common.parents, **own.parents}
    inherited = {style: display for style, display in common.displays.items() if style not in own.parents}
    return HiddenText(_resolved(parents, {**inherited, **own.displays}), frozenset(own.hidden_paragraphs))


def _resolved(parents: Mapping[_Style, _Style], displays: Mapping[_Style, str]) -> dict[_Style, bool]:
    """Return what each style says of the visibility of its text, by itself or by the nearest style above it."""
    shown = {}
    for style in parents:
        line = [style]
        while line[-1] not in displays and (parent := parents.get(line[-1])) is not None and parent not in line:
            line.append(parent)
        if line[-1] in displays:
            shown[style] = displays[line[-1]] != "none"
    return shown


@define
class _Styles:
    """Collects styles, and the paragraphs that hold a field which hides them."""

    groups: frozenset[str]
    """The elements whose styles count."""
    parents: dict[_Style, _Style] = field(factory=dict)
    displays: dict[_Style, str] = field(factory=dict)
    hidden_paragraphs: set[int] = field(factory=set)
    _within: str = ""
    _style: _Style = ("", "")
    _count: int = 0
    _open: list[int] = field(factory=list)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name in self.groups:
            self._within = name
        elif name == "style" and self._within:
            family = attributes.get("family", "")
            self._style = (family, attributes.get("name", ""))
            self.parents[self._style] = (family, attributes.get("parent-style-name", ""))
        elif name == "text-properties" and self._style in self.parents and "display" in attributes:
            self.displays[self._style] = attributes["display"]
        elif name in {"p", "h"}:
            self._count += 1
            self._open.append(self._count)
        elif name == "hidden-paragraph" and attributes.get("is-hidden") == "true" and self._open:
            self.hidden_paragraphs.add(self._open[-1])

    def end(self, name: str) -> None:
        if name == self._within:
            self._within = ""
        elif name == "style":
            self._style = ("", "")
        elif name in {"p", "h"}:
            self._open.pop()
