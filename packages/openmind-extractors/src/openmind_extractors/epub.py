"""Electronic books: chapter by chapter, in the order of reading."""

import posixpath
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from attrs import define, field, frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob

from openmind_extractors.archives import Archive, open_archive
from openmind_extractors.blocks import segments
from openmind_extractors.decoding import decode
from openmind_extractors.html import MAX_TREE_CHARS, Page, read_page
from openmind_extractors.limits import MAX_HEADING_CHARS
from openmind_extractors.ooxml import read_properties
from openmind_extractors.safe_xml import parse

MAX_CHAPTERS = 1_000
"""The longest books have some hundred files."""

_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})


@frozen
class EpubExtractor:
    """Reads `.epub`."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the facts first, then each chapter."""
        with open_archive(blob) as archive:
            package_name = _package_name(archive)
            data = archive.read(package_name)
            properties = read_properties(data)
            package = _Package.read(data, posixpath.dirname(package_name))
            chapters = [name for name in package.chapters() if name in archive.names][:MAX_CHAPTERS]
            if any(name.encode() in archive.read_if_there("META-INF/encryption.xml") for name in chapters):
                raise ExtractionFailed("the book is protected", reason=FileReason.ENCRYPTED)
            metadata: dict[str, object] = {
                "file_type": "epub",
                "extraction_method": "html5lib",
                "chapter_count": len(chapters),
                **properties.metadata,
            }
            facts = DocumentFacts(title=properties.title, metadata=metadata)
            yield facts
            count = 0
            for number, name in enumerate(chapters, start=1):
                page = read_page(decode(archive.read(name)[:MAX_TREE_CHARS], html=True, cut=True).text)
                place = Place(kind="chapter", start=number, label=_label(page))
                for segment in segments(page.blocks, within=(place,)):
                    count += 1
                    yield segment
            if not count:
                note = "the book holds no text"
                yield DocumentFacts(title=properties.title, metadata=metadata, reason=FileReason.EMPTY, note=note)


def _label(page: Page) -> str:
    heading = next((" ".join(block.text.split()) for block in page.blocks if block.level), "")
    return (heading or page.title)[:MAX_HEADING_CHARS]


def _package_name(archive: Archive) -> str:
    """Find the file that lists the book's parts."""
    found: list[str] = []

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name == "rootfile" and attributes.get("full-path"):
            found.append(attributes["full-path"])

    data = archive.read_if_there("META-INF/container.xml")
    if data:
        parse(data, start=start, end=lambda name: None, text=lambda text: None)
    candidates = [*found, *sorted(name for name in archive.names if name.endswith(".opf"))]
    package = next((name for name in candidates if name in archive.names), None)
    if package is None:
        raise ExtractionFailed("this is no electronic book: it has no list of its parts", reason=FileReason.UNSUPPORTED)
    return package


@define
class _Package:
    """The list of a book's parts, and the order of reading."""

    folder: str
    _pages: dict[str, str] = field(factory=dict)
    _order: list[str] = field(factory=list)

    @classmethod
    def read(cls, data: bytes, folder: str) -> "_Package":
        package = cls(folder)
        parse(data, start=package._start, end=lambda name: None, text=lambda text: None)
        return package

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "item" and attributes.get("media-type") in _PAGES:
            is_contents = "nav" in attributes.get("properties", "").split()
            if not is_contents:
                path = posixpath.normpath(posixpath.join(self.folder, unquote(attributes.get("href", ""))))
                self._pages[attributes.get("id", "")] = path
        elif name == "itemref":
            self._order.append(attributes.get("idref", ""))

    def chapters(self) -> list[str]:
        """Return the members in the order of reading; without one, as they are listed."""
        ordered = [self._pages[id] for id in self._order if id in self._pages]
        return ordered or list(self._pages.values())
