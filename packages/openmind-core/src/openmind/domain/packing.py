"""Packing: a document's text as it is kept, and what is kept with each passage.

A packed document is a header, `OMTX`, a version and two sizes, then, compressed, a JSON object that says how the
text behind it is divided, then the text. Text is not put into the JSON: escaping it costs as much as compressing it.
"""

import json
import struct
import zlib

from openmind.domain.chunks import Chunk, ChunkRow, embedded_text
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Locator, Place, Segment
from openmind.domain.errors import StoreDamaged
from openmind.domain.files import FileReason
from openmind.domain.passages import Passage

MAX_UNPACKED = 512 * 1024 * 1024
"""Bytes; far above what is ever packed. A damaged header must not make us reserve memory."""

_HEADER = struct.Struct("<4sBIQ")
"""Magic, version, size of the JSON object, size of everything behind the header."""
_MAGIC = b"OMTX"
_VERSION = 3
_OFTEN = (
    b'"heading","label":"{"facts":["",{"file_type":"markdown","extraction_method":"text","encoding":"utf-8",'
    b'"encoding_source":"utf-8"},"ok",""],"segments":[[,"code",[{"kind":"lines","start":1}]],[1,"table",[{"kind":"page",'
    b'"start":1}]],[2,"text",[{"kind":"lines","start":1,"end":2}]]]}'
)
"""What stands in most packed documents: that it need not be spelled out saves a twentieth of a short one."""
_OF_ZLIB = {1: b"", 2: _OFTEN}
"""Versions that zlib compressed, with what they left out."""
_encode = json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":")).encode
_MALFORMED = (zlib.error, struct.error, ValueError, LookupError, TypeError, RecursionError)


def pack(document: ExtractedDocument) -> bytes:
    """Pack a document."""
    from openmind.domain.compression import compress  # its library waits for the first text

    facts, segments = document.facts, document.segments
    plan = _encode(
        {
            "facts": [facts.title, facts.metadata, facts.reason.value, facts.note],
            "segments": [[len(part.text), part.kind, locator_to_json(part.locator)] for part in segments],
        }
    ).encode()
    content = plan + "".join([part.text for part in segments]).encode("utf-8", "surrogatepass")
    return _HEADER.pack(_MAGIC, _VERSION, len(plan), len(content)) + compress(content, often=_OFTEN)


def unpack(data: bytes) -> ExtractedDocument:
    """Unpack a document.

    Raises:
        StoreDamaged: this is no packed document, a damaged one, or one that a newer version packed.
    """
    try:
        magic, version, plan_size, size = _HEADER.unpack_from(data)
        if magic != _MAGIC or not plan_size <= size <= MAX_UNPACKED:
            raise ValueError("unknown header")
        content = _content(data[_HEADER.size :], version, size)
        return _divided(json.loads(content[:plan_size]), content[plan_size:].decode("utf-8", "surrogatepass"))
    except _MALFORMED as error:
        raise StoreDamaged(
            "The kept text of a file is damaged.", hint="Run `openmind index`: it reads the file again."
        ) from error


def _content(data: bytes, version: int, size: int) -> bytes:
    if version == _VERSION:
        from openmind.domain.compression import decompress

        return decompress(data, size, often=_OFTEN)
    stream = zlib.decompressobj(zdict=_OF_ZLIB[version])
    content = stream.decompress(data, size + 1)
    if len(content) != size or not stream.eof or stream.unused_data:
        raise ValueError("the size is not what was announced")
    return content


def _divided(plan: dict[str, list[object]], text: str) -> ExtractedDocument:
    title, metadata, reason, note = plan["facts"]
    if not (isinstance(title, str) and isinstance(metadata, dict) and isinstance(note, str)):
        raise TypeError("malformed facts")
    segments, position = [], 0
    for entry in plan["segments"]:
        length, kind, places = _fields(entry, 3)
        if not (isinstance(length, int) and 0 <= length <= len(text) - position and isinstance(kind, str)):
            raise TypeError("malformed segment")
        segments.append(Segment(text=text[position : position + length], locator=_locator(places), kind=kind))
        position += length
    if position != len(text):
        raise ValueError("there is text that belongs to no segment")
    facts = DocumentFacts(title=title, metadata=metadata, reason=FileReason(str(reason)), note=note)
    return ExtractedDocument(segments=tuple(segments), facts=facts)


def _fields(entry: object, count: int) -> list[object]:
    if not isinstance(entry, list) or len(entry) != count:
        raise TypeError("malformed list")
    return entry


def locator_to_json(locator: Locator) -> list[dict[str, object]]:
    """Write a locator as JSON: the places in order, without what they leave open."""
    written = []
    for place in locator:
        fields: dict[str, object] = {"kind": place.kind}
        if place.start is not None:
            fields["start"] = place.start
        if place.end is not None:
            fields["end"] = place.end
        if place.label:
            fields["label"] = place.label
        written.append(fields)
    return written


def locator_from_json(places: object) -> Locator:
    """Read what `locator_to_json` wrote.

    Raises:
        StoreDamaged: this is no locator.
    """
    try:
        return _locator(places)
    except _MALFORMED as error:
        raise StoreDamaged(
            "The place of a passage is damaged.", hint="Run `openmind index`: it rebuilds the passages."
        ) from error


def _locator(places: object) -> Locator:
    if not isinstance(places, list):
        raise TypeError("a locator is a list of places")
    return tuple(map(_place, places))


def _place(fields: dict[str, object]) -> Place:
    kind, label = fields["kind"], fields.get("label", "")
    start, end = fields.get("start"), fields.get("end")
    if not (isinstance(kind, str) and isinstance(label, str)):
        raise TypeError("malformed place")
    if not (isinstance(start, int | None) and isinstance(end, int | None)):
        raise TypeError("malformed place")
    return Place(kind=kind, start=start, end=end, label=label)


def chunk_metadata(chunk: Chunk, facts: DocumentFacts) -> str:
    """Write what is stored with a passage: its locator, its context, and what the extractor said of the document."""
    return _encode({"locator": locator_to_json(chunk.locator), "context": chunk.context, "document": facts.metadata})


def read_metadata(text: str) -> tuple[Locator, str, dict[str, object]]:
    """Read what `chunk_metadata` wrote.

    Returns:
        The locator, the context, and the extractor's metadata.

    Raises:
        StoreDamaged: the text is nothing of the kind.
    """
    try:
        stored = json.loads(text)
        context, document = stored.get("context", ""), stored.get("document", {})
        if not (isinstance(context, str) and isinstance(document, dict)):
            raise TypeError("malformed metadata")
        return _locator(stored.get("locator", [])), context, document
    except (*_MALFORMED, AttributeError) as error:
        raise StoreDamaged(
            "What is stored with a passage is damaged.", hint="Run `openmind index`: it rebuilds the passages."
        ) from error


def stored_input(row: ChunkRow | Passage) -> str:
    """Return the exact input of the embedder for a stored passage."""
    _, context, _ = read_metadata(row.metadata)
    return embedded_text(context, row.text)
