"""Forgetting: files that are gone leave memory, unless it looks as if they were only out of sight."""

from collections import Counter
from collections.abc import Iterable, Iterator

from attrs import frozen

from openmind.application.indexing.attention import Attention
from openmind.application.indexing.discovery import SourceScan, note_device, waiting_key
from openmind.application.indexing.formats import Formats
from openmind.application.indexing.plan import PAGE, Plan
from openmind.application.indexing.run_log import RunLog
from openmind.application.recovering.sweeping import owe_purge
from openmind.domain.changes import ChangeKind, deletions_need_consent
from openmind.domain.files import FileRecord
from openmind.domain.ids import FileId
from openmind.domain.paths import extension_of, name_of
from openmind.domain.sentences import counted
from openmind.ports.catalog import Catalog, PlannedChange
from openmind.ports.file_tree import FileTree

GONE = (ChangeKind.GONE,)
CONFIRM = "openmind index --accept-deletions"


@frozen(kw_only=True)
class Forgetting:
    """Carries out the deletions of a plan, source by source. Serves one thread."""

    catalog: Catalog
    tree: FileTree
    formats: Formats
    plan: Plan
    log: RunLog
    attention: Attention
    accept: bool
    """Whether files that vanished in numbers may be forgotten."""

    def forget_gone(self, scan: SourceScan) -> None:
        """Forget what is gone from a source, or say why it is kept."""
        if not scan.present or not self._is_still_there(scan):
            return
        left_out = self._look_again(scan) if scan.gone else 0
        gone = sum(1 for _ in self._gone(scan))
        refused = not self.accept and deletions_need_consent(
            gone=gone, known=scan.known, found=scan.found, device_changed=scan.device_changed
        )
        with self.catalog.writing() as session:
            session.set_setting(waiting_key(scan.source.id), str(gone) if refused else None)
        if refused:
            self._ask_for_consent(scan, gone, left_out)
            return
        ids: list[FileId] = []
        for file_id in self._gone(scan):
            ids.append(file_id)
            if len(ids) == PAGE:
                self._forget(ids)
                self.attention.heed()
        self._forget(ids)
        if scan.device_changed and (self.accept or (scan.found and not gone)):
            note_device(self.catalog, scan)

    def _ask_for_consent(self, scan: SourceScan, gone: int, left_out: int) -> None:
        self.log.count(waiting_deletions=gone)
        if gone > left_out:
            self.log.notice(
                f"{_files(gone - left_out, scan)} gone. What was remembered of them is kept; "
                f"if they were really deleted, confirm with: {CONFIRM}"
            )
        if left_out:
            self.log.notice(
                f"{_files(left_out, scan)} there but left out now, by an ignore file or a setting. "
                f"What was remembered of them is kept; to forget it: {CONFIRM}"
            )

    def _gone(self, scan: SourceScan) -> Iterator[FileId]:
        """Files that are gone, or left out now, and did not move elsewhere."""
        if scan.gone:
            for page in self.plan.pages(GONE):
                yield from (record.id for _, record in self._missing(page, scan))

    def _missing(self, page: Iterable[PlannedChange], scan: SourceScan) -> Iterator[tuple[PlannedChange, FileRecord]]:
        """Lines of files that the scan did not find, and that did not move elsewhere, with their records."""
        lines = {line.file_id: line for line in page if line.source_id == scan.source.id and line.file_id is not None}
        with self.catalog.reading() as snapshot:
            records = snapshot.files(lines.keys())
        for id, record in records.items():
            if record.path_bytes == lines[id].path_bytes:
                yield lines[id], record

    def _look_again(self, scan: SourceScan) -> int:
        """Take files out of the plan that seemed to be gone and are there.

        Their folder was away for the moment of the scan, or what read them is: a plugin that was uninstalled, blocked
        or broken must not cost what it gave.
        What is there but left out, by a rule that was added, stays in the plan: a person wants it forgotten. Returns
        how many files that are.
        """
        left_out = 0
        left: Counter[str] = Counter()
        tallied: Counter[str] = Counter()

        def there(page: tuple[PlannedChange, ...]) -> Iterator[PlannedChange]:
            self.attention.heed()
            missing = {
                record.path_bytes: (line, record)
                for line, record in self._missing(page, scan)
                if self.tree.stat(record.path_bytes) is not None
            }
            nonlocal left_out
            left_out += len(missing)
            for path in self.tree.included(scan.source, sorted(missing)):
                line, record = missing[path]
                if self._is_left(record):
                    left[_reader(record)] += 1
                    tallied[record.status.counted_unchanged] += 1
                elif self.formats.reader(extension_of(name_of(path)), code=scan.source.code) is None:
                    continue
                left_out -= 1
                yield line

        self.plan.thin(GONE, there)
        self.log.count(**tallied, total=tallied.total())
        for name, number in sorted(left.items()):
            self.log.notice(
                f"{counted(number, 'file')} of {scan.source.path} {'was' if number == 1 else 'were'} read by the "
                f"extractor “{name}”, which is missing, blocked or broken now: what is remembered of "
                f"{'it' if number == 1 else 'them'} stays as it is. `openmind plugins` shows what is installed."
            )
        return left_out

    def _is_left(self, record: FileRecord) -> bool:
        """Whether what read a file is not installed now, as far as plugins can be loaded."""
        return bool(record.extractor) and _reader(record) not in self.formats.installed

    def _is_still_there(self, scan: SourceScan) -> bool:
        """Whether the folder was not taken away since it was scanned, with files that then seem to be gone."""
        root = self.tree.root(scan.source)
        if root.present and root.device == scan.device:
            return True
        self.log.notice(f"{scan.source.path} went away meanwhile. What was remembered of it is kept.")
        return False

    def _forget(self, ids: list[FileId]) -> None:
        if ids:
            with self.catalog.writing() as session:
                # Nobody misses what was deleted, as it was or before: unlike replaced passages these need no grace.
                removed = session.forget(ids, at=0.0)
                owe_purge(session)
            self.log.count(removed=removed)
            ids.clear()


def _files(number: int, scan: SourceScan) -> str:
    """`1 file of /notes is`, `80 files of /notes are`."""
    return f"1 file of {scan.source.path} is" if number == 1 else f"{number:,} files of {scan.source.path} are"


def _reader(record: FileRecord) -> str:
    """Name of the extractor that read a file."""
    return record.extractor.partition("/")[0]
