"""Reads the weights of the model as they lie in their file, which no process copies into memory of its own."""

import json
import mmap
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

NAME = "embedding.weight"
LENGTH_BYTES = 8


def map_weights(path: Path) -> NDArray[np.float16]:
    """Map the one tensor of a safetensors file: the length of its header, the header in JSON, then the numbers.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no such file, or damaged.
        KeyError: it holds no such tensor.
    """
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    length = int.from_bytes(content[:LENGTH_BYTES], "little")
    tensor = json.loads(content[LENGTH_BYTES : LENGTH_BYTES + length])[NAME]
    if tensor["dtype"] != "F16":
        raise ValueError(f"numbers of the kind {tensor['dtype']}")
    rows, columns = tensor["shape"]
    start, end = tensor["data_offsets"]
    if end - start != rows * columns * 2:
        raise ValueError("its shape is not that of its numbers")
    numbers = np.frombuffer(content, "<f2", rows * columns, LENGTH_BYTES + length + start)
    return numbers.reshape(rows, columns)
