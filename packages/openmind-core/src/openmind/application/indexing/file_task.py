"""A file that has to be read, and the record that comes of it."""

import json
from functools import partial

import attrs
from attrs import Factory, field, frozen

from openmind.application.indexing.tables import LAYOUT
from openmind.domain.files import WITHOUT_OCR, FileReason, FileRecord, FileStat, FileStatus
from openmind.domain.ids import FileId, new_file_id
from openmind.domain.pictures import MODEL, key_of
from openmind.domain.preparation import PreparedFile
from openmind.domain.recognition import key_as_read
from openmind.domain.sentences import as_message, as_sentence
from openmind.ports.catalog import PlannedChange
from openmind.ports.extractor import ExtractorInfo

_to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

KEPT_REASONS = frozenset(
    {
        FileReason.DENIED,
        FileReason.VANISHED,
        FileReason.DAMAGED,
        FileReason.TIMEOUT,
        FileReason.CRASHED,
        FileReason.PROVIDER,
    }
)
"""When the new version of a file fails like this, the version before stays searchable."""


@frozen(kw_only=True)
class FileTask:
    """A file that has to be read, or whose kept text has to be prepared anew."""

    change: PlannedChange
    known: FileRecord | None
    info: ExtractorInfo
    """What the extension promises; the catalog knows the file by its key."""
    reader: str = Factory(lambda self: self.info.name, takes_self=True)
    """Name of the extractor that reads the file: the content may call for another one than its extension."""
    stat: FileStat
    scanned_ns: int
    content_hash: str = ""
    """Empty while the file was not read."""
    ocr: bool
    packed: bytes | None = field(default=None, repr=False)
    """The text: kept, when this content was read before, or just read."""
    kept: bool = False
    """Whether `packed` was kept by an earlier run."""
    data: bytes | None = field(default=None, repr=False)
    """The bytes that were hashed, where they are few and are to be read next; those of twins that wait are dropped."""
    former: bytes | None = field(default=None, repr=False)
    """The kept text without the description that is wanted now: only a picture of the file is needed, no OCR."""
    file_id: FileId = Factory(lambda self: self.known.id if self.known else new_file_id(), takes_self=True)
    """The id the catalog has for the file, or a new one."""

    @property
    def ticket(self) -> int:
        """Names the task while it is elsewhere."""
        return self.change.position

    @property
    def path_bytes(self) -> bytes:
        return self.change.path_bytes

    @property
    def content(self) -> tuple[str, str]:
        """What is equal for files that have the same text: their bytes, and how they are read."""
        return self.content_hash, self.info.key if self.ocr else self.info.key + WITHOUT_OCR

    @property
    def is_hostile(self) -> bool:
        """Whether the file has to be read where it may crash; text that is kept already is harmless."""
        return (self.info.isolated or self.reader != self.info.name) and self.packed is None

    def record(self, prepared: PreparedFile) -> FileRecord:
        """Make the record of a file that was read."""
        facts, chunks = prepared.facts, len(prepared.passages)
        reason, note = facts.reason, facts.note
        if not chunks and reason in {FileReason.OK, FileReason.PARTIAL}:
            reason, note = FileReason.EMPTY, note or "There is no text in it."
        found = MODEL in facts.metadata or reason is not FileReason.NEEDS_OCR
        if chunks and reason.status is not FileStatus.INDEXED and found:
            reason = FileReason.PARTIAL  # a picture is found by what it shows, and yet its text was not read
        return self._as_found()(
            reason=reason,
            error=as_message(note) if reason is not FileReason.OK else "",
            extractor=key_as_read(
                key_of(facts.metadata, plain_key=self.info.plain_key, wanted=self.info.key), facts.metadata
            ),
            layout=LAYOUT,
            title=facts.title,
            metadata=_to_json(facts.metadata),
            chunk_count=chunks,
        )

    def failure(self, reason: FileReason, message: str) -> FileRecord:
        """Make the record of a file that could not be read; often its version before stays searchable."""
        failed = self._as_found()(reason=reason, error=as_message(message), extractor=self.info.key)
        former = self.known
        if former is None or former.live_generation is None or reason not in KEPT_REASONS:
            return failed
        return attrs.evolve(
            failed,
            content_hash=self.content_hash or former.content_hash,
            error=f"{as_sentence(message)} The version before can still be found.",
            # What will be tried again may turn out to be as it was: then its kept text is still needed.
            extractor=former.extractor if reason.retried else failed.extractor,
            layout=former.layout,
            title=former.title,
            live_generation=former.live_generation,
            chunk_count=former.chunk_count,
            missing_vectors=former.missing_vectors,
            indexed_at=former.indexed_at,
        )

    def _as_found(self) -> partial[FileRecord]:
        """Begin a record with the file as it was found; what became of it is missing."""
        return partial(
            FileRecord,
            id=self.file_id,
            source_id=self.change.source_id,
            path_bytes=self.path_bytes,
            stat=self.stat,
            scanned_ns=self.scanned_ns,
            content_hash=self.content_hash,
        )
