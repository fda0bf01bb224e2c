"""Frames between this process and its workers: a kind, one JSON object, one payload of plain bytes. Never pickle."""

import json
import struct
from collections.abc import Mapping
from enum import Enum
from typing import BinaryIO

from attrs import frozen

_HEAD = struct.Struct(">cII")
HEAD_BYTES = _HEAD.size
_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class FrameKind(Enum):
    """What a frame is for."""

    SETUP = b"S"
    """First frame to a worker: what it shall run."""
    READY = b"R"
    """First frame from a worker."""
    REQUEST = b"Q"
    PART = b"P"
    """A piece of the reply to the oldest request that has no END yet."""
    SLOW = b"L"
    """What is under way has turned out to be slow by nature; its other limits hold from now on."""
    END = b"E"
    """The reply is whole; `retired` says whether the worker answers no other request."""
    FAILED = b"F"
    """The worker gave up; it is of no more use."""


_KINDS = {kind.value: kind for kind in FrameKind}


class FrameError(Exception):
    """What came is no frame: garbage, or the half of one."""


class FrameTooBig(FrameError):
    """A frame is larger than its reader takes."""


@frozen
class Frame:
    """One frame."""

    kind: FrameKind
    message: dict[str, object]
    payload: bytes = b""


def encode(kind: FrameKind, message: Mapping[str, object], payload: bytes = b"") -> bytes:
    """Write a frame."""
    # Lone surrogates pass: a worker says what it found, the reader decides what it keeps.
    text = _to_json(message).encode("utf-8", "surrogatepass")
    return b"".join((_HEAD.pack(kind.value, len(text), len(payload)), text, payload))


def read_frame(file: BinaryIO, *, max_bytes: int) -> tuple[Frame, int] | None:
    """Read one frame and its size in bytes; None at the end of the stream.

    Raises:
        FrameTooBig: it has more than `max_bytes`; nothing but its head was read.
        FrameError: it is none.
    """
    head = file.read(HEAD_BYTES)
    if not head:
        return None
    if len(head) < HEAD_BYTES:
        raise FrameError("the head of a frame is cut off")
    letter, text_bytes, payload_bytes = _HEAD.unpack(head)
    kind = _KINDS.get(letter)
    if kind is None:
        raise FrameError("this is no frame")
    size = HEAD_BYTES + text_bytes + payload_bytes
    if size > max_bytes:
        raise FrameTooBig(f"a frame of {size:,} bytes")
    text, payload = file.read(text_bytes), file.read(payload_bytes)
    if len(text) + len(payload) < text_bytes + payload_bytes:
        raise FrameError("a frame is cut off")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FrameError("a frame does not hold JSON") from error
    if not isinstance(message, dict):
        raise FrameError("a frame does not hold an object")
    return Frame(kind, message, payload), size
