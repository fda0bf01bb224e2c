"""ZIP containers of documents, opened with suspicion."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

from attrs import frozen
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.extractor import Blob

MAX_MEMBERS = 5_000
"""Real documents have hundreds; a directory of millions costs memory before anything is read."""

MAX_TOTAL_BYTES = 200_000_000
"""Unpacked size of all members together: the memory of a worker process is half a gigabyte."""

MAX_RATIO = 100
"""Text packs 3 to 20 times; a member that packs better is made to blow up."""

RATIO_FROM_BYTES = 1_000_000
"""Small members are harmless whatever their ratio."""

_FLAG_ENCRYPTED = 0x1

ARCHIVE_FAILURES = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    IndexError,
    NotImplementedError,
    OSError,  # a seek to nowhere; bz2
    OverflowError,
    RuntimeError,
    ValueError,
)
"""What the standard library raises for a broken container."""


@frozen
class Archive:
    """An open container. Members are read whole, one at a time, and only those that are asked for."""

    file: zipfile.ZipFile
    names: frozenset[str]

    def read(self, name: str) -> bytes:
        """Return a member's bytes.

        Raises:
            ExtractionFailed: it is not there, or broken.
        """
        with _told_as_reasons():
            return self.file.read(name)

    def blocks(self, name: str, size: int = 1 << 20) -> Iterator[bytes]:
        """Yield a member's bytes piece by piece, for one that is too large to be read whole.

        Raises:
            ExtractionFailed: it is not there, or broken.
        """
        with _told_as_reasons(), self.file.open(name) as member:
            while block := member.read(size):
                yield block

    def read_if_there(self, name: str) -> bytes:
        """Return a member's bytes, or none."""
        return self.read(name) if name in self.names else b""

    def size(self, name: str) -> int:
        """Return the unpacked size of a member, in bytes; 0 when it is not there."""
        return self.file.getinfo(name).file_size if name in self.names else 0


@contextmanager
def open_archive(blob: Blob) -> Iterator[Archive]:
    """Open a container after its directory was checked.

    Raises:
        ExtractionFailed: it is damaged, encrypted, or unpacks to more than is sane.
    """
    with _told_as_reasons():
        source = BytesIO(blob.data) if blob.data is not None else blob.path
        assert source is not None
        file = zipfile.ZipFile(source)
    with file:
        members = file.infolist()
        _check(members)
        yield Archive(file, frozenset(member.filename for member in members))


def _check(members: list[zipfile.ZipInfo]) -> None:
    """Refuse what would blow up, before a byte is unpacked."""
    if any(member.flag_bits & _FLAG_ENCRYPTED for member in members):
        raise ExtractionFailed("the document is protected by a password", reason=FileReason.ENCRYPTED)
    if len(members) > MAX_MEMBERS:
        raise _bomb(f"it has {len(members)} parts")
    total = sum(member.file_size for member in members)
    if total > MAX_TOTAL_BYTES:
        raise _bomb(f"it unpacks to {total // 1_000_000} MB")
    for member in members:
        if member.file_size > RATIO_FROM_BYTES and member.file_size > MAX_RATIO * member.compress_size:
            raise _bomb(f"a part of it grows to {member.file_size // max(member.compress_size, 1)} times its size")


def _bomb(what: str) -> ExtractionFailed:
    return ExtractionFailed(f"the document is not unpacked: {what}", reason=FileReason.TOO_BIG)


@contextmanager
def _told_as_reasons() -> Iterator[None]:
    """Translate what opening and unpacking can fail with."""
    try:
        yield
    except FileNotFoundError as error:
        raise ExtractionFailed("the file is gone", reason=FileReason.VANISHED) from error
    except PermissionError as error:
        raise ExtractionFailed("the file may not be read", reason=FileReason.DENIED) from error
    except KeyError as error:
        raise ExtractionFailed(f"the document lacks a part: {error.args[0]}") from error
    except ARCHIVE_FAILURES as error:
        raise ExtractionFailed(f"its ZIP container cannot be unpacked ({str(error)[:200]})") from error
