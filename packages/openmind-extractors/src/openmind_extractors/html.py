"""HTML pages: what a reader sees, without what surrounds it on every page of the site."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from xml.etree.ElementTree import Element

from attrs import define, frozen
from openmind.domain.documents import DocumentFacts, Place, Segment
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob

from openmind_extractors.blocks import BOILERPLATE, Block, BlockReader, segments
from openmind_extractors.decoding import decode
from openmind_extractors.limits import MAX_METADATA_CHARS, MAX_TEXT_CHARS
from openmind_extractors.reading import read_all

MAX_HTML_BYTES = 20_000_000
"""Larger pages are data dumps, not pages."""

MAX_TREE_CHARS = 5_000_000
"""Up to here a page is parsed as browsers do, at 0.3–2 MB a second; above, its tags are only cut out."""

MAX_TREE_TAGS = 200_000
"""A tree of more elements takes hundreds of megabytes."""

MAX_TREE_ENTITIES = 50_000
"""The parser looks each entity up character by character."""

MAX_TREE_DEPTH = 500
"""Deeper trees take quadratic time: 5,000 levels took 2.4 seconds, 100,000 did not end."""

MAX_TREE_ATTRIBUTES = 100
"""Of one element. The parser compares each with all before it: 12,000 took 3.7 seconds, 300,000 did not end."""

_UNNESTED = frozenset(
    """
    area base br col embed hr img input link meta param source track wbr p li dt dd td th tr tbody
    thead tfoot option optgroup colgroup rb rt rp rtc !doctype
    """.split()  # noqa: SIM905  a word a line would hide the list
)
"""Elements that have no end tag, or are ended by the next one of their kind."""

_TAG = re.compile(r"<(/?)([a-zA-Z!][^\s/>]{0,30})((?:[^<>\"']++|\"[^\"]{0,9999}+\"|'[^']{0,9999}+')*+)>")
_ATTRIBUTE = re.compile(r"([a-zA-Z:-]{1,30})(?:\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]{1,2000})))?")


@frozen
class HtmlExtractor:
    """Reads HTML and XHTML pages."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the facts first, then the page's text in order."""
        data = read_all(blob, MAX_HTML_BYTES, "an HTML page")
        decoded = decode(data, html=True)
        page = read_page(decoded.text)
        metadata = {
            "file_type": "html",
            "extraction_method": page.method,
            "encoding": decoded.encoding,
            "encoding_source": decoded.source,
            **page.metadata,
        }
        is_empty = not page.blocks and not page.title
        reason, note = (FileReason.EMPTY, "the page shows no text") if is_empty else (FileReason.OK, "")
        yield DocumentFacts(title=page.title, metadata=metadata, reason=reason, note=note)
        yield from segments(page.blocks)
        if page.title and not page.blocks:
            yield Segment(text=page.title, locator=(Place(kind="part", label="title"),))


@frozen(kw_only=True)
class Page:
    """What a page says."""

    title: str
    blocks: list[Block]
    method: str
    """`html5lib`, or `tags` where the tree would have been too large."""
    metadata: dict[str, object]


def read_page(text: str, boilerplate: frozenset[str] = BOILERPLATE) -> Page:
    """Read the text of a page; when only boilerplate holds text, that is what the page says.

    Args:
        text: the page with its tags.
        boilerplate: elements that surround the text of such pages, and are left out.
    """
    text = text[:MAX_TEXT_CHARS]
    metadata: dict[str, object] = {}
    if fits_a_tree(text):
        root = _tree(text)
        readers = (_read_tree(root, left_out) for left_out in (boilerplate, frozenset[str]()))
        metadata, method = _metadata(root), "html5lib"
    else:
        readers = (_read_tags(text, left_out) for left_out in (boilerplate, frozenset[str]()))
        method = "tags"
    reader = next(readers)
    if not reader.blocks:
        reader = next(readers)
    title = reader.title or next((" ".join(b.text.split()) for b in reader.blocks if b.level == 1), "")
    return Page(title=title, blocks=reader.blocks, method=method, metadata=metadata)


