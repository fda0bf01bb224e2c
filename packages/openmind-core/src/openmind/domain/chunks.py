"""Chunks: passages small enough to embed and to quote."""

import hashlib
from typing import NamedTuple

from attrs import field, frozen

from openmind.domain.documents import Locator
from openmind.domain.ids import FileId, Generation, SourceId
from openmind.domain.text import as_seen

Attributes = dict[str, object]


@frozen(kw_only=True)
class Chunk:
    """A passage of one document. Passages are numbered from 0 in reading order and may overlap."""

    index: int
    text: str
    """Verbatim: what a person is shown."""
    locator: Locator = ()
    context: str = ""
    """Title and heading path, one line: embedded and matched with the text, never shown as part of it."""

    @property
    def embedded_text(self) -> str:
        return embedded_text(self.context, self.text)


def embedded_text(context: str, text: str) -> str:
    """Return the exact input of the embedder for a passage with its context; never blank unless the passage is."""
    whole = f"{context}\n{text}" if context else text
    seen = as_seen(whole)
    return whole if seen.isspace() or not seen else seen


def passage_hash(text: str) -> int:
    """Hash a passage's text to a signed 64-bit number, so that equal passages can be told cheaply."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


class ChunkKey(NamedTuple):
    """Names one stored passage. A tuple, since a search compares and hashes thousands of them."""

    generation: Generation
    file_id: FileId
    index: int  # type: ignore[assignment]  # hides a method of tuples that makes no sense here


@frozen(kw_only=True)
class ChunkRow:
    """A passage as it is stored: one row of the chunk table."""

    generation: Generation
    file_id: FileId
    source_id: SourceId
    path: str
    file_name: str
    extension: str
    title: str
    text: str
    words: str
    """The analysed words of text, context, file name and path: what the words leg matches."""
    vector: bytes | None = field(default=None, repr=False)
    """Little-endian float32, unit length; None while the passage has no vector."""
    index: int
    content_hash: str
    modified_at: float
    indexed_at: str
    passage: int
    """`passage_hash` of the text."""
    metadata: str = "{}"
    """JSON: `locator`, `context` and what the extractor said."""

    @property
    def key(self) -> ChunkKey:
        return ChunkKey(generation=self.generation, file_id=self.file_id, index=self.index)


@frozen(kw_only=True)
class StoredPassage:
    """What a search reads of a row: a third of its columns, so a third of the time."""

    key: ChunkKey
    title: str
    extension: str
    text: str
    words: str
    metadata: str
