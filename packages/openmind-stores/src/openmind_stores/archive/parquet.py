"""Archives as Parquet files in a zip file."""

import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

from attrs import frozen
from openmind.domain.archives import KeptText, Manifest
from openmind.domain.chunks import ChunkRow
from openmind.domain.errors import ArchiveDamaged, StoreDamaged, StoreFull
from openmind.domain.files import FileRecord
from openmind.domain.sources import Source
from openmind.ports.archive import ArchiveContents, OpenedArchive

from openmind_stores.archive import layout
from openmind_stores.archive.layout import FILES, MANIFEST, PARTS, PASSAGES, SCHEMAS, SOURCES, TEXTS, Row
from openmind_stores.archive.manifest import manifest_from_json, manifest_to_json
from openmind_stores.hidden_pandas import hidden_pandas
from openmind_stores.sqlite.errors import translate_os

with hidden_pandas():
    import pyarrow as pa
    import pyarrow.parquet

T = TypeVar("T")

AT_ONCE: Final[Mapping[str, int]] = {SOURCES: 1_000, FILES: 5_000, TEXTS: 200, PASSAGES: 5_000}
"""Rows of a part that are in memory at once."""
MANIFEST_BYTES: Final = 1_000_000
MOST_GROWTH: Final = 200
"""So many times its size on the disk an archive may have in memory; text packs ten times, bombs a thousand."""
ALLOWED: Final = 64_000_000
"""Bytes that are no bomb, however well they were packed."""
MODE: Final = 0o600


class ParquetArchive:
    """Implements `openmind.ports.archive.Archive`."""

    def write(self, path: Path, contents: ArchiveContents) -> None:
        try:
            with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as name:
                room = Path(name)
                _write_part(room / SOURCES, SOURCES, map(layout.source_row, contents.sources))
                _write_part(room / PASSAGES, PASSAGES, map(layout.passage_row, contents.passages))
                _write_part(room / FILES, FILES, map(layout.file_row, contents.files))
                _write_part(room / TEXTS, TEXTS, map(layout.text_row, contents.texts))
                whole = room / path.name
                _bundle(whole, manifest_to_json(contents.manifest()), room)
                whole.replace(path)
        except OSError as error:
            raise translate_os(error, path) from error

    @contextmanager
    def open(self, path: Path, *, room: Path) -> Iterator[OpenedArchive]:
        with tempfile.TemporaryDirectory(prefix="import-", dir=room) as name:
            folder = Path(name)
            with _told(path):
                manifest = _unpack(path, folder)
            yield OpenedParquet(folder=folder, path=path, manifest=manifest)


@frozen(kw_only=True)
class OpenedParquet:
    """The parts of an archive, unpacked."""

    folder: Path
    path: Path
    manifest: Manifest

    def sources(self) -> Iterator[Source]:
        return self._read(SOURCES, layout.source_of)

    def files(self) -> Iterator[FileRecord]:
        return self._read(FILES, layout.file_of)

    def texts(self) -> Iterator[KeptText]:
        return self._read(TEXTS, layout.text_of)

    def passages(self) -> Iterator[ChunkRow]:
        return self._read(PASSAGES, layout.passage_of)

    def _read(self, part: str, make: Callable[[Row], T]) -> Iterator[T]:
        with _told(self.path), pyarrow.parquet.ParquetFile(self.folder / part) as file:
            if not file.schema_arrow.equals(SCHEMAS[part]):
                raise _damaged(self.path, f"{part} has other columns")
            groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
            _refuse_bomb(self.path, (self.folder / part).stat().st_size, sum(each.total_byte_size for each in groups))
            for batch in file.iter_batches(batch_size=AT_ONCE[part]):
                for name in set(batch.schema.names) - layout.ABSENT.get(part, frozenset()):
                    if batch.column(name).null_count:
                        raise _damaged(self.path, f"{part} lacks values of {name}")
                yield from [make(row) for row in layout.rows_of(batch.to_pydict())]


def _write_part(path: Path, part: str, rows: Iterable[Row]) -> None:
    remaining = iter(rows)
    with pyarrow.parquet.ParquetWriter(path, SCHEMAS[part], compression="zstd") as writer:
        while some := list(islice(remaining, AT_ONCE[part])):
            writer.write_batch(pa.RecordBatch.from_pydict(layout.columns_of(part, some), schema=SCHEMAS[part]))


def _bundle(path: Path, manifest: str, room: Path) -> None:
    """Put the parts together; they are compressed already."""
    number = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, MODE)
    with os.fdopen(number, "wb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as bundle:
            bundle.writestr(MANIFEST, manifest)
            for part in PARTS:
                bundle.write(room / part, part)
        file.flush()
        os.fsync(file.fileno())


def _unpack(path: Path, folder: Path) -> Manifest:
    """Unpack the parts that are ours under names that are ours, and never more than was announced."""
    with zipfile.ZipFile(path) as bundle:
        known = {info.filename: info for info in bundle.infolist()}
        missing = [name for name in (MANIFEST, *PARTS) if name not in known]
        if missing:
            raise _damaged(path, f"{missing[0]} is missing")
        if known[MANIFEST].file_size > MANIFEST_BYTES:
            raise _damaged(path, "its manifest is too large")
        needed = sum(known[part].file_size for part in PARTS)
        _refuse_bomb(path, path.stat().st_size, needed)
        if needed > shutil.disk_usage(folder).free:
            raise StoreFull(
                f"There is no space to unpack {path.name}: it needs {needed / 1e6:,.0f} MB",
                hint="Free some disk space and try again.",
            )
        manifest = manifest_from_json(bundle.read(MANIFEST))
        for part in PARTS:
            with bundle.open(known[part]) as packed, (folder / part).open("wb") as file:
                shutil.copyfileobj(packed, file)
    return manifest


def _refuse_bomb(path: Path, packed: int, unpacked: int) -> None:
    """Refuse what was made to fill a disk or the memory."""
    if unpacked > max(ALLOWED, MOST_GROWTH * packed):
        raise _damaged(path, "it would unpack to far more than text does")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say in OpenMind's words what is wrong with an archive."""
    try:
        yield
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, pa.ArrowException, EOFError) as error:
        raise _damaged(path, "it is damaged, or something else") from error
    except RuntimeError as error:  # zipfile's way of saying that a member is encrypted, or packed in a way it knows not
        raise _damaged(path, "it is encrypted, or was packed by another program") from error
    except (KeyError, ValueError, TypeError, StoreDamaged) as error:
        raise _damaged(path, "what it holds makes no sense") from error
    except OSError as error:
        if error.errno is None:  # Arrow's way of saying that a page cannot be unpacked
            raise _damaged(path, "it is damaged, or something else") from error
        raise translate_os(error, path) from error


def _damaged(path: Path, why: str) -> ArchiveDamaged:
    return ArchiveDamaged(f"{path.name} cannot be imported: {why}", hint="Export it once more.")
