"""What Office documents have in common: their properties, and text in drawings and charts."""

import posixpath
from collections.abc import Mapping

from attrs import define, field, frozen
from openmind.domain.text import clean

from openmind_extractors.archives import Archive
from openmind_extractors.limits import MAX_METADATA_CHARS
from openmind_extractors.safe_xml import parse
from openmind_extractors.titles import sensible_title

_PROPERTIES = {
    "creator": "author",
    "created": "created",
    "modified": "modified",
    "keywords": "keywords",
    "subject": "subject",
    "description": "description",
    "category": "category",
    # OpenDocument and EPUB say the same by other names.
    "initial-creator": "author",
    "creation-date": "created",
    "keyword": "keywords",
    "date": "date",
    "language": "language",
    "publisher": "publisher",
}


@frozen(kw_only=True)
class Properties:
    """What a document says of itself."""

    title: str = ""
    metadata: dict[str, object] = field(factory=dict)


@define
class _Leaves:
    """Collects the text of elements that hold nothing but text."""

    found: list[tuple[str, str]] = field(factory=list)
    _text: list[str] = field(factory=list)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._text = []

    def end(self, name: str) -> None:
        text = " ".join("".join(self._text).split())
        if text:
            self.found.append((name, text))
        self._text = []

    def text(self, text: str) -> None:
        self._text.append(text)


def read_properties(data: bytes) -> Properties:
    """Read Dublin Core elements, wherever they stand: `core.xml`, `meta.xml`, the package file of an EPUB."""
    if not data:
        return Properties()
    leaves = _Leaves()
    parse(data, start=leaves.start, end=leaves.end, text=leaves.text)
    title, metadata = "", dict[str, object]()
    for name, text in leaves.found:
        if name == "title":
            title = title or sensible_title(clean(text))
        elif name in _PROPERTIES:
            metadata.setdefault(_PROPERTIES[name], clean(text)[:MAX_METADATA_CHARS])
    return Properties(title=title, metadata=metadata)


@define
class _DrawingText:
    """Collects paragraphs of DrawingML, and the names of a chart's rows and columns."""

    paragraphs: list[str] = field(factory=list)
    _line: list[str] = field(factory=list)
    _open: str = ""
    _is_number: bool = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._open = name
        if name in {"numCache", "numLit"}:
            self._is_number = True
        elif name == "p":
            self._line = []

    def end(self, name: str) -> None:
        if name in {"numCache", "numLit"}:
            self._is_number = False
        if name in {"p", "v"}:
            text = " ".join("".join(self._line).split())
            if text:
                self.paragraphs.append(text)
            self._line = []
        self._open = ""

    def text(self, text: str) -> None:
        if self._open == "t" or (self._open == "v" and not self._is_number):
            self._line.append(text)


def drawing_text(data: bytes) -> list[str]:
    """Return the paragraphs of a chart or a diagram, each once."""
    drawing = _DrawingText()
    parse(data, start=drawing.start, end=drawing.end, text=drawing.text)
    return [clean(text) for text in dict.fromkeys(drawing.paragraphs)]


def parts(archive: Archive, folder: str, *prefixes: str) -> list[str]:
    """Return the XML members of a folder whose names begin with one of the prefixes, numbers in order."""
    found = [
        name
        for name in archive.names
        if name.endswith(".xml") and name.startswith(tuple(folder + prefix for prefix in prefixes))
    ]
    return sorted(found, key=lambda name: (len(name), name))


def targets(archive: Archive, part: str) -> dict[str, str]:
    """Return the parts that a part refers to, by the id of the relation."""
    folder, name = posixpath.split(part)
    found: dict[str, str] = {}

    def start(element: str, attributes: Mapping[str, str]) -> None:
        if element == "Relationship" and attributes.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join(folder, attributes.get("Target", "")))
            found[attributes.get("Id", "")] = target.lstrip("/")

    data = archive.read_if_there(f"{folder}/_rels/{name}.rels")
    if data:
        parse(data, start=start, end=lambda name: None, text=lambda text: None)
    return found
