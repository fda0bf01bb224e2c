"""Files that exist in memory only."""

import io
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from attrs import define, field, frozen

from openmind.adapters.ignore_files import IgnoreRules
from openmind.adapters.ignore_rules import generated_folders, is_foreign
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason, FileStat
from openmind.domain.paths import displayable, extension_of, is_within, name_of
from openmind.domain.sources import Source
from openmind.domain.unread import DEVICE, LINK, PIPE, SOCKET
from openmind.ports.file_tree import FoundFile, NoFile, Obstacle, RootState

LONG_AGO_NS = 1_700_000_000_000_000_000
_NO_FILES = {stat.S_IFLNK: LINK, stat.S_IFIFO: PIPE, stat.S_IFSOCK: SOCKET}


@frozen
class _Node:
    data: bytes = field(repr=False)
    mtime_ns: int
    ctime_ns: int
    mode: int = stat.S_IFREG


@define
class MemoryFileTree:
    """A `FileTree` over a dictionary. Paths are absolute, with `/`."""

    patterns: tuple[str, ...] = ()
    opened: list[bytes] = field(factory=list, init=False)
    """What was opened, in order: tests see here that nothing was read without need."""
    device: int = field(default=1, init=False)
    """What `root` reports; change it to mount another disk."""
    _nodes: dict[bytes, _Node] = field(factory=dict, init=False)
    _denied: set[bytes] = field(factory=set, init=False)
    _clock_ns: int = field(default=LONG_AGO_NS, init=False)

    def write(self, path: bytes | str, data: bytes | str, *, mtime_ns: int | None = None) -> None:
        """Create or replace a file; each write has a later date than the one before."""
        self._clock_ns += 1_000_000_000
        data = data.encode() if isinstance(data, str) else data
        self._nodes[_bytes(path)] = _Node(data, self._clock_ns if mtime_ns is None else mtime_ns, self._clock_ns)

    def plant(self, path: bytes | str, mode: int) -> None:
        """Create what is no regular file, such as `stat.S_IFLNK` or `stat.S_IFIFO`."""
        self._nodes[_bytes(path)] = _Node(b"", self._clock_ns, self._clock_ns, mode)

    def remove(self, path: bytes | str) -> None:
        """Remove a file, or a folder with everything in it."""
        self._nodes = {at: node for at, node in self._nodes.items() if not is_within(at, _bytes(path))}

    def rename(self, path: bytes | str, to: bytes | str) -> None:
        """Move a file, or a folder with everything in it."""
        old, new = _bytes(path), _bytes(to)
        self._nodes = {new + at[len(old) :] if is_within(at, old) else at: node for at, node in self._nodes.items()}

    def deny(self, path: bytes | str) -> None:
        """Let a file or folder be unreadable."""
        self._denied.add(_bytes(path))

    def allow(self, path: bytes | str) -> None:
        """Let it be readable again."""
        self._denied.discard(_bytes(path))

    def root(self, source: Source) -> RootState:
        """See the port; a folder is there while something is in it."""
        if any(is_within(path, source.path_bytes) for path in self._nodes):
            return RootState(present=True, device=self.device)
        return RootState(present=False, message="the folder is not there any more")

    def scan(self, source: Source, wanted: Callable[[str], bool]) -> Iterator[FoundFile | Obstacle | NoFile]:
        """See the port."""
        root = source.path_bytes.rstrip(b"/") + b"/"
        yield from self._walk(root, IgnoreRules.of(root, self.patterns), wanted, recursive=source.recursive)

    def included(self, source: Source, paths: Iterable[bytes]) -> Iterator[bytes]:
        """See the port."""
        found = list(self.scan(source, lambda extension: True))
        files = {each.path_bytes for each in found if isinstance(each, FoundFile)}
        closed = [each.path_bytes for each in found if isinstance(each, Obstacle)]
        yield from (path for path in paths if path in files or any(is_within(path, folder) for folder in closed))

    def stat(self, path_bytes: bytes) -> FileStat | None:
        """See the port."""
        node = self._nodes.get(path_bytes)
        return _file_stat(node) if node and stat.S_ISREG(node.mode) else None

    @contextmanager
    def open(self, path_bytes: bytes) -> Iterator[BinaryIO]:
        """See the port."""
        shown = displayable(path_bytes)
        node = self._nodes.get(path_bytes)
        if node is None:
            raise ExtractionFailed(f"{shown}: the file is not there any more", reason=FileReason.VANISHED)
        if not stat.S_ISREG(node.mode):
            raise ExtractionFailed(f"{shown}: it is no regular file", reason=FileReason.UNSUPPORTED)
        if any(is_within(path_bytes, denied) for denied in self._denied):
            raise ExtractionFailed(f"{shown}: the file may not be read", reason=FileReason.DENIED)
        self.opened.append(path_bytes)
        yield io.BytesIO(node.data)

    def _walk(
        self, folder: bytes, above: IgnoreRules, wanted: Callable[[str], bool], *, recursive: bool
    ) -> Iterator[FoundFile | Obstacle | NoFile]:
        if folder.rstrip(b"/") in self._denied:
            yield Obstacle(path_bytes=folder, reason=FileReason.DENIED, message="the folder may not be read")
            return
        everything = self._names(folder)
        no_files = {name: kind for name in everything if (kind := self._no_file(folder + name))}
        names = [name for name in everything if name not in no_files]
        if is_foreign(names):
            return
        try:
            rules = above.inside(folder, names, lambda path: self._nodes[path].data)
        except ExtractionFailed as error:
            yield Obstacle(path_bytes=folder, reason=error.reason, message=error.message)
            return
        generated = generated_folders(names)
        for name in everything:
            path, is_folder = folder + name, name.endswith(b"/")
            if rules.leave_out(path, name.rstrip(b"/"), folder=is_folder, generated=generated):
                continue
            if is_folder:
                if recursive:
                    yield from self._walk(path, rules, wanted, recursive=True)
            elif name in no_files:
                yield NoFile(path_bytes=path, kind=no_files[name])
            elif wanted(extension_of(name_of(name))):
                yield FoundFile(path_bytes=path, stat=_file_stat(self._nodes[path]))

    def _names(self, folder: bytes) -> list[bytes]:
        names = set()
        for path in self._nodes:
            if path.startswith(folder):
                first, slash, _ = path[len(folder) :].partition(b"/")
                names.add(first + slash)
        return sorted(names)

    def _no_file(self, path: bytes) -> str:
        node = self._nodes.get(path)
        return "" if node is None or stat.S_ISREG(node.mode) else _NO_FILES.get(stat.S_IFMT(node.mode), DEVICE)


def _bytes(path: bytes | str) -> bytes:
    return path.encode() if isinstance(path, str) else path


def _file_stat(node: _Node) -> FileStat:
    return FileStat(size=len(node.data), mtime_ns=node.mtime_ns, ctime_ns=node.ctime_ns)
