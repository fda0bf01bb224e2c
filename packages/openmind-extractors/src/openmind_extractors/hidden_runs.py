"""Hidden text taken out of a Word document before a library that does not know of it reads the document."""

import zipfile
from io import BytesIO
from typing import IO
from xml.etree import ElementTree

from openmind_extractors.archives import Archive
from openmind_extractors.word_xml import Styles

_RELEVANT = (".xml", ".rels")
_OFF = {"0", "false", "off", "none"}


def without_hidden_runs(archive: Archive, main: str, styles: Styles) -> IO[bytes]:
    """Return the document as a file; a copy is only made when something is hidden.

    A document type must have been refused before: the tree builder used here expands entities.
    """
    data = archive.read(main)
    if b"vanish" not in data and not any(style.encode() in data for style in styles.hidden):
        assert archive.file.fp is not None
        archive.file.fp.seek(0)
        return archive.file.fp
    copy = BytesIO()
    with zipfile.ZipFile(copy, "w") as packed:
        for name in archive.names:
            if name.endswith(_RELEVANT):
                packed.writestr(name, _strip(data, styles) if name == main else archive.read(name))
    copy.seek(0)
    return copy


def _strip(data: bytes, styles: Styles) -> bytes:
    root = ElementTree.fromstring(data)
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child) == "r" and _is_hidden(child, styles):
                parent.remove(child)
    return ElementTree.tostring(root)


def _is_hidden(run: ElementTree.Element, styles: Styles) -> bool:
    for properties in run:
        if _local(properties) != "rPr":
            continue
        for element in properties:
            value = next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == "val"), "")
            if _local(element) == "vanish":
                return value not in _OFF
            if _local(element) == "rStyle" and value in styles.hidden:
                return True
    return False


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
