"""Streams of a PDF that unpack to more than memory holds, found before PDFium unpacks them.

PDFium sets no limit of its own: a file of 600 kB made it take 1.2 GB.
"""

import mmap
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob

MAX_STREAM_BYTES = 100_000_000
"""Unpacked size of one stream that is no picture: the longest real ones have a few megabytes."""

MIN_PACKED_BYTES = 50_000
"""The smallest stream that can unpack to the limit, at a thousand to one and twice that for luck."""

_PROBE_BYTES = 2_048
_PROBE_OUTPUT = 4_000_000
_STEP = 1_000_000
_DICTIONARY_BYTES = 400

_STREAM = re.compile(rb"stream\r?\n(?=[\x08\x18\x28\x38\x48\x58\x68\x78])")
"""The beginning of a stream whose data may be deflated: the method is in its first byte."""

Bytes = bytes | mmap.mmap


def refuse_bombs(blob: Blob) -> None:
    """Look at each deflated stream of a file.

    Raises:
        ExtractionFailed: one unpacks to more than the limit.
    """
    with _bytes_of(blob) as data:
        starts = [match.end() for match in _STREAM.finditer(data)]
        for start, following in pairwise([*starts, len(data)]):
            if following - start >= MIN_PACKED_BYTES and _is_bomb(data, start):
                raise ExtractionFailed(
                    f"a part of the document unpacks to more than {MAX_STREAM_BYTES // 1_000_000} MB",
                    reason=FileReason.TOO_BIG,
                )


@contextmanager
def _bytes_of(blob: Blob) -> Iterator[Bytes]:
    if blob.data is not None:
        yield blob.data
        return
    assert blob.path is not None
    with blob.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


def _is_bomb(data: Bytes, start: int) -> bool:
    """Unpack a beginning to see how dense the stream is, and only a suspicious one up to the limit."""
    end = data.find(b"endstream", start)
    end = len(data) if end < 0 else end
    if end - start < MIN_PACKED_BYTES or _is_picture(data, start):
        return False
    probe = zlib.decompressobj()
    try:
        unpacked = len(probe.decompress(data[start : start + _PROBE_BYTES], _PROBE_OUTPUT))
    except zlib.error:
        return False
    if unpacked * (end - start) < MAX_STREAM_BYTES * _PROBE_BYTES:
        return False
    return _unpacks_beyond(data, start, end)


def _is_picture(data: Bytes, start: int) -> bool:
    """Whether the stream is a picture, which is only unpacked when its page is rendered."""
    dictionary = data[max(0, start - _DICTIONARY_BYTES) : start].rpartition(b" obj")[2]
    return re.search(rb"/Subtype\s{0,9}/Image\b", dictionary) is not None


def _unpacks_beyond(data: Bytes, start: int, end: int) -> bool:
    """Count what a stream unpacks to, keeping none of it."""
    unpacker = zlib.decompressobj()
    total, position, rest = 0, start, b""
    try:
        while total <= MAX_STREAM_BYTES and not unpacker.eof:
            if not rest:
                if position >= end:
                    return False
                rest = data[position : min(position + _STEP, end)]
                position += len(rest)
            total += len(unpacker.decompress(rest, _STEP))
            rest = unpacker.unconsumed_tail
    except zlib.error:
        return False
    return total > MAX_STREAM_BYTES
