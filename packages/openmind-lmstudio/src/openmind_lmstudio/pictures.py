"""What can be told of a picture from its first bytes."""

import struct

from attrs import frozen

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that begin a frame and tell its size; the three others in the range tell something else."""


@frozen(kw_only=True)
class Picture:
    """Format and size of a picture."""

    media_type: str
    width: int
    height: int


def look_at(image: bytes) -> Picture | None:
    """Read format and size; None when it is no whole PNG or JPEG header."""
    if image.startswith(_PNG) and len(image) >= 24:
        width, height = struct.unpack_from(">II", image, 16)
        return Picture(media_type="image/png", width=width, height=height)
    return _look_at_jpeg(image) if image.startswith(_JPEG) else None


def _look_at_jpeg(image: bytes) -> Picture | None:
    at = 2
    while at + 9 <= len(image) and image[at] == 0xFF:
        marker = image[at + 1]
        if marker == 0xFF:
            at += 1  # fill byte
            continue
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", image, at + 5)
            return Picture(media_type="image/jpeg", width=width, height=height)
        at += 2 + int(struct.unpack_from(">H", image, at + 2)[0])
    return None
