"""Electronic books: chapter by chapter, in the order of reading."""

import posixpath
from collections.abc import Iterator, Mapping
from urllib.parse import unquote

from attrs import define, evolve, field, frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob

from openmind_extractors.archives import Archive, open_archive
from openmind_extractors.blocks import segments
from openmind_extractors.decoding import decode
from openmind_extractors.html import MAX_TREE_CHARS, Page, read_page
from openmind_extractors.limits import MAX_HEADING_CHARS
from openmind_extractors.losses import Losses
from openmind_extractors.ooxml import Properties, read_properties
from openmind_extractors.safe_xml import parse

_CONTAINER = "META-INF/container.xml"
_PROTECTION = "META-INF/encryption.xml"
_ENDINGS = (".xhtml", ".html", ".htm")
"""Of the chapters of a book whose list cannot be read."""

_BOILERPLATE = frozenset({"nav"})
"""A book has footers and asides for its own text: notes, sources of quotations, boxes."""

_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})


@frozen
class EpubExtractor:
    """Reads `.epub`."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the facts first, then each chapter."""
        with open_archive(blob) as archive:
            losses = Losses()
            package_name = _package_name(archive, losses)
            package, properties = losses.attempt(
                package_name, lambda: _Package.read(archive, package_name), (_Package(""), Properties())
            )
            listed = package.chapters() or sorted(name for name in archive.names if name.lower().endswith(_ENDINGS))
            chapters = [name for name in listed if name in archive.names]
            protection = losses.attempt(_PROTECTION, lambda: archive.read_if_there(_PROTECTION), b"")
            if any(name.encode() in protection for name in chapters):
                raise ExtractionFailed("the book is protected", reason=FileReason.ENCRYPTED)
            for name in listed:
                if name not in archive.names:
                    losses.add(f"{name} is listed in the book and missing")
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
                page = read_page(_chapter(archive, name, losses), _BOILERPLATE)
                place = Place(kind="chapter", start=number, label=_label(page))
                for segment in segments(page.blocks, within=(place,)):
                    count += 1
                    yield segment
            if not count:
                facts = evolve(facts, reason=FileReason.EMPTY, note="the book holds no text")
            if losses or not count:
                yield losses.told(facts)


def _chapter(archive: Archive, name: str, losses: Losses) -> str:
    """Return the text of a chapter with its tags; of a very long one the beginning, of a damaged one nothing."""
    data = losses.attempt(name, lambda: archive.read(name), b"")
    is_cut = len(data) > MAX_TREE_CHARS
    if is_cut:
        losses.add(f"only the first {MAX_TREE_CHARS // 1_000_000} MB of {name} were read")
    return losses.attempt(name, lambda: decode(data[:MAX_TREE_CHARS], html=True, cut=is_cut).text, "")


def _label(page: Page) -> str:
    heading = next((" ".join(block.text.split()) for block in page.blocks if block.level), "")
    return (heading or page.title)[:MAX_HEADING_CHARS]


def _package_name(archive: Archive, losses: Losses) -> str:
    """Find the file that lists the book's parts."""
    found: list[str] = []

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name == "rootfile" and attributes.get("full-path"):
            found.append(attributes["full-path"])

    def read() -> None:
        data = archive.read_if_there(_CONTAINER)
        if data:
            parse(data, start=start, end=lambda name: None, text=lambda text: None)

    losses.attempt(_CONTAINER, read, None)
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
    def read(cls, archive: Archive, name: str) -> tuple["_Package", Properties]:
        """Read the list, and what the book says of itself beside it."""
        data = archive.read(name)
        package = cls(posixpath.dirname(name))
        parse(data, start=package._start, end=lambda name: None, text=lambda text: None)
        return package, read_properties(data)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "item" and attributes.get("media-type") in _PAGES:
            is_contents = "nav" in attributes.get("properties", "").split()
            if not is_contents:
                path = posixpath.normpath(posixpath.join(self.folder, unquote(attributes.get("href", ""))))
                self._pages[attributes.get("id", "")] = path
        elif name == "itemref":
            self._order.append(attributes.get("idref", ""))

    def chapters(self) -> list[str]:
        """Return the members in the order of reading, each once; without an order, as they are listed."""
        ordered = [self._pages[id] for id in self._order if id in self._pages]
        return list(dict.fromkeys(ordered or self._pages.values()))
