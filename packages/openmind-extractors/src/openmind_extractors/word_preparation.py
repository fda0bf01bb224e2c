"""A Word document made ready for a library that does not know all of it.

Headings by the document's own styles get the styles that every library knows. Hidden text is taken out; what stands
within elements that the library leaves out with their text, fields, formulas, letters with a reading, pieces in another
direction, is put in their place.
"""

import zipfile
from io import BytesIO
from typing import IO
from xml.etree import ElementTree

from openmind_extractors.archives import Archive
from openmind_extractors.word_xml import Styles, outline_level

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_RELEVANT = (".xml", ".rels")
_WRAPPERS = frozenset({"fldSimple", "dir", "bdo"})
_FORMULAS = frozenset({"oMath", "oMathPara"})
_UNKNOWN = (
    b"vanish",
    b"fldSimple",
    b":oMath",
    b":ruby>",
    b":ruby ",
    b":dir ",
    b":bdo ",
    b"softHyphen",
    b"outlineLvl",
    "\u00ad".encode(),
)
_PARTS = ("word/footnotes.xml", "word/endnotes.xml", "word/comments.xml")
_OFF = {"0", "false", "off", "none"}


def prepared(archive: Archive, main: str, styles: Styles) -> IO[bytes]:
    """Return the document as a file; a copy is only made when something has to be changed.

    A document type must have been refused before: the tree builder used here expands entities.
    """
    read = {name: archive.read_if_there(name) for name in (main, *_PARTS)}
    changed = {name: _prepare(data, styles) for name, data in read.items() if _needs_it(data, styles)}
    if not changed:
        assert archive.file.fp is not None
        archive.file.fp.seek(0)
        return archive.file.fp
    copy = BytesIO()
    with zipfile.ZipFile(copy, "w") as packed:
        for name in archive.names:
            if name.endswith(_RELEVANT):
                packed.writestr(name, changed.get(name) or archive.read(name))
    copy.seek(0)
    return copy


def _needs_it(data: bytes, styles: Styles) -> bool:
    return any(mark in data for mark in _UNKNOWN) or any(
        style.encode() in data for style in (*styles.hidden, *styles.own_headings)
    )


def _prepare(data: bytes, styles: Styles) -> bytes:
    root = ElementTree.fromstring(data)
    for parent in reversed(list(root.iter())):  # the inner ones first
        children = [known for child in parent for known in _known(child, styles)]
        if len(children) != len(parent) or any(a is not b for a, b in zip(children, parent, strict=True)):
            parent[:] = children
        name = _local(parent)
        if name == "t" and parent.text:
            parent.text = parent.text.replace("\u00ad", "")
        elif name == "pPr":
            _name_heading(parent, styles)
    return ElementTree.tostring(root)


def _name_heading(properties: ElementTree.Element, styles: Styles) -> None:
    """Give a paragraph that is a heading the style that says so."""
    style, outline = _child(properties, "pStyle"), _child(properties, "outlineLvl")
    value = "" if style is None else _value(style)
    level = styles.headings.get(value, 0)
    if value in styles.own_headings or (outline is not None and not level):
        level = level or outline_level({"val": _value(outline)})
        if level:
            named = ElementTree.Element(f"{_WORD}pStyle", {f"{_WORD}val": f"Heading{level}"})
            properties[:] = [named, *(child for child in properties if child is not style)]


def _known(child: ElementTree.Element, styles: Styles) -> list[ElementTree.Element]:
    """Return what stands for an element."""
    name = _local(child)
    if name == "softHyphen" or (name == "r" and _is_hidden(child, styles)):
        return []
    if name in _WRAPPERS:
        return list(child)
    if name in _FORMULAS:
        return [_run(_text(child))]
    if name == "ruby":
        base, reading = (_text(part) for kind in ("rubyBase", "rt") for part in [_child(child, kind)])
        return [_run(f"{base}({reading})" if reading else base)]
    return [child]


def _run(text: str) -> ElementTree.Element:
    run = ElementTree.Element(f"{_WORD}r")
    ElementTree.SubElement(run, f"{_WORD}t").text = text
    return run


def _child(element: ElementTree.Element, name: str) -> ElementTree.Element | None:
    return next((child for child in element if _local(child) == name), None)


def _text(element: ElementTree.Element | None) -> str:
    return "" if element is None else "".join(part.text or "" for part in element.iter() if _local(part) == "t")


def _is_hidden(run: ElementTree.Element, styles: Styles) -> bool:
    for properties in run:
        if _local(properties) != "rPr":
            continue
        for element in properties:
            value = _value(element)
            if _local(element) == "vanish":
                return value not in _OFF
            if _local(element) == "rStyle" and value in styles.hidden:
                return True
    return False


def _value(element: ElementTree.Element | None) -> str:
    if element is None:
        return ""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == "val"), "")


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
