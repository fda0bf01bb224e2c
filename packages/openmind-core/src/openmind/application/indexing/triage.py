"""Decides, file by file, what a planned change costs: nothing, a copy of rows, or reading the file."""

import hashlib
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import BinaryIO

import attrs
from attrs import define, field

from openmind.application.indexing.batch import Entry, OpenBatch, reworded
from openmind.application.indexing.file_task import KEPT_REASONS, FileTask
from openmind.application.indexing.formats import Formats
from openmind.application.indexing.run_log import RunLog
from openmind.application.indexing.tables import LAYOUT
from openmind.domain.changes import ChangeKind, reads_alike
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import WITHOUT_OCR, FileReason, FileRecord, FileStat
from openmind.domain.ids import FileId, RunId
from openmind.domain.passages import Passages
from openmind.domain.paths import displayable, extension_of, name_of
from openmind.domain.preparation import PreparationFailure, PreparedFile
from openmind.domain.sources import Source
from openmind.ports.catalog import Catalog, CatalogReader, PlannedChange
from openmind.ports.file_tree import FileTree

HASH_BLOCK = 128 * 1024
"""Bytes read at once: room for more would be taken from the system and given back for each small file."""

PATH_REASONS = frozenset({FileReason.DENIED, FileReason.VANISHED})
"""These say something of a path, nothing of the content that stands there."""
CHANGED_MEANWHILE = "changed while it was read; the next run reads it again."


