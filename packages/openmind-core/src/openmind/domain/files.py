"""Files as the catalog knows them."""

from enum import StrEnum
from typing import Self

from attrs import frozen

from openmind.domain.ids import FileId, Generation, SourceId
from openmind.domain.paths import displayable

RACY_NS = 2_000_000_000
"""A file changed this close to the moment it was looked at may change again within one clock tick."""


DESCRIBED = "+"
"""In the key of an extractor, stands before the model that described what was on a picture."""


WITHOUT_OCR = " without OCR"
"""At the end of the key of an extractor: some of the file's text is missing, as no OCR was there to read it."""


class FileStatus(StrEnum):
    """Whether a file can be searched."""

    INDEXED = "indexed"
    SKIPPED = "skipped"
    FAILED = "failed"

    @property
    def counted_unchanged(self) -> str:
        """What a tally calls a file that was like this before; one that becomes so is counted by the status itself."""
        return "already_indexed" if self is FileStatus.INDEXED else self.value


class FileReason(StrEnum):
    """Why a file has the status it has."""

    OK = "ok"
    PARTIAL = "partial"
    EMPTY = "empty"
    NEEDS_OCR = "needs_ocr"
    ENCRYPTED = "encrypted"
    UNSUPPORTED = "unsupported"
    TOO_BIG = "too_big"
    DENIED = "denied"
    VANISHED = "vanished"
    DAMAGED = "damaged"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    PROVIDER = "provider"

    @property
    def status(self) -> FileStatus:
        return _STATUS[self]

    @property
    def words(self) -> str:
        """The reason as a person says it, of one file or of many."""
        return _WORDS.get(self, self.value)

    @property
    def urgency(self) -> int:
        """Where the reason stands in a list that begins with what a person can do something about; 0 comes first."""
        return _BY_URGENCY.index(self)

    @property
    def retried(self) -> bool:
        """Whether the next run tries again although the file has not changed."""
        return self in {FileReason.DENIED, FileReason.VANISHED, FileReason.PROVIDER}

    @property
    def retried_when_saved(self) -> bool:
        """Whether it is tried again once the file was saved anew, with the same bytes, too: time and memory decided."""
        return self in {FileReason.TIMEOUT, FileReason.CRASHED}

    @property
    def hint(self) -> str:
        """What a person can do about it; empty where there is nothing to be done."""
        return _HINTS.get(self, "")


_WORDS = {
    FileReason.PARTIAL: "in part",
    FileReason.EMPTY: "without text",
    FileReason.NEEDS_OCR: "needs recognition",
    FileReason.UNSUPPORTED: "not what is read",
    FileReason.TOO_BIG: "too big",
    FileReason.DENIED: "closed to you",
    FileReason.VANISHED: "gone meanwhile",
    FileReason.TIMEOUT: "took too long",
    FileReason.CRASHED: "reader crashed",
    FileReason.PROVIDER: "provider trouble",
}
"""Where the code is not the word for it."""
_BY_URGENCY = (
    FileReason.ENCRYPTED,
    FileReason.NEEDS_OCR,
    FileReason.DENIED,
    FileReason.TIMEOUT,
    FileReason.PROVIDER,
    FileReason.CRASHED,
    FileReason.DAMAGED,
    FileReason.UNSUPPORTED,
    FileReason.TOO_BIG,
    FileReason.PARTIAL,
    FileReason.VANISHED,
    FileReason.EMPTY,
    FileReason.OK,
)
_ONCE_MORE = (
    "`openmind index --retry` tries once more. If that is in vain, update the package that is named, or save the file "
    "in another format."
)
_HINTS = {
    FileReason.PARTIAL: (
        "The note says what is missing: divide what is too long, save again what is broken. Where recognition was off, "
        "missing or ended, the next `openmind index` goes on once it can; what the embedding model refused, "
        "`openmind index --retry` tries again."
    ),
    FileReason.NEEDS_OCR: (
        "Where recognition is off, switch it on: `openmind source set ID --ocr`, and `[extraction.ocr] enabled`. "
        "Where its engine is missing, install it; for other scripts install OCRmyPDF and set `backend` to `ocrmypdf`."
    ),
    FileReason.ENCRYPTED: "Save a copy without a password.",
    FileReason.UNSUPPORTED: (
        "Give it the extension of what it is, or save it in a format that is read; `openmind plugins` lists them."
    ),
    FileReason.TOO_BIG: "Divide it, or raise the limit where one of the configuration is named.",
    FileReason.DENIED: "Allow yourself to read it; the next run tries again.",
    FileReason.VANISHED: "The next run looks again.",
    FileReason.DAMAGED: "Open it in the program it came from and save it again, or fetch it again.",
    FileReason.TIMEOUT: _ONCE_MORE,
    FileReason.CRASHED: _ONCE_MORE,
    FileReason.PROVIDER: "Run `openmind index` again when the provider answers.",
}
_STATUS = {
    FileReason.OK: FileStatus.INDEXED,
    FileReason.PARTIAL: FileStatus.INDEXED,
    FileReason.EMPTY: FileStatus.SKIPPED,
    FileReason.NEEDS_OCR: FileStatus.SKIPPED,
    FileReason.ENCRYPTED: FileStatus.SKIPPED,
    FileReason.UNSUPPORTED: FileStatus.SKIPPED,
    FileReason.TOO_BIG: FileStatus.SKIPPED,
    FileReason.DENIED: FileStatus.SKIPPED,
    FileReason.VANISHED: FileStatus.SKIPPED,
    FileReason.DAMAGED: FileStatus.FAILED,
    FileReason.TIMEOUT: FileStatus.FAILED,
    FileReason.CRASHED: FileStatus.FAILED,
    FileReason.PROVIDER: FileStatus.FAILED,
}


