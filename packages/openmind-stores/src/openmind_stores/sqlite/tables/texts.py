"""Kept texts and journalled vectors: what spares a second extraction and a second embedding."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from openmind_stores.sqlite.records import BYTES, TEXT, Form, Session, shapes
from openmind_stores.sqlite.values import batches

_TEXT: Final = "SELECT extractor, packed FROM texts WHERE content_hash = ? AND extractor = ?"
_RECOGNISED: Final = """
SELECT extractor, packed FROM texts WHERE content_hash = ? AND extractor >= 'ocr:' AND extractor < 'ocr;'
"""
_KEEP_TEXT: Final = """
INSERT INTO texts (content_hash, extractor, size, packed) VALUES (?, ?, ?, ?)
ON CONFLICT (content_hash, extractor) DO NOTHING
"""
_DROP_OTHER: Final = "DELETE FROM texts WHERE content_hash = ? AND extractor = ? AND packed <> ?"
_DROP_UNUSED: Final = """
DELETE FROM texts WHERE NOT EXISTS (
    SELECT 1 FROM files WHERE content_hash = texts.content_hash AND extractor = texts.extractor
) AND NOT (
    substr(extractor, 1, 4) = 'ocr:' AND EXISTS (SELECT 1 FROM files WHERE content_hash = texts.content_hash)
)
"""
_VECTORS: Final = "SELECT input_hash, vector FROM vectors WHERE embedder = ? AND input_hash IN ({})"
_KEEP_VECTOR: Final = "INSERT OR REPLACE INTO vectors (embedder, input_hash, vector) VALUES (?, ?, ?)"
_DROP_JOURNAL: Final = "DELETE FROM vectors"
_DROP_VECTOR: Final = "DELETE FROM vectors WHERE embedder = ? AND input_hash = ?"
_DROP_EMBEDDER: Final = "DELETE FROM vectors WHERE embedder = ?"


# To look whether they are what they should be, nobody reads gigabytes of them.
TEXTS: Final[Form[tuple[str, bytes]]] = Form(
    table="texts",
    every="SELECT extractor, IIF(typeof(packed) = 'blob', x'', packed) FROM texts",
    shapes=shapes(TEXT, BYTES),
    make=lambda row: row,
)
VECTORS: Final[Form[tuple[bytes, bytes]]] = Form(
    table="vectors",
    every="SELECT input_hash, IIF(typeof(vector) = 'blob', x'', vector) FROM vectors",
    shapes=shapes(BYTES, BYTES),
    make=lambda row: row,
)


class TextReading(Session):
    """Looks up what was kept."""

    def text(self, content_hash: str, extractor: str) -> bytes | None:
        found = self.one(TEXTS, _TEXT, (content_hash, extractor))
        return None if found is None else found[1]

    def recognised(self, content_hash: str) -> dict[str, bytes]:
        return dict(self.all(TEXTS, _RECOGNISED, (content_hash,)))

    def vectors(self, embedder: str, hashes: Collection[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for batch in batches(hashes):
            places = ", ".join("?" * len(batch))
            found.update(self.all(VECTORS, _VECTORS.format(places), (embedder, *batch)))
        return found


class TextWriting(TextReading):
    """Keeps and forgets."""

    def keep_text(self, content_hash: str, extractor: str, packed: bytes) -> None:
        row = (content_hash, extractor, len(packed), packed)
        if not self.link.run(_KEEP_TEXT, row) and self.link.run(_DROP_OTHER, (content_hash, extractor, packed)):
            self.link.run(_KEEP_TEXT, row)  # a replacement would not be counted

    def drop_unused_texts(self) -> int:
        return self.link.run(_DROP_UNUSED)

    def keep_vectors(self, embedder: str, vectors: Mapping[bytes, bytes]) -> None:
        rows = ((embedder, input_hash, vector) for input_hash, vector in vectors.items())
        self.link.run_many(_KEEP_VECTOR, rows)

    def drop_journal(self) -> None:
        self.link.run(_DROP_JOURNAL)

    def drop_vectors(self, embedder: str, hashes: Iterable[bytes] | None = None) -> None:
        if hashes is None:
            self.link.run(_DROP_EMBEDDER, (embedder,))
            return
        for batch in batches(hashes):
            self.link.run_many(_DROP_VECTOR, ((embedder, input_hash) for input_hash in batch))
