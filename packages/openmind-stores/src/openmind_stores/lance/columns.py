"""Columns of a table in Arrow, and what is taken out of them."""

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import field, frozen

from openmind_stores.hidden_pandas import hidden_pandas
from openmind_stores.lance.schema import COLUMNS, FLOAT, INTEGER, NULLABLE, STRING, VECTOR, Columns

with hidden_pandas():
    import pyarrow as pa

Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]

ENCODINGS: Mapping[str, dict[str, str]] = {"id": {"lance-encoding:compression": "zstd"}}
"""Where Lance's own choice takes twice the room. Running text takes more room as zstd."""


@frozen
class FileColumns:
    """Columns of many rows without a Python object for each value."""

    row_ids: Numbers = field(repr=False)
    numbers: Sequence[Numbers] = field(repr=False)
    texts: Sequence[str] = field(repr=False)
    """The values of the column of text, each once."""
    text: Numbers = field(repr=False)
    """For each row the place of its value in `texts`."""

    @classmethod
    def of(cls, table: "pa.Table", *, row_ids: str, numbers: Sequence[str], text: str) -> "FileColumns":
        values = table.column(text).combine_chunks().dictionary_encode()
        return cls(
            row_ids=table.column(row_ids).to_numpy().astype(np.int64),
            numbers=[table.column(name).to_numpy() for name in numbers],
            texts=values.dictionary.to_pylist(),
            text=values.indices.to_numpy(),
        )


def arrow_schema(dimension: int) -> pa.Schema:
    """Say what a new table looks like.

    Vectors lie there in half precision: it takes half the room, a search that looks at each of them a third of the
    time, and a cosine is off by less than 0.001. Tables that were made with float32 stay as they are.
    """
    types = {STRING: pa.string(), INTEGER: pa.int64(), FLOAT: pa.float64(), VECTOR: pa.list_(pa.float16(), dimension)}
    return pa.schema(
        [pa.field(name, types[kind], name in NULLABLE, metadata=ENCODINGS.get(name)) for name, kind in COLUMNS.items()]
    )


def vectors_from_arrow(column: "pa.Array | pa.ChunkedArray") -> list[object]:
    """Take vectors out of a column, each of them bytes or None."""
    vectors: list[object] = []
    for part in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        dimension = part.type.list_size
        values = part.values.to_numpy(zero_copy_only=False).astype("<f4", copy=False)
        rows = values[part.offset * dimension : (part.offset + len(part)) * dimension].reshape(len(part), dimension)
        there = part.is_valid().to_pylist()
        vectors.extend(row.tobytes() if valid else None for row, valid in zip(rows, there, strict=True))
    return vectors


def unpack(data: "pa.Table | pa.RecordBatch") -> Columns:
    return {
        name: vectors_from_arrow(data.column(name)) if name == "vector" else data.column(name).to_pylist()
        for name in data.schema.names
    }
