"""The port to archives: a memory in one file, in formats that other programs read."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from attrs import field, frozen

from openmind.domain.archives import KeptText, Manifest
from openmind.domain.chunks import ChunkRow
from openmind.domain.files import FileRecord
from openmind.domain.sources import Source


@frozen(kw_only=True)
class ArchiveContents:
    """What goes into an archive; streams are read once, in the order of the fields."""

    sources: Iterable[Source] = field(repr=False)
    passages: Iterable[ChunkRow] = field(repr=False)
    """In ascending order of generation, then of index; vectors included."""
    files: Iterable[FileRecord] = field(repr=False)
    """Those without passages first, then in ascending order of `live_generation`."""
    texts: Iterable[KeptText] = field(repr=False)
    manifest: Callable[[], Manifest] = field(repr=False)
    """Asked once everything else was read: it counts what was."""


class OpenedArchive(Protocol):
    """An archive that is read; everything comes in the order in which it was written.

    Rows have the types of what they are read as; whether they make sense together, the caller looks.
    """

    @property
    def manifest(self) -> Manifest: ...

    def sources(self) -> Iterator[Source]:
        """Stream the sources."""
        ...

    def files(self) -> Iterator[FileRecord]:
        """Stream the files."""
        ...

    def texts(self) -> Iterator[KeptText]:
        """Stream the texts."""
        ...

    def passages(self) -> Iterator[ChunkRow]:
        """Stream the passages."""
        ...


class Archive(Protocol):
    """Writes and reads archives."""

    def write(self, path: Path, contents: ArchiveContents) -> None:
        """Write an archive; the file is there as a whole or not at all, and for its owner only.

        Raises:
            StoreFull, StoreReadOnly, StoreError: it cannot be written.
        """
        ...

    def open(self, path: Path, *, room: Path) -> AbstractContextManager[OpenedArchive]:
        """Open an archive.

        Args:
            path: the file.
            room: a folder for temporary files.

        Raises:
            ArchiveDamaged: it is no archive, a damaged one, or a newer OpenMind's. Reading on may raise it, too.
            StoreError: it cannot be read, or there is no space to read it.
        """
        ...
