"""The files of the sources on this machine's file system."""

import os
import stat
from collections.abc import Callable, Iterator
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
    """A folder that is being walked."""

    path: bytes
    """With a `/` at its end."""
    rules: IgnoreRules
    names: list[bytes]
    """What is still to be looked at, last first; folders end with `/`."""


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
        open_folders: list[_Folder] = []
        entering: bytes | None = root
        while True:
            if entering is not None:
                folder, obstacle = _enter(entering, above, wanted, recursive=source.recursive)
                if obstacle:
                    yield obstacle
                open_folders.append(folder)
            if not open_folders:
                return
            folder = open_folders[-1]
            entering = None
            if not folder.names:
                open_folders.pop()
                continue
            path = folder.path + folder.names.pop()
            if path.endswith(b"/"):
                entering, above = path, folder.rules
                continue
            found = _look(path)
            if found:
                yield found

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


def _enter(
    path: bytes, above: IgnoreRules, wanted: Callable[[str], bool], *, recursive: bool
) -> tuple[_Folder, Obstacle | None]:
    """List a folder: what is to be looked at in it, and what was in the way."""
    try:
        names = _list(path)
    except OSError as error:
        return _Folder(path, above, []), _obstacle(path, error, "the folder")
    if is_foreign(names):
        return _Folder(path, above, []), None
    try:
        rules = above.inside(path, names, _read_patterns)
    except ExtractionFailed as error:
        # Without its patterns the folder would show what a person wanted to keep out.
        message = "its ignore file may not be read, so nothing in the folder is"
        return _Folder(path, above, []), Obstacle(path_bytes=path, reason=error.reason, message=message)
    generated = generated_folders(names)
    kept = []
    for name in names:
        if name.endswith(b"/"):
            if not recursive or rules.leave_out(path + name, name[:-1], folder=True, generated=generated):
                continue
        elif rules.leave_out(path + name, name, folder=False, generated=generated) or not wanted(
            extension_of(name_of(name))
        ):
            continue
        kept.append(name)
    # A folder's name with its `/` sorts where the paths below it belong: after `a.txt`, before `a0`.
    kept.sort(reverse=True)
    return _Folder(path, rules, kept), None


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
