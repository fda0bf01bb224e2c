"""The files of the sources on this machine's file system."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import BinaryIO

from attrs import field, frozen

from openmind.adapters.ignore_files import GIT_FILE, MAX_BYTES, OWN_FILE, IgnoreRules
from openmind.adapters.ignore_rules import generated_folders, is_foreign
from openmind.adapters.regular_files import open_regular, reason_of, sentence_of
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason, FileStat
from openmind.domain.paths import extension_of, name_of
from openmind.domain.sources import Source
from openmind.domain.unread import DEVICE, LINK, PIPE, SOCKET
from openmind.ports.file_tree import FoundFile, NoFile, Obstacle, RootState

LARGEST = 2**63 - 1
_IGNORE_FILES = frozenset({GIT_FILE, OWN_FILE})
_NO_FILES = {stat.S_IFLNK: LINK, stat.S_IFIFO: PIPE, stat.S_IFSOCK: SOCKET}


@frozen
class _Folder:
    """A folder that was entered."""

    path: bytes
    """With a `/` at its end."""
    rules: IgnoreRules
    names: frozenset[bytes] = frozenset()
    """What it holds, as far as that can be looked at; folders end with `/`."""
    no_files: Mapping[bytes, str] = field(factory=dict)
    """What else it holds, by name: links, pipes, sockets and devices."""
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

    def scan(self, source: Source, wanted: Callable[[str], bool]) -> Iterator[FoundFile | Obstacle | NoFile]:
        """See the port."""
        ways: list[tuple[_Folder, list[bytes]]] = []
        entered: _Folder | None = _enter_source(source, self.patterns)
        while True:
            if entered is not None:
                if entered.obstacle:
                    yield entered.obstacle
                ways.append((entered, _to_visit(entered, wanted, recursive=source.recursive)))
            if not ways:
                return
            folder, names = ways[-1]
            entered = None
            if not names:
                ways.pop()
                continue
            name = names.pop()
            path = folder.path + name
            if name in folder.no_files:
                yield NoFile(path_bytes=path, kind=folder.no_files[name])
                continue
            if path.endswith(b"/"):
                entered = _enter(path, folder.rules)
                continue
            found = _look(path)
            if found:
                yield found

    def included(self, source: Source, paths: Iterable[bytes]) -> Iterator[bytes]:
        """See the port."""
        way = [_enter_source(source, self.patterns)]
        """The folders from the root down to the last path: the next one shares most of them."""
        for path in paths:
            if path.startswith(way[0].path) and _is_included(way, path, recursive=source.recursive):
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
        with os.fdopen(open_regular(path_bytes), "rb", buffering=0) as file:  # who reads it takes large blocks
            yield file


def _enter_source(source: Source, patterns: tuple[str, ...]) -> _Folder:
    """List the folder of a source; what git leaves out above it is left out here, too."""
    root = source.path_bytes.rstrip(b"/") + b"/"
    rules = IgnoreRules.of(root, patterns)
    try:
        return _enter(root, rules.within(_repository_above(root), root, _read_patterns))
    except ExtractionFailed as error:
        return _without_rules(root, rules, error)


def _repository_above(root: bytes) -> list[bytes]:
    """The folders above a source up to the one that is a git repository, which comes first; none outside of one."""
    folders: list[bytes] = []
    folder = root
    while not os.path.lexists(folder + b".git"):
        above, slash, _ = folder.rstrip(b"/").rpartition(b"/")
        if not slash:
            return []
        folder = above + slash
        folders.insert(0, folder)
    return folders


def _enter(path: bytes, above: IgnoreRules) -> _Folder:
    """List a folder: what it holds, unless that is none of a person's own, or something is in the way."""
    try:
        names, no_files = _list(path)
    except OSError as error:
        return _Folder(path, above, obstacle=_obstacle(path, error, "the folder"))
    if is_foreign(names):
        return _Folder(path, above)
    try:
        rules = above.inside(path, names, _read_patterns)
    except ExtractionFailed as error:
        return _without_rules(path, above, error)
    return _Folder(path, rules, frozenset(names), no_files, generated_folders(names))


def _without_rules(path: bytes, above: IgnoreRules, error: ExtractionFailed) -> _Folder:
    """Close a folder: without its patterns it would show what a person wanted to keep out."""
    message = f"{error.message}, so nothing in the folder is read"
    return _Folder(path, above, obstacle=Obstacle(path_bytes=path, reason=error.reason, message=message))


def _to_visit(folder: _Folder, wanted: Callable[[str], bool], *, recursive: bool) -> list[bytes]:
    """Choose what is to be looked at in a folder, last first."""
    kept = [
        name
        for name in folder.names
        if folder.lets_in(name, recursive=recursive) and (name.endswith(b"/") or wanted(extension_of(name_of(name))))
    ]
    kept += [name for name in folder.no_files if folder.lets_in(name, recursive=recursive)]
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
    """Read an ignore file; one that is not there says nothing.

    Raises:
        ExtractionFailed: it cannot be read.
    """
    its = f"its {os.fsdecode(name_of(path))}"
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ExtractionFailed(sentence_of(error, its), reason=reason_of(error)) from error
    except ExtractionFailed as error:
        if error.reason is FileReason.VANISHED:
            return b""
        told = "may not be read" if error.reason is FileReason.DENIED else "is a link, a pipe or a folder and no file"
        raise ExtractionFailed(f"{its} {told}", reason=error.reason) from error


def _list(path: bytes) -> tuple[list[bytes], dict[bytes, str]]:
    """Name the regular files and the folders (with `/`) in a folder, and its ignore files whatever they are.

    What is none of these comes beside them, with its kind.
    """
    names: list[bytes] = []
    no_files: dict[bytes, str] = {}
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.name in _IGNORE_FILES or entry.is_file(follow_symlinks=False):
                names.append(entry.name)
            elif entry.is_dir(follow_symlinks=False):
                names.append(entry.name + b"/")
            elif kind := _kind_of(entry):
                no_files[entry.name] = kind
    return names, no_files


def _kind_of(entry: os.DirEntry[bytes]) -> str:
    """Say what an entry is that is neither a file nor a folder; nothing when it has gone meanwhile."""
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
    except OSError:
        return ""
    return _NO_FILES.get(stat.S_IFMT(mode), DEVICE)


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
    return FileStat(size=state.st_size, mtime_ns=_clamped(state.st_mtime_ns), ctime_ns=_clamped(state.st_ctime_ns))


def _clamped(time_ns: int) -> int:
    return max(-LARGEST, min(time_ns, LARGEST))