@frozen(kw_only=True)
class FileStat:
    """A file as discovery sees it: metadata only."""

    size: int
    """Bytes."""
    mtime_ns: int
    """Last modification, nanoseconds since the epoch; programs may set it to what they like."""
    ctime_ns: int | None = None
    """Last change of anything about the file, which no program sets; None where it was never noted. Windows keeps the
    moment of creation here, which only adds nothing."""

    @property
    def modified_at(self) -> float:
        """Last modification, POSIX seconds."""
        return self.mtime_ns / 1_000_000_000

    def looks_like(self, other: Self) -> bool:
        """Whether both may describe the same content; what one of them does not know is no difference."""
        unknown = self.ctime_ns is None or other.ctime_ns is None
        return (self.size, self.mtime_ns) == (other.size, other.mtime_ns) and (
            unknown or self.ctime_ns == other.ctime_ns
        )


@frozen(kw_only=True)
class FileRecord:
    """A file as the catalog knows it."""

    id: FileId
    source_id: SourceId
    path_bytes: bytes
    """The absolute path exactly as the file system has it."""
    stat: FileStat
    scanned_ns: int
    """When `stat` was taken, nanoseconds since the epoch."""
    content_hash: str = ""
    """SHA-256 of the bytes, hex; empty while nothing was read."""
    reason: FileReason
    error: str = ""
    """What a person is told about a file that is not, or not wholly, searchable."""
    extractor: str = ""
    """Name and version of what read it, `markdown/1`; for a picture also the model that described it."""
    layout: str = ""
    """Versions of chunking and analyser that made the live passages."""
    title: str = ""
    metadata: str = "{}"
    """JSON object from the extractor."""
    live_generation: Generation | None = None
    chunk_count: int = 0
    missing_vectors: int = 0
    """How many of the live passages have no vector yet."""
    indexed_at: str = ""
    """ISO 8601, UTC; empty while nothing is live."""

    @property
    def status(self) -> FileStatus:
        return self.reason.status

    def is_racy(self) -> bool:
        """Whether the file may have changed after it was read without its metadata showing it."""
        return self.stat.mtime_ns >= self.scanned_ns - RACY_NS


@frozen(kw_only=True)
class FileBrief:
    """What a search needs to know of a file: each one looks at hundreds."""

    source_id: SourceId
    path_bytes: bytes
    path: str
    """The same, displayable."""
    title: str = ""
    live_generation: Generation | None

    @classmethod
    def of(cls, record: FileRecord) -> "FileBrief":
        return cls(
            source_id=record.source_id,
            path_bytes=record.path_bytes,
            path=displayable(record.path_bytes),
            title=record.title,
            live_generation=record.live_generation,
        )