def fits_a_tree(text: str) -> bool:
    """Whether parsing the page into a tree is bounded, told by counting its tags."""
    if len(text) > MAX_TREE_CHARS or text.count("<") > MAX_TREE_TAGS or text.count("&") > MAX_TREE_ENTITIES:
        return False
    depth = 0
    for match in _TAG.finditer(text):
        closing, name, rest = match.groups()
        if len(rest) > MAX_TREE_ATTRIBUTES and len(_ATTRIBUTE.findall(rest)) > MAX_TREE_ATTRIBUTES:
            return False
        if name.lower() in _UNNESTED:
            continue
        if closing:
            depth = max(depth - 1, 0)
        elif not rest.endswith("/"):
            depth += 1
            if depth > MAX_TREE_DEPTH:
                return False
    return True


def _tree(text: str) -> Element:
    import html5lib  # only the process that reads pages needs it

    root: Element = html5lib.parse(text, treebuilder="etree", namespaceHTMLElements=False)
    return root


def _read_tree(root: Element, boilerplate: frozenset[str]) -> BlockReader:
    """Walk a tree without recursion."""
    reader = BlockReader(boilerplate)
    pending: list[tuple[Element, str]] = [(root, "")]
    while pending:
        element, ending = pending.pop()
        tag = element.tag
        if ending:
            reader.end(ending)
        elif isinstance(tag, str):  # not a comment
            name = tag.rpartition("}")[2] if tag[0] == "{" else tag
            if reader.start(name, element.attrib):
                if element.text:
                    reader.text(element.text)
                pending.append((element, name))
                pending.extend([(child, "") for child in reversed(element)])
                continue
        if element.tail:
            reader.text(element.tail)
    reader.finish()
    return reader


_META_NAMES = {"description": "description", "author": "author", "keywords": "keywords", "date": "date"}


def _metadata(root: Element) -> dict[str, object]:
    """Read what the page's head says of it."""
    found: dict[str, object] = {}
    for element in root.iterfind("./head/meta"):
        key = _META_NAMES.get(element.get("name", "").lower())
        content = " ".join(element.get("content", "").split())
        if key and content:
            found.setdefault(key, content[:MAX_METADATA_CHARS])
    language = root.get("lang")
    if language:
        found["language"] = language[:35]
    return found


@define
class _Skipping:
    """The element that is left out, and how many of its kind are open inside it."""

    tag: str
    depth: int = 1


def _read_tags(text: str, boilerplate: frozenset[str]) -> BlockReader:
    """Cut tags out one by one, in one pass and without a tree."""
    reader = BlockReader(boilerplate)
    skipping: _Skipping | None = None
    position = 0
    while position < len(text):
        opened = text.find("<", position)
        if opened < 0:
            opened = len(text)
        if skipping is None and opened > position:
            reader.text(unescape(text[position:opened]))
        if text.startswith("<!--", opened):
            closed = text.find("-->", opened + 4)
            position = len(text) if closed < 0 else closed + 3
            continue
        match = _TAG.match(text, opened)
        if match is None:
            if skipping is None:
                reader.text(text[opened : opened + 1])
            position = opened + 1
            continue
        position = match.end()
        skipping = _take(reader, match, skipping)
    reader.finish()
    return reader


def _take(reader: BlockReader, match: re.Match[str], skipping: _Skipping | None) -> _Skipping | None:
    """Handle one tag; return the element that is left out after it, if any."""
    closing, name, rest = match.groups()
    name, is_empty = name.lower(), rest.endswith("/")
    if skipping is not None:
        if name == skipping.tag and not is_empty:
            skipping.depth += -1 if closing else 1
        return skipping if skipping.depth else None
    if closing:
        reader.end(name)
    elif not reader.start(name, _attributes(rest)) and not is_empty:
        return _Skipping(name)
    return None


def _attributes(text: str) -> Mapping[str, str]:
    if not text.strip():
        return {}
    found = _ATTRIBUTE.findall(text)
    return {name.lower(): unescape(double or single or bare) for name, double, single, bare in found}
