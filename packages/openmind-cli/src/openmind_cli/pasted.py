"""Paths as people paste them."""

import os
import re
import shlex
from urllib.parse import unquote, urlsplit

_QUOTES = ("'", '"')
_ESCAPED = re.compile(r"\\(.)")


def pasted_path(text: str, *, posix: bool = os.name == "posix") -> str:
    r"""The path that a pasted text means: out of quotes, of a `file://` link, or of a shell's escapes.

    Terminals paste a dropped folder as `'/home/me/My Files'` or `/home/me/My\ Files`. A leading `~` stays.
    """
    path = text.strip()
    if len(path) >= 2 and path[0] in _QUOTES and path[-1] == path[0]:
        return _unquoted(path) if posix else path[1:-1]
    if path.lower().startswith("file://"):
        local = unquote(urlsplit(path).path)
        return local if posix else local.lstrip("/")
    return _ESCAPED.sub(r"\1", path) if posix else path


def _unquoted(path: str) -> str:
    """Read what a shell would."""
    try:
        words = shlex.split(path)
    except ValueError:
        words = []
    return words[0] if len(words) == 1 else path[1:-1]
