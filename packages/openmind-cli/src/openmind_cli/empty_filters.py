"""Filters that let nothing through because no file is as they say: a slip of the pen, most likely."""

import os
from pathlib import Path

from openmind import OpenMind
from openmind.domain.files import FileStatus
from openmind.domain.paths import extension_of, is_within
from openmind.domain.search import SearchResult, SearchState

from openmind_cli.render.clean import one_line

PAGE = 1_000


def resolved(folder: str) -> str:
    """The folder as the catalog has it."""
    return str(Path(folder).expanduser().resolve())


def empty_filters(
    memory: OpenMind, result: SearchResult, *, folder: str | None, extensions: tuple[str, ...]
) -> list[str]:
    """A sentence for each filter that no searchable file meets; looked for only where nothing relevant was found."""
    if result.state not in {SearchState.FILTERED_OUT, SearchState.NOTHING_FOUND}:
        return []
    told = []
    if folder is not None and not _holds_files(memory, resolved(folder)):
        told.append(f"No searchable file is below {one_line(resolved(folder))}.")
    missing = [extension for extension in extensions if extension not in _met(memory, extensions)]
    told += [f"No searchable file has the extension {one_line(extension)}." for extension in missing]
    return told


def _holds_files(memory: OpenMind, folder: str) -> bool:
    path = os.fsencode(folder).rstrip(b"/") + b"/"
    first = memory.documents.list(reasons=[FileStatus.INDEXED], after=path, limit=1)
    return bool(first) and is_within(first[0].path_bytes, path)


def _met(memory: OpenMind, extensions: tuple[str, ...]) -> set[str]:
    met: set[str] = set()
    after = b""
    while met < set(extensions) and (
        page := memory.documents.list(reasons=[FileStatus.INDEXED], after=after, limit=PAGE)
    ):
        met |= {extension_of(os.fsdecode(record.path_bytes)) for record in page} & set(extensions)
        after = page[-1].path_bytes
    return met
