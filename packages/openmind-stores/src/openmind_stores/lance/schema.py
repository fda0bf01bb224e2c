"""The columns of a chunk table and how a `ChunkRow` lies in them."""

from collections.abc import Iterable, Mapping
from typing import cast

from openmind.domain.chunks import ChunkKey, ChunkRow, StoredPassage
from openmind.domain.ids import FileId, Generation, SourceId

Columns = dict[str, list[object]]

STRING, INTEGER, FLOAT, VECTOR = "string", "integer", "float", "vector"

COLUMNS: Mapping[str, str] = {
    "id": STRING,
    "source_id": STRING,
    "file_id": STRING,
    "path": STRING,
    "file_name": STRING,
    "extension": STRING,
    "title": STRING,
    "text": STRING,
    "vector": VECTOR,
    "chunk_index": INTEGER,
    "content_hash": STRING,
    "modified_at": FLOAT,
    "indexed_at": STRING,
    "metadata": STRING,
    "generation": INTEGER,
    "words": STRING,
    "passage": INTEGER,
}
NULLABLE = frozenset({"vector"})
KEY = ("generation", "file_id", "chunk_index")
OF_A_ROW = tuple(name for name in COLUMNS if name != "id")
"""What a `ChunkRow` is made of: `id`, file, generation and index, is for people who open the table with LanceDB."""
OF_A_FILE = ("source_id", "file_id", "path", "file_name", "extension", "title", "content_hash", "indexed_at")
"""Strings that all rows of a file share."""
WITHOUT_VECTOR = tuple(name for name in OF_A_ROW if name != "vector")


OF_A_PASSAGE = ("title", "extension", "text", "words", "metadata")
"""What a `StoredPassage` is made of, besides its key."""


def to_keys(columns: Columns) -> list[ChunkKey]:
    return [
        ChunkKey(
            generation=Generation(cast(int, generation)), file_id=FileId(cast(str, file_id)), index=cast(int, index)
        )
        for generation, file_id, index in zip(*(columns[name] for name in KEY), strict=True)
    ]


def to_passages(keys: Iterable[ChunkKey], columns: Columns) -> dict[ChunkKey, StoredPassage]:
    """Make passages of columns that have their rows in the order of the keys."""
    values = zip(*(cast("list[str]", columns[name]) for name in OF_A_PASSAGE), strict=True)
    return {
        key: StoredPassage(key=key, title=title, extension=extension, text=text, words=words, metadata=metadata)
        for key, (title, extension, text, words, metadata) in zip(keys, values, strict=True)
    }


def to_rows(columns: Columns) -> list[ChunkRow]:
    """Make rows of columns; without the vector column the rows have no vector."""
    there = [name for name in OF_A_ROW if name in columns]
    return [
        _to_row(dict(zip(there, values, strict=True)))
        for values in zip(*(columns[name] for name in there), strict=True)
    ]


def _to_row(values: Mapping[str, object]) -> ChunkRow:
    return ChunkRow(
        generation=Generation(cast(int, values["generation"])),
        file_id=FileId(cast(str, values["file_id"])),
        source_id=SourceId(cast(str, values["source_id"])),
        path=cast(str, values["path"]),
        file_name=cast(str, values["file_name"]),
        extension=cast(str, values["extension"]),
        title=cast(str, values["title"]),
        text=cast(str, values["text"]),
        words=cast(str, values["words"]),
        vector=cast("bytes | None", values.get("vector")),
        index=cast(int, values["chunk_index"]),
        content_hash=cast(str, values["content_hash"]),
        modified_at=cast(float, values["modified_at"]),
        indexed_at=cast(str, values["indexed_at"]),
        passage=cast(int, values["passage"]),
        metadata=cast(str, values["metadata"]),
    )
