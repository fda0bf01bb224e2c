"""Writes a new plugin package from a template: one that works, to go on from."""

import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from openmind.domain.errors import UsageError
from openmind.domain.plugins import OURS

Kind = Literal["extractor", "provider"]
SUFFIX = ".template"
"""Keeps a template from being taken for a part of this package, or for a test of it."""
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def write_package(name: str, kind: Kind, into: Path, *, taken: Mapping[str, str] = {}) -> Path:
    """Write a package and return its folder.

    Args:
        name: `lyrics` or `openmind-lyrics`.
        kind: what it adds.
        into: the folder in which its own is made.
        taken: names that plugins have already, and the packages that have them.

    Raises:
        UsageError: the name cannot be one, or is taken, or there is something in the way.
    """
    short = name.strip().removeprefix("openmind-")
    if not _NAME.fullmatch(short) or len(short) > 40:
        raise UsageError(
            f"“{name}” is no name for a plugin", hint="Use lower-case letters, digits and “-”, such as `lyrics`."
        )
    package = f"openmind-{short}"
    holder = package if package in OURS else taken.get(short, package)
    if package in OURS or holder != package:
        raise UsageError(f"The name “{short}” is taken by the package {holder}", hint="Choose another name.")
    folder = into / package
    try:
        folder.mkdir(parents=True)
        _write(files("openmind_cli") / "templates" / kind, folder, short)
    except FileExistsError as error:
        raise UsageError(f"{folder} is there already", hint="Choose another name, or another folder.") from error
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written: {error.strerror or error}", hint="Choose another folder with --into."
        ) from error
    return folder


def _write(template: Traversable, folder: Path, short: str) -> None:
    for entry in template.iterdir():
        target = folder / _named(entry.name.removesuffix(SUFFIX), short)
        if entry.is_dir():
            target.mkdir()
            _write(entry, target, short)
        elif entry.name.endswith(SUFFIX):
            target.write_text(_named(entry.read_text(encoding="utf-8"), short), encoding="utf-8", newline="\n")


def _named(text: str, short: str) -> str:
    """Put a name in place of `acme`, in each way that it is spelt."""
    words = short.split("-")
    in_code = short.replace("-", "_")
    text = text.replace("openmind_acme", f"openmind_{in_code}").replace("Acme", "".join(map(str.title, words)))
    return text.replace("acme", short)
