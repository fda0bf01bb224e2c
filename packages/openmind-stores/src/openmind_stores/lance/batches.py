"""Batches: rows laid into columns of Arrow."""

from collections.abc import Sequence

import numpy as np
from openmind.domain.chunk_rows import ChunkRows
from openmind.domain.texts import Texts
from openmind.domain.vectors import KnownVectors

from openmind_stores.hidden_pandas import hidden_pandas
from openmind_stores.lance.schema import OF_A_FILE

with hidden_pandas():
    import pyarrow as pa
    import pyarrow.compute as compute


def to_batch(rows: ChunkRows, schema: "pa.Schema") -> "pa.RecordBatch":
    """Lay rows into columns. What stands in buffers stays there; what a file shares is said once, and spread."""
    files = rows.files
    counts = np.array([len(file) for file in files])
    spread = pa.array(np.repeat(np.arange(len(files)), counts))
    starts = np.repeat(np.cumsum(counts) - counts - [file.first for file in files], counts)
    indexes = pa.array(np.arange(len(spread)) - starts)
    passages = [file.passages for file in files]
    prefixes = strings([f"{file.file_id}:{file.generation}" for file in files])
    columns = {
        "id": compute.binary_join_element_wise(prefixes.take(spread), indexes.cast(pa.string()), ":"),
        "text": texts_to_arrow([each.texts for each in passages]),
        "words": texts_to_arrow([each.words for each in passages]),
        "metadata": texts_to_arrow([each.metadata for each in passages]),
        "passage": pa.array(np.frombuffer(b"".join([each.hashes for each in passages]), np.int64)),
        "vector": vectors_to_arrow([file.vectors for file in files], schema.field("vector").type),
        "chunk_index": indexes,
        "generation": pa.array([file.generation for file in files], pa.int64()).take(spread),
        "modified_at": pa.array([file.modified_at for file in files], pa.float64()).take(spread),
        **{name: strings([getattr(file, name) for file in files]).take(spread) for name in OF_A_FILE},
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def strings(values: Sequence[str]) -> pa.Array:
    """Put strings into one column; half characters, which UTF-8 cannot say, become question marks."""
    return texts_to_arrow([Texts.of(values)])


def texts_to_arrow(parts: Sequence[Texts]) -> pa.Array:
    """Put texts into one column, as they are."""
    sizes = np.frombuffer(b"".join([part.sizes for part in parts]), np.int32)
    ends = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=ends[1:])
    column = pa.StringArray.from_buffers(
        len(sizes), pa.py_buffer(ends), pa.py_buffer(b"".join([part.data for part in parts]))
    )
    column.validate(full=True)  # what is no UTF-8 would end the process, in the midst of Lance
    return column


def vectors_to_arrow(parts: Sequence[KnownVectors], kind: "pa.FixedSizeListType") -> pa.Array:
    """Put vectors into one column of the precision that the table has."""
    packed = np.frombuffer(b"".join([part.rows.data for part in parts]), "<f4")
    values = pa.array(packed.astype(kind.value_type.to_pandas_dtype(), copy=False), kind.value_type)
    if not any(part.missing for part in parts):
        return pa.FixedSizeListArray.from_arrays(values, kind.list_size)
    missing = [at in part.missing for part in parts for at in range(len(part))]
    return pa.FixedSizeListArray.from_arrays(values, kind.list_size, mask=pa.array(missing, pa.bool_()))
