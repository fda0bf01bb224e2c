"""Paths as bytes: what the file system has, and what a person can be shown."""

import re

HOME_MARKER = ".openmind-home"
"""The folder of a memory holds a file of this name."""


def displayable(path: bytes) -> str:
    r"""Show a path; bytes that are not UTF-8 become `\xNN`, so that different paths stay different."""
    return path.decode("utf-8", errors="backslashreplace")


def name_of(path: bytes) -> str:
    """Return the last part of a path, displayable."""
    return displayable(path[path.rfind(b"/") + 1 :])


_EXTENSION = re.compile(r"(?<=.)\.[^./\s]{1,16}$")


_TEXTS = re.compile(
    r"authors|changelog|changes|contributing|contributors|copying|copyright|credits|faq|hacking|history|install|licen[cs]e"
    r"|maintainers|news|notes?|notice|patents|readme|thanks|todo",
    re.IGNORECASE,
)
"""Names that text files have had without an extension since before there were extensions."""


def extension_of(name: str) -> str:
    """Return the lower-case extension with its dot, or an empty string; `README` counts as `.txt`."""
    found = _EXTENSION.search(name)
    if found:
        return found.group().lower()
    return ".txt" if _TEXTS.fullmatch(name) else ""


def is_within(path: bytes, folder: bytes) -> bool:
    """Whether `path` is `folder` or lies below it; both absolute and normalised."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
