"""XML read as a stream of events, with everything refused that XML can be abused for."""

from collections.abc import Callable, Mapping
from typing import NoReturn
from xml.parsers import expat

from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason

OnStart = Callable[[str, Mapping[str, str]], object]
OnEnd = Callable[[str], object]
OnText = Callable[[str], object]

MIN_EXPAT = (2, 4, 1)
"""Older ones expand entities without bounds."""

_DOCTYPES = tuple("<!DOCTYPE".encode(encoding) for encoding in ("ascii", "utf-16-le", "utf-16-be"))


class XmlStream:
    """Reports elements and text in order, as they come; see `parse`."""

    def __init__(self, *, start: OnStart, end: OnEnd, text: OnText) -> None:
        if expat.version_info < MIN_EXPAT:
            raise ExtractionFailed("this Python's XML reader is too old to be safe", reason=FileReason.UNSUPPORTED)
        self._parser = parser = expat.ParserCreate(namespace_separator="}")
        parser.buffer_text = True
        parser.ordered_attributes = False

        def on_start(name: str, attributes: dict[str, str]) -> None:
            local = {key.rpartition("}")[2]: value for key, value in attributes.items()} if attributes else attributes
            start(name.rpartition("}")[2], local)

        parser.StartElementHandler = on_start
        parser.EndElementHandler = lambda name: end(name.rpartition("}")[2])
        parser.CharacterDataHandler = text
        parser.StartDoctypeDeclHandler = _refuse_doctype

    def feed(self, data: bytes) -> None:
        """Report what these bytes complete.

        Raises:
            ExtractionFailed: the document is not well-formed, or declares a document type.
        """
        self._parse(data, False)

    def close(self) -> None:
        """Report the rest; raises as `feed` does."""
        self._parse(b"", True)

    def _parse(self, data: bytes, is_final: bool) -> None:
        try:
            self._parser.Parse(data, is_final)
        except (expat.ExpatError, ValueError) as error:
            raise ExtractionFailed(f"its XML is broken ({error})") from error


def parse(data: bytes, *, start: OnStart, end: OnEnd, text: OnText) -> None:
    """Report elements and text in order; names come without their namespace, `{uri}p` as `p`.

    Attributes, too, have local names; where two namespaces share one, the later wins. Comments and processing
    instructions are left out. The depth of a document costs nothing here, handlers keep their own stacks.

    Raises:
        ExtractionFailed: the document is not well-formed, or declares a document type.
    """
    stream = XmlStream(start=start, end=end, text=text)
    stream.feed(data)
    stream.close()


def _refuse_doctype(*_: object) -> NoReturn:
    raise ExtractionFailed("the document declares a document type, which no honest one of its kind does")


def refuse_doctype(data: bytes) -> None:
    """Look for a document type in XML that another library is going to parse.

    Raises:
        ExtractionFailed: there is one.
    """
    if any(mark in data for mark in _DOCTYPES):
        _refuse_doctype()
