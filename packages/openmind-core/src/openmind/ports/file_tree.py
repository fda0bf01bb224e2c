"""The port to the file system of the sources."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import BinaryIO, Protocol

from attrs import frozen

from openmind.domain.files import FileReason, FileStat
from openmind.domain.sources import Source


@frozen(kw_only=True)
class FoundFile:
    """A regular file below a source, by metadata only."""

    path_bytes: bytes
    stat: FileStat


@frozen(kw_only=True)
class Obstacle:
    """A folder or file that could not be looked at; what memory holds below it must not be taken for gone."""

    path_bytes: bytes
    """A folder's ends with `/`, so that it sorts where the paths below it do."""
    reason: FileReason
    message: str
    """What is the matter, without the path."""


@frozen(kw_only=True)
class NoFile:
    """Something below a source that is neither a file nor a folder, and so is passed by."""

    path_bytes: bytes
    kind: str
    """One of `openmind.domain.unread.NO_FILES`."""


@frozen(kw_only=True)
class RootState:
    """What the folder of a source looks like before it is scanned."""

    present: bool
    device: int | None = None
    message: str = ""


class FileTree(Protocol):
    """Looks at files, never changes them. Thread-safe."""

    def root(self, source: Source) -> RootState:
        """Look at the folder itself."""
        ...

    def scan(self, source: Source, wanted: Callable[[str], bool]) -> Iterator[FoundFile | Obstacle | NoFile]:
        """Walk a source, in ascending order of `path_bytes`.

        Only regular files whose extension is `wanted` come; links, pipes, sockets and devices are named, and neither
        followed nor opened; noisy, hidden and ignored folders are not entered. No file is opened but ignore files.

        Args:
            source: where to walk; a source that is not recursive gives only its own files.
            wanted: says whether an extension (lower case, with the dot, maybe empty) is read at all; asked once for
                each regular file that no rule leaves out.
        """
        ...

    def included(self, source: Source, paths: Iterable[bytes]) -> Iterator[bytes]:
        """Say which of these paths a scan of the source would come to, whatever their extension.

        What cannot be looked at now, and lies where a scan would meet an obstacle, is among them: nobody can say that
        it is left out. Only the folders on the way are listed.

        Args:
            source: as for a scan.
            paths: absolute paths of files; those in ascending order cost least.

        Returns:
            Those that a scan would give, in the order in which they were asked for.
        """
        ...

    def stat(self, path_bytes: bytes) -> FileStat | None:
        """Look at one file again; None when it is gone or is no regular file."""
        ...

    def open(self, path_bytes: bytes) -> AbstractContextManager[BinaryIO]:
        """Open for reading: never blocks on a FIFO or device, never follows a link.

        Raises:
            ExtractionFailed: with reason `vanished`, `denied` or `unsupported`.
        """
        ...
