"""An archive whose file holds a number, and whose contents stay in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import define, evolve, field, frozen

from openmind.adapters.atomic import replace_file
from openmind.domain.archives import KeptText, Manifest
from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import ArchiveDamaged, StoreError
from openmind.domain.files import FileRecord
from openmind.domain.sources import Source
from openmind.ports.archive import ArchiveContents

HEAD, TAIL = b"what an archive in memory holds: ", b"."


@frozen
class OpenedMemoryArchive:
    """What was written."""

    contents: ArchiveContents

    @property
    def manifest(self) -> Manifest:
        return self.contents.manifest()

    def sources(self) -> Iterator[Source]:
        return iter(self.contents.sources)

    def files(self) -> Iterator[FileRecord]:
        return iter(self.contents.files)

    def texts(self) -> Iterator[KeptText]:
        return iter(self.contents.texts)

    def passages(self) -> Iterator[ChunkRow]:
        return iter(self.contents.passages)


@define
class MemoryArchive:
    """Implements `openmind.ports.archive.Archive` for as long as this object lives."""

    _written: list[ArchiveContents] = field(factory=list, init=False, repr=False)

    def write(self, path: Path, contents: ArchiveContents) -> None:
        whole = evolve(
            contents,
            sources=tuple(contents.sources),
            passages=tuple(contents.passages),
            files=tuple(contents.files),
            texts=tuple(contents.texts),
        )
        manifest = whole.manifest()
        try:
            replace_file(path, HEAD + str(len(self._written)).encode() + TAIL)
        except OSError as error:
            raise StoreError(f"{path} cannot be written") from error
        self._written.append(evolve(whole, manifest=lambda: manifest))

    @contextmanager
    def open(self, path: Path, *, room: Path) -> Iterator[OpenedMemoryArchive]:
        try:
            data = path.read_bytes()
        except OSError as error:
            raise StoreError(f"{path} cannot be read") from error
        number = data.removeprefix(HEAD).removesuffix(TAIL)
        if data != HEAD + number + TAIL or not number.isdigit() or int(number) >= len(self._written):
            raise ArchiveDamaged(f"{path} is no archive of this object")
        yield OpenedMemoryArchive(self._written[int(number)])
