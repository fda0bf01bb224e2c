"""The files of a table, noted when all was well, so that damage is noticed later.

Lance writes a file once and never changes it: one that is not as it was noted is damaged. Size and time tell whether
a file was touched; only then its checksum is asked, which a copied or restored home still has.
"""

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from attrs import frozen
from openmind.ports.chunk_store import TableChanges

BLOCK = 1 << 20
FIELDS, LINES = "\x1f", "\x1e"
REWRITTEN = ".json"
"""The hint to the newest version is written anew each time, and nothing depends on it."""


@frozen
class Mark:
    """A file as it was."""

    size: int
    mtime_ns: int
    checksum: int


def seal(folder: Path, *, former: str) -> str:
    """Note every file below a folder; what `former` noted, and nobody touched, is not read again."""
    known = parse(former)
    lines = []
    for name, path, size, mtime_ns in sorted(files_of(folder)):
        mark = known.get(name)
        if mark is None or (mark.size, mark.mtime_ns) != (size, mtime_ns):
            mark = Mark(size, mtime_ns, checksum(path))
        lines.append(FIELDS.join((name, str(size), str(mtime_ns), f"{mark.checksum:x}")))
    return LINES.join(lines)


def compare(folder: Path, sealed: str, *, closely: bool) -> TableChanges:
    """Say what was lost, changed or added since; `closely` trusts no size and no time."""
    known = parse(sealed)
    fresh = not known
    changed = []
    for name, path, size, mtime_ns in files_of(folder):
        mark = known.pop(name, None)
        if mark is None:
            fresh = True
        elif mark.size != size or ((closely or mark.mtime_ns != mtime_ns) and mark.checksum != checksum(path)):
            changed.append(name)
    return TableChanges(fresh=fresh, lost=tuple(sorted(known)), changed=tuple(sorted(changed)))


def files_of(folder: Path) -> Iterator[tuple[str, str, int, int]]:
    """Give name below the folder, path, size and time of each file; what vanishes meanwhile is left out."""
    yield from _below(str(folder), "")


def _below(folder: str, above: str) -> Iterator[tuple[str, str, int, int]]:
    """Go down; `os.walk` costs a third more, there are hundreds of files, and `status` asks every second."""
    try:
        listed = os.scandir(folder)
    except OSError:  # what cannot be listed is missing, and told as that
        return
    with listed as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _below(entry.path, f"{above}{entry.name}/")
            elif not entry.name.endswith(REWRITTEN):
                with suppress(FileNotFoundError):
                    stat = entry.stat()
                    yield f"{above}{entry.name}", entry.path, stat.st_size, stat.st_mtime_ns


def checksum(path: str) -> int:
    """CRC-32 of a file; −1 when it cannot be read."""
    value = 0
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            while block := file.read(BLOCK):
                value = zlib.crc32(block, value)
    except OSError:
        return -1
    return value


def parse(sealed: str) -> dict[str, Mark]:
    """Read what `seal` wrote; of anything else nothing is known."""
    marks = {}
    for line in filter(None, sealed.split(LINES)):
        try:
            name, size, mtime_ns, value = line.split(FIELDS)
            marks[name] = Mark(int(size), int(mtime_ns), int(value, 16))
        except ValueError:
            return {}
    return marks
