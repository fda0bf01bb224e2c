"""Paths in calls from Python: what a type checker would have refused is refused in words."""

import os

from openmind.domain.errors import UsageError


def path_text(value: object, name: str) -> str:
    """Take a path, as text or as an object that stands for one.

    Raises:
        UsageError: it is none, or holds a NUL, which no path does.
    """
    found = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(found, str):
        raise UsageError(f"{name.capitalize()} must be a path, not {value!r}", hint="Pass a str or a Path.")
    if "\0" in found:
        raise UsageError(f"{name.capitalize()} must be a path, and none holds a NUL as {found!r} does")
    return found