@define(kw_only=True)
class Triage:
    """Goes through a plan and settles what can be settled without reading text. Serves one thread."""

    catalog: Catalog
    tree: FileTree
    formats: Formats
    batch: OpenBatch
    log: RunLog
    run_id: RunId
    max_bytes: int
    some_are_gone: bool
    """Whether the plan names files that are gone: only these can have moved."""
    may_describe: Callable[[], bool]
    """Whether pictures that lack their description can get it in this run."""
    retry: bool
    """Whether files that failed for want of time or memory are read again, also untouched."""
    now_ns: Callable[[], int] = time.time_ns
    _moved: set[FileId] = field(factory=set, init=False)
    """Files whose move waits in the open batch, so that no second file claims them."""
    _touched: set[FileId] = field(factory=set, init=False)
    """Files whose rows get another date with the open batch."""
    _reading: dict[tuple[str, str], list[FileTask]] = field(factory=dict, init=False)
    """Content that is being read now, and the twins that wait for it."""
    _fresh: dict[tuple[str, str], PreparedFile] = field(factory=dict, init=False)
    """Content whose first file waits in the open batch."""
    _twins: dict[tuple[str, str], FileRecord] = field(factory=dict, init=False)
    """Files of the snapshot whose content others have, too: thousands may have the same one."""
    _sessions: ExitStack = field(factory=ExitStack, init=False)
    _view: CatalogReader | None = field(default=None, init=False)

    def committed(self) -> None:
        """Count what the batch held, and forget what was only true of it while it was open."""
        self.log.settle()
        self._moved.clear()
        self._touched.clear()
        self._fresh.clear()
        self.close()

    def unstable(self, record: FileRecord) -> None:
        """Take back a file that changed while it was read: what the batch held of it was dropped."""
        if record.id in self._moved:
            self.log.promise(moved=-1, skipped=1)
        elif record.id in self._touched:
            self.log.promise(already_indexed=-1, skipped=1)
        else:
            self.log.promise(indexed=-1, skipped=1, chunks=-record.chunk_count)

    def close(self) -> None:
        """Let go of the snapshot."""
        self._sessions.close()
        self._view = None
        self._twins.clear()

    def _snapshot(self) -> CatalogReader:
        """One snapshot serves until the next commit: opening one for each file costs more than all its questions."""
        if self._view is None:
            self._view = self._sessions.enter_context(self.catalog.reading())
        return self._view

    def task(self, change: PlannedChange, source: Source) -> FileTask | None:
        """Settle a change, or say what has to be read."""
        path = change.path_bytes
        self.log.at(displayable(path))
        info = self.formats.reader(extension_of(name_of(path)), code=source.code)
        assert info is not None, "a plan names only what can be read"
        snapshot = self._snapshot()
        scanned_ns = self.now_ns()
        stat = self.tree.stat(path)
        trouble = None
        content_hash, reader, data = "", info.name, None
        try:
            self._admit(stat)
            content_hash, start, whole = self._hash(path)
            reader = self.formats.reader_by_content(info, start)
            data = start if whole and not info.isolated and reader == info.name else None
            self.log.count(hashed=1)
        except ExtractionFailed as failure:
            trouble = failure
        task = FileTask(
            change=change,
            known=snapshot.file(change.file_id) if change.file_id else None,
            info=info,
            reader=reader,
            stat=stat or change.stat,
            scanned_ns=scanned_ns,
            content_hash=content_hash,
            ocr=self.formats.recognises(info, source),
            data=data,
        )
        if trouble is not None:
            self.fail(task, trouble.reason, trouble.told)
            return None
        return self._settle(task, snapshot)

    def given_back(self, task: FileTask) -> tuple[PlannedChange, ...]:
        """Begin a file, and the twins that wait for it, anew when they come again; returns their lines of the plan."""
        return tuple(each.change for each in (task, *self._reading.pop(task.content, [])))

    def fail(self, task: FileTask, reason: FileReason, message: str) -> None:
        """Note a file that cannot be read."""
        record = task.failure(reason, message)
        self.batch.note(record)
        self._count_outcome(record)

    def prepared(self, task: FileTask, outcome: PreparedFile | PreparationFailure, table_id: int) -> FileTask | None:
        """Take in what was read, for the file itself and for twins that waited for it.

        Returns:
            A task that has to be read after all, because what was learnt from this one does not hold for it.
        """
        content = task.content
        if isinstance(outcome, PreparationFailure):
            if task.kept:  # the kept text is damaged; the file still has it
                return attrs.evolve(task, packed=None, kept=False)
            self.fail(task, outcome.reason, outcome.message)
            if outcome.reason in PATH_REASONS:
                return self._first_of(content)
            for each in self._reading.pop(content, []):
                self.fail(each, outcome.reason, outcome.message)
            return None
        if not task.kept and task.data is None and self.tree.stat(task.path_bytes) != task.stat:
            # What was read need not be what was hashed: it must not stand for the twins.
            self.log.promise(skipped=1)
            self.log.notice(f"{displayable(task.path_bytes)} {CHANGED_MEANWHILE}")
            return self._first_of(content)
        waiting = self._reading.pop(content, [])
        self._fresh[content] = outcome
        self._put(task, outcome, table_id)
        for twin in waiting:
            self._put_twin(twin, outcome, table_id)
        return None

    def _first_of(self, content: tuple[str, str]) -> FileTask | None:
        """Let the first twin that waits be read in the place of the file it waited for."""
        waiting = self._reading.get(content)
        if not waiting:
            self._reading.pop(content, None)
            return None
        return waiting.pop(0)

    def _settle(self, task: FileTask, snapshot: CatalogReader) -> FileTask | None:
        known, change = task.known, task.change
        if known is not None and self._stays_as_it_is(known, task):
            self._touch(known, task)
            return None
        content = task.content
        if change.kind is ChangeKind.NEW and self.some_are_gone:
            moved = self._moved_here(task, snapshot)
            if moved is not None:
                self._move(moved, task)
                return None
        if content in self._reading:
            self._reading[content].append(attrs.evolve(task, data=None))
            return None
        if content in self._fresh:
            self._put_twin(task, self._fresh[content], self.batch.targets.live.table.id)
            return None
        twin = self._twin(task, snapshot)
        if twin is not None:
            self._copy(twin, task)
            return None
        self._reading[content] = []
        return self._with_kept_text(task, snapshot)

    def _with_kept_text(self, task: FileTask, snapshot: CatalogReader) -> FileTask:
        packed = snapshot.text(task.content_hash, task.info.key)
        if packed is None and not task.ocr:
            packed = snapshot.text(task.content_hash, task.info.key + WITHOUT_OCR)
        if packed is not None:
            return attrs.evolve(task, packed=packed, kept=True, data=None)
        if not task.info.pictures:
            return task
        known, keys = task.known, [task.info.plain_key]
        if known is not None and reads_alike(known.extractor, task.info.plain_key, ocr=task.ocr):
            keys.insert(0, known.extractor)
        former = next(filter(None, (snapshot.text(task.content_hash, key) for key in keys)), None)
        return attrs.evolve(task, former=former) if task.info.described_by else attrs.evolve(task, packed=former)

    def _stays_as_it_is(self, known: FileRecord, task: FileTask) -> bool:
        is_asked_for = self.retry or known.stat.mtime_ns != task.stat.mtime_ns
        is_for_another_try = known.reason.retried_when_saved and is_asked_for
        return known.content_hash == task.content_hash and not is_for_another_try and self._is_current(known, task)

    def _is_current(self, known: FileRecord, task: FileTask) -> bool:
        today = task.info.key if self.may_describe() else task.info.plain_key
        if not reads_alike(known.extractor, today, ocr=task.ocr) or known.reason.retried:
            return False
        if known.chunk_count == 0:
            return True
        return known.live_generation is not None and known.layout == LAYOUT

    def _moved_here(self, task: FileTask, snapshot: CatalogReader) -> FileRecord | None:
        """The record of a file with this content that is gone from where it was."""
        gone = snapshot.gone_with_content(self.run_id, task.content_hash)
        if gone is None or gone.file_id is None or gone.file_id in self._moved:
            return None
        record = snapshot.file(gone.file_id)
        if record is None or record.path_bytes != gone.path_bytes or not self._is_current(record, task):
            return None
        return record

    def _twin(self, task: FileTask, snapshot: CatalogReader) -> FileRecord | None:
        """Another file whose live passages are those of this content."""
        twin = self._twins.get(task.content)
        if twin is not None and self._is_twin(twin, task):
            return twin
        for record in snapshot.files_with_content(task.content_hash):
            if self._is_twin(record, task):
                self._twins[task.content] = record
                return record
        return None

    def _is_twin(self, record: FileRecord, task: FileTask) -> bool:
        itself = task.known is not None and record.id == task.known.id
        # A version that failed lives on under its old text, which is not what it holds now.
        sound = record.reason not in KEPT_REASONS and record.chunk_count > 0
        return not itself and sound and self._is_current(record, task)

    def _touch(self, known: FileRecord, task: FileTask) -> None:
        touched = attrs.evolve(known, stat=task.stat, scanned_ns=task.scanned_ns)
        if known.live_generation is not None and known.stat.mtime_ns != task.stat.mtime_ns:
            # Its rows say when it was changed, and searches are narrowed by that.
            self._touched.add(known.id)
            self.batch.put(Entry(record=touched, copy_of=known.live_generation, replaces=known.live_generation))
        else:
            self.batch.note(touched)
        self.log.promise(**{known.status.counted_unchanged: 1})

    def _move(self, record: FileRecord, task: FileTask) -> None:
        self._moved.add(record.id)
        moved = attrs.evolve(
            record,
            source_id=task.change.source_id,
            path_bytes=task.path_bytes,
            stat=task.stat,
            scanned_ns=task.scanned_ns,
        )
        if record.live_generation is None:
            self.batch.note(moved)
        else:
            self.batch.put(Entry(record=moved, copy_of=record.live_generation, replaces=record.live_generation))
        self.log.promise(moved=1)

    def _copy(self, twin: FileRecord, task: FileTask) -> None:
        record = attrs.evolve(
            twin,
            id=task.file_id,
            source_id=task.change.source_id,
            path_bytes=task.path_bytes,
            stat=task.stat,
            scanned_ns=task.scanned_ns,
        )
        self.batch.put(Entry(record=record, copy_of=twin.live_generation))
        self.log.promise(indexed=1, chunks=record.chunk_count)

    def _put(self, task: FileTask, prepared: PreparedFile, table_id: int) -> None:
        self._enter(task, prepared, prepared.passages, table_id)

    def _put_twin(self, task: FileTask, prepared: PreparedFile, table_id: int) -> None:
        self._enter(task, prepared, reworded(prepared.passages, task.path_bytes), table_id)

    def _enter(self, task: FileTask, prepared: PreparedFile, passages: Passages, table_id: int) -> None:
        record = task.record(prepared)
        if not passages:
            self.batch.note(record)
            self._count_outcome(record)
            return
        self.batch.put(
            Entry(
                record=record,
                passages=passages,
                vectors=prepared.vectors_of(table_id),
                packed=prepared.packed,
                replaces=task.known.live_generation if task.known else None,
            )
        )
        self.log.promise(chunks=len(passages))
        self._count_outcome(record)

    def _count_outcome(self, record: FileRecord) -> None:
        self.log.promise(**{record.status.value: 1})
        if record.reason is not FileReason.OK:
            self.log.fail(displayable(record.path_bytes), record.reason.value, record.error)

    def _admit(self, stat: FileStat | None) -> None:
        if stat is None:
            raise ExtractionFailed("It was gone before it could be read.", reason=FileReason.VANISHED)
        if stat.size > self.max_bytes:
            told = f"It is larger than {self.max_bytes // 1_048_576} MB, the limit in `[indexing] max_file_mb`."
            raise ExtractionFailed(told, reason=FileReason.TOO_BIG)

    def _hash(self, path: bytes) -> tuple[str, bytes, bool]:
        with self.tree.open(path) as file:
            return hash_stream(file)


def hash_stream(file: BinaryIO) -> tuple[str, bytes, bool]:
    """Hash a file's bytes with SHA-256.

    Returns:
        The hash, hex; how the file begins: its first block, at most `HASH_BLOCK` bytes; and whether that is all of it.
    """
    start = file.read(HASH_BLOCK)
    digest = hashlib.sha256(start)
    is_whole = True
    while block := file.read(HASH_BLOCK):
        is_whole = False
        digest.update(block)
    return digest.hexdigest(), start, is_whole
