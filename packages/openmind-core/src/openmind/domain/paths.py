"""Paths as bytes: what the file system has, and what a person can be shown."""

import re


def displayable(path: bytes) -> str:
    r"""Show a path; bytes that are not UTF-8 become `\xNN`, so that different paths stay different."""
    return path.decode("utf-8", errors="backslashreplace")


def name_of(path: bytes) -> str:
    """Return the last part of a path, displayable."""
    return displayable(path[path.rfind(b"/") + 1 :])


_EXTENSION = re.compile(r"(?<=.)\.[^./\s]{1,16}$")


def extension_of(name: str) -> str:
    """Return the lower-case extension with its dot, or an empty string; `.bashrc` has none."""
    found = _EXTENSION.search(name)
    return found.group().lower() if found else ""


def is_within(path: bytes, folder: bytes) -> bool:
    """Whether `path` is `folder` or lies below it; both absolute and normalised."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
