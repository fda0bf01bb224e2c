"""The files of the sources on this machine's file system."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from attrs import frozen

from openmind.adapters.ignore_files import MAX_BYTES, IgnoreRules
from openmind.adapters.ignore_rules import generated_folders, is_foreign
from openmind.adapters.regular_files import open_regular, reason_of, sentence_of
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason, FileStat
from openmind.domain.paths import extension_of, name_of
from openmind.domain.sources import Source
from openmind.ports.file_tree import FoundFile, Obstacle, RootState

LARGEST = 2**63 - 1


@frozen
class _Folder:
    """A folder that was entered."""

    path: bytes
    """With a `/` at its end."""
    rules: IgnoreRules
    names: frozenset[bytes] = frozenset()
    """What it holds, as far as that can be looked at; folders end with `/`."""
    generated: frozenset[bytes] = frozenset()
    obstacle: Obstacle | None = None

    def lets_in(self, name: bytes, *, recursive: bool) -> bool:
        """Whether something that it holds is looked at."""
        folder = name.endswith(b"/")
        if folder and not recursive:
            return False
        return not self.rules.leave_out(
            self.path + name, name.removesuffix(b"/"), folder=folder, generated=self.generated
        )


@frozen
class LocalFileTree:
    """Walks folders one level at a time: memory grows with depth and with the largest folder, never with the tree."""

    patterns: tuple[str, ...] = ()
    """More patterns, as in `.gitignore`, that hold in every source."""

    def root(self, source: Source) -> RootState:
        """See the port."""
        try:
            state = os.lstat(source.path_bytes)
        except OSError as error:
            return RootState(present=False, message=sentence_of(error, "the folder"))
        if stat.S_ISLNK(state.st_mode):
            return RootState(present=False, message="the folder has become a link")
        if not stat.S_ISDIR(state.st_mode):
            return RootState(present=False, message="the path is not a folder any more")
        return RootState(present=True, device=state.st_dev)

    def scan(self, source: Source, wanted: Callable[[str], bool]) -> Iterator[FoundFile | Obstacle]:
        """See the port."""
        root = source.path_bytes.rstrip(b"/") + b"/"
        above = IgnoreRules.of(root, self.patterns)
        ways: list[tuple[_Folder, list[bytes]]] = []
        entering: bytes | None = root
        while True:
            if entering is not None:
                folder = _enter(entering, above)
                if folder.obstacle:
                    yield folder.obstacle
                ways.append((folder, _to_visit(folder, wanted, recursive=source.recursive)))
            if not ways:
                return
            folder, names = ways[-1]
            entering = None
            if not names:
                ways.pop()
                continue
            path = folder.path + names.pop()
            if path.endswith(b"/"):
                entering, above = path, folder.rules
                continue
            found = _look(path)
            if found:
                yield found

    def included(self, source: Source, paths: Iterable[bytes]) -> Iterator[bytes]:
        """See the port."""
        root = source.path_bytes.rstrip(b"/") + b"/"
        way = [_enter(root, IgnoreRules.of(root, self.patterns))]
        """The folders from the root down to the last path: the next one shares most of them."""
        for path in paths:
            if path.startswith(root) and _is_included(way, path, recursive=source.recursive):
                yield path

    def stat(self, path_bytes: bytes) -> FileStat | None:
        """See the port."""
        try:
            state = os.lstat(path_bytes)
        except (OSError, ValueError):
            return None
        return _file_stat(state) if stat.S_ISREG(state.st_mode) else None

    @contextmanager
    def open(self, path_bytes: bytes) -> Iterator[BinaryIO]:
        """See the port."""
        with os.fdopen(open_regular(path_bytes), "rb") as file:
            yield file


def _enter(path: bytes, above: IgnoreRules) -> _Folder:
    """List a folder: what it holds, unless that is none of a person's own, or something is in the way."""
    try:
        names = _list(path)
    except OSError as error:
        return _Folder(path, above, obstacle=_obstacle(path, error, "the folder"))
    if is_foreign(names):
        return _Folder(path, above)
    try:
        rules = above.inside(path, names, _read_patterns)
    except ExtractionFailed as error:
        # Without its patterns the folder would show what a person wanted to keep out.
        message = "its ignore file may not be read, so nothing in the folder is"
        return _Folder(path, above, obstacle=Obstacle(path_bytes=path, reason=error.reason, message=message))
    return _Folder(path, rules, frozenset(names), generated_folders(names))


def _to_visit(folder: _Folder, wanted: Callable[[str], bool], *, recursive: bool) -> list[bytes]:
    """Choose what is to be looked at in a folder, last first."""
    kept = [
        name
        for name in folder.names
        if folder.lets_in(name, recursive=recursive) and (name.endswith(b"/") or wanted(extension_of(name_of(name))))
    ]
    # A folder's name with its `/` sorts where the paths below it belong: after `a.txt`, before `a0`.
    kept.sort(reverse=True)
    return kept


def _is_included(way: list[_Folder], path: bytes, *, recursive: bool) -> bool:
    """Go down to a path, from the last folder of `way` that is above it; `way` then leads there."""
    while not path.startswith(way[-1].path):
        way.pop()
    while True:
        folder = way[-1]
        if folder.obstacle is not None:
            return folder.obstacle.reason is not FileReason.VANISHED
        name, slash, _ = path[len(folder.path) :].partition(b"/")
        name += slash
        if name not in folder.names or not folder.lets_in(name, recursive=recursive):
            return False
        if not slash:
            return _look(path) is not None
        way.append(_enter(folder.path + name, folder.rules))


def _read_patterns(path: bytes) -> bytes:
    """Read an ignore file; what is no file of its own, such as a link, says nothing.

    Raises:
        ExtractionFailed: it may not be read.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            return file.read(MAX_BYTES)
    except OSError as error:
        raise ExtractionFailed(sentence_of(error, "the file"), reason=reason_of(error)) from error
    except ExtractionFailed as error:
        if error.reason is FileReason.DENIED:
            raise
        return b""


def _list(path: bytes) -> list[bytes]:
    """Name the regular files and the folders (with `/`) in a folder."""
    names: list[bytes] = []
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                names.append(entry.name)
            elif entry.is_dir(follow_symlinks=False):
                names.append(entry.name + b"/")
    return names


def _look(path: bytes) -> FoundFile | Obstacle | None:
    """Look at the metadata of a file; None when it has gone meanwhile, or has become something else."""
    try:
        state = os.lstat(path)
    except OSError as error:
        obstacle = _obstacle(path, error, "the file")
        return None if obstacle.reason is FileReason.VANISHED else obstacle
    return FoundFile(path_bytes=path, stat=_file_stat(state)) if stat.S_ISREG(state.st_mode) else None


def _obstacle(path: bytes, error: OSError, subject: str) -> Obstacle:
    return Obstacle(path_bytes=path, reason=reason_of(error), message=sentence_of(error, subject))


def _file_stat(state: os.stat_result) -> FileStat:
    # Some file systems give dates that no other program can take; a clamped one looks the same at every scan.
    return FileStat(size=state.st_size, mtime_ns=max(-LARGEST, min(state.st_mtime_ns, LARGEST)))
