"""Paths as the catalog shows them: one text for each path, even where bytes cannot be displayed."""

import hashlib
from collections.abc import Callable

from openmind.domain.paths import displayable

_NUL = b"\0"
_DIGITS = (8, 16, 32, 64)


def shown(path: bytes, taken: Callable[[str], bool]) -> str:
    r"""Show a path as no other one is shown.

    Only a path with `\x` in it can look like another: bytes that are not UTF-8 are shown so, and a name may really
    have these characters. `taken` is asked for such paths alone.
    """
    plain = displayable(path)
    if "\\x" not in plain or not taken(plain):
        return plain
    digest = hashlib.sha256(path).hexdigest()
    candidates = [f"{plain} ({digest[:digits]})" for digits in _DIGITS]
    return next((candidate for candidate in candidates if not taken(candidate)), candidates[-1])


def as_path(path: bytes) -> bytes:
    """Take what the catalog has for the bytes of a path.

    Raises:
        ValueError: no system has such a path.
    """
    if not path or _NUL in path:
        raise ValueError(path)
    return path
