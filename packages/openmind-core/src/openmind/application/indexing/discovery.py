"""Finds out what changed: two sorted streams, the folder and the catalog, are walked side by side."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from attrs import define, evolve, field, frozen

from openmind.application.indexing.formats import Formats
from openmind.domain.changes import ChangeKind, Reader, classify
from openmind.domain.errors import SourceNotFound
from openmind.domain.files import FileReason, FileRecord, FileStat
from openmind.domain.ids import FileId, RunId, SourceId
from openmind.domain.paths import displayable, extension_of, is_within, name_of
from openmind.domain.sentences import as_sentence
from openmind.domain.sources import Source
from openmind.domain.unread import kind_of, to_setting, unread_key
from openmind.ports.catalog import Catalog, PlannedChange
from openmind.ports.file_tree import FileTree, FoundFile, NoFile, Obstacle

PLAN_SLICE = 2_000
"""Lines of a plan that are written in one transaction."""
TICK_EVERY = 256
"""Files that are passed before a wish to stop is heard."""

IN_ORDER_OF_PATHS = FileStat(size=0, mtime_ns=0)
"""What lines of files that are gone are planned with: what the files measured says nothing now."""


@define(kw_only=True)
class SourceScan:
    """What was found in one source."""

    source: Source
    present: bool = True
    device: int | None = None
    device_changed: bool = False
    known: int = 0
    found: int = 0
    gone: int = 0
    unchanged: Counter[str] = field(factory=Counter)
    """Files that need nothing, by what a tally calls them."""
    planned: int = 0
    """Lines written to the plan, `gone` ones not counted."""
    unread: Counter[str] = field(factory=Counter)
    """Files of kinds that nothing reads, and what is no file, by kind."""
    undated: dict[FileId, int] = field(factory=dict)
    """Unchanged files whose records lack the time of change, and that time; noted in slices."""
    notices: list[str]


@frozen(kw_only=True)
class Discovery:
    """Compares sources with the catalog by metadata alone and writes what has to be done as a plan."""

    catalog: Catalog
    tree: FileTree
    formats: Formats
    layout: str
    """Versions of chunking and analyser, as records keep them."""
    max_bytes: int
    """Larger files are not read."""
    retry: bool = False
    """Whether files that failed for want of time or memory are planned, too."""

    def scan(self, source: Source, run_id: RunId, *, tick: Callable[[SourceScan], None]) -> SourceScan:
        """Plan one source.

        Args:
            source: an enabled one.
            run_id: whose plan it is.
            tick: called every few files, also of kinds that are not read; may raise to end the scan.
        """
        scan = SourceScan(source=source, notices=[])
        root = self.tree.root(source)
        if not root.present:
            scan.present = False
            why = as_sentence(root.message or "the folder is not there")
            scan.notices.append(
                f"{source.path}: {why} What was remembered of it is kept. Bring the folder back, or forget it with "
                f"`openmind source remove {source.id}`."
            )
            return scan
        scan.device = root.device
        scan.device_changed = None not in (source.device, root.device) and source.device != root.device
        pending: list[PlannedChange] = []
        for change in self._changes(source, scan, tick):
            pending.append(change)
            if len(pending) >= PLAN_SLICE:
                self._write(run_id, pending)
        self._write(run_id, pending)
        self._date(scan)
        self._remember_unread(scan)
        tick(scan)
        return scan

    def _remember_unread(self, scan: SourceScan) -> None:
        name, kinds = unread_key(scan.source.id), to_setting(scan.unread)
        with self.catalog.reading() as snapshot:
            before = snapshot.setting(name)
        if kinds != before:
            with self.catalog.writing() as session:
                session.set_setting(name, kinds)

    def _date(self, scan: SourceScan) -> None:
        if scan.undated:
            with self.catalog.writing() as session:
                session.note_ctimes(scan.undated)
            scan.undated.clear()

    def _write(self, run_id: RunId, pending: list[PlannedChange]) -> None:
        if pending:
            with self.catalog.writing() as session:
                session.plan(run_id, pending)
            pending.clear()

    def _changes(self, source: Source, scan: SourceScan, tick: Callable[[SourceScan], None]) -> Iterator[PlannedChange]:
        passed = itertools.count(1)

        def wanted(extension: str) -> bool:
            if next(passed) % TICK_EVERY == 0:
                tick(scan)
            if self.formats.reader(extension, code=source.code) is not None:
                return True
            scan.unread[kind_of(extension)] += 1
            return False

        with self.catalog.reading() as snapshot:
            found = self.tree.scan(source, wanted)
            yield from self._merge(source, scan, snapshot.known_files(source.id), found)

    def _merge(
        self,
        source: Source,
        scan: SourceScan,
        known_files: Iterator[FileRecord],
        found_files: Iterable[FoundFile | Obstacle | NoFile],
    ) -> Iterator[PlannedChange]:
        """Walk both streams; both ascend by `path_bytes`, so one pass with one record in hand is enough."""
        blocked: bytes | None = None
        record = next(known_files, None)
        for found in found_files:
            while record is not None and record.path_bytes < found.path_bytes:
                yield from self._missing(record, scan, blocked)
                record = next(known_files, None)
            if isinstance(found, Obstacle):
                blocked = found.path_bytes
                scan.notices.append(_told(found))
                continue
            if isinstance(found, NoFile):
                scan.unread[found.kind] += 1
                continue
            known = None
            if record is not None and record.path_bytes == found.path_bytes:
                known, record = record, next(known_files, None)
                scan.known += 1
            yield from self._present(source, found, known, scan)
        while record is not None:
            yield from self._missing(record, scan, blocked)
            record = next(known_files, None)

    def _missing(self, record: FileRecord, scan: SourceScan, blocked: bytes | None) -> Iterator[PlannedChange]:
        scan.known += 1
        if blocked is not None and is_within(record.path_bytes, blocked):
            scan.unchanged[record.status.counted_unchanged] += 1  # it cannot be seen now; that does not mean it is gone
            return
        scan.gone += 1
        yield PlannedChange(
            source_id=record.source_id,
            path_bytes=record.path_bytes,
            kind=ChangeKind.GONE,
            stat=IN_ORDER_OF_PATHS,
            file_id=record.id,
            content_hash=record.content_hash,
        )

    def _present(
        self, source: Source, found: FoundFile, known: FileRecord | None, scan: SourceScan
    ) -> Iterator[PlannedChange]:
        scan.found += 1
        info = self.formats.reader(extension_of(name_of(found.path_bytes)), code=source.code)
        today = Reader(
            extractor=info.key if info else "",
            layout=self.layout,
            ocr=info is not None and self.formats.recognises(info, source),
            max_bytes=self.max_bytes,
        )
        kind = classify(found.stat, known, today, retry=self.retry)
        if kind is None:
            assert known is not None
            scan.unchanged[known.status.counted_unchanged] += 1
            if known.stat.ctime_ns is None and found.stat.ctime_ns is not None:
                scan.undated[known.id] = found.stat.ctime_ns
                if len(scan.undated) >= PLAN_SLICE:
                    self._date(scan)
            return
        scan.planned += 1
        yield PlannedChange(
            source_id=source.id,
            path_bytes=found.path_bytes,
            kind=kind,
            stat=found.stat,
            file_id=known.id if known else None,
            effort=info.effort if info else 0,
            content_hash=known.content_hash if known else "",
        )


def _told(obstacle: Obstacle) -> str:
    """Say what was in the way, and what to do about it."""
    path = displayable(obstacle.path_bytes.rstrip(b"/") or b"/")
    kept = "What was remembered of it is kept."
    if obstacle.reason is FileReason.DENIED:
        kept += " Give your account the right to read it, or leave it out with a line in .openmindignore."
    elif obstacle.reason is FileReason.TOO_BIG:
        kept += " Let a few patterns name whole folders, or kinds of files, in the place of single ones."
    elif obstacle.reason is FileReason.UNSUPPORTED:
        kept += " Put an ordinary file in its place, or take it away."
    return f"{path}: {as_sentence(obstacle.message)} {kept}"


def note_device(catalog: Catalog, scan: SourceScan) -> None:
    """Note the device that a source is on now; one that was removed meanwhile has none."""
    with suppress(SourceNotFound), catalog.writing() as session:
        source = session.source(scan.source.id)  # as it is now: somebody may have changed it since the scan
        session.update_source(evolve(source, device=scan.device))


def waiting_key(source_id: SourceId) -> str:
    """Name of the setting that says how many deletions of a source wait for consent."""
    return f"waiting_deletions:{source_id}"


def number_waiting(kept: str | None) -> int:
    """Read how many deletions wait; what is no number tells of none, and the next run counts anew."""
    return int(kept) if kept and kept.isdecimal() else 0
