"""Forgetting: files that are gone leave memory, unless it looks as if they were only out of sight."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

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
from openmind.ports.catalog import Catalog
from openmind.ports.file_tree import FileTree

GONE = (ChangeKind.GONE,)
MOST_SEEN_AGAIN = 100_000
"""Paths of files that seemed to be gone and are there: beyond these, 10 MB or so, nothing is forgotten in this run."""


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
        seen_again = self._look_again(scan) if scan.gone else set()
        if seen_again is None:
            self.log.notice(
                f"More than {MOST_SEEN_AGAIN:,} files of {scan.source.path} seemed to be gone and are there. "
                "What is remembered of the folder is kept."
            )
            return
        gone = sum(1 for _ in self._gone(scan, seen_again)) if scan.gone else 0
        refused = not self.accept and deletions_need_consent(
            gone=gone, known=scan.known, found=scan.found, device_changed=scan.device_changed
        )
        with self.catalog.writing() as session:
            session.set_setting(waiting_key(scan.source.id), str(gone) if refused else None)
        if refused:
            self._ask_for_consent(scan, gone)
            return
        ids: list[FileId] = []
        for file_id in self._gone(scan, seen_again):
            ids.append(file_id)
            if len(ids) == PAGE:
                self._forget(ids)
                self.attention.heed()
        self._forget(ids)
        if scan.device_changed and (self.accept or (scan.found and not gone)):
            note_device(self.catalog, scan)

    def _ask_for_consent(self, scan: SourceScan, gone: int) -> None:
        self.log.count(waiting_deletions=gone)
        self.log.notice(
            f"{gone} files of {scan.source.path} are gone. What was remembered of them is kept; "
            "if they were really deleted, confirm with: openmind index --accept-deletions"
        )

    def _gone(self, scan: SourceScan, seen_again: set[bytes]) -> Iterator[FileId]:
        """Files that are gone, or left out now, and did not move elsewhere."""
        return (record.id for record in self._missing(scan) if record.path_bytes not in seen_again)

    def _missing(self, scan: SourceScan) -> Iterator[FileRecord]:
        """Files that the scan did not find, and that did not move elsewhere."""
        for page in self.plan.pages(GONE):
            lines = {
                line.file_id: line for line in page if line.source_id == scan.source.id and line.file_id is not None
            }
            with self.catalog.reading() as snapshot:
                records = snapshot.files(lines.keys())
            yield from (record for id, record in records.items() if record.path_bytes == lines[id].path_bytes)

    def _look_again(self, scan: SourceScan) -> set[bytes] | None:
        """Find files that seemed to be gone and are there; None when they are too many to be looked at.

        Their folder was away for the moment of the scan, or what read them is: a plugin that was uninstalled, blocked
        or broken must not cost what it gave.
        What is there but left out, by a rule that was added, does not count: a person wants it forgotten.
        """
        present = (
            line.path_bytes
            for line in self.plan.changes(GONE)
            if line.source_id == scan.source.id and self.tree.stat(line.path_bytes) is not None
        )
        there = set(islice(present, MOST_SEEN_AGAIN + 1))
        if not there:
            return set()
        if len(there) > MOST_SEEN_AGAIN:
            return None
        code = scan.source.code
        left = {
            each.path_bytes: each for each in self._missing(scan) if each.path_bytes in there and self._is_left(each)
        }
        extensions = {extension_of(name_of(path)) for path in left}

        def is_read(extension: str) -> bool:
            return self.formats.reader(extension, code=code) is not None

        found = self.tree.scan(scan.source, lambda extension: extension in extensions or is_read(extension))
        again = there & {
            each.path_bytes
            for each in found
            if each.path_bytes in left or (each.path_bytes in there and is_read(extension_of(name_of(each.path_bytes))))
        }
        self._tell_of_left([left[path] for path in again if path in left], scan)
        return again

    def _is_left(self, record: FileRecord) -> bool:
        """Whether what read a file is not installed now, as far as plugins can be loaded."""
        return bool(record.extractor) and record.extractor.partition("/")[0] not in self.formats.installed

    def _tell_of_left(self, records: list[FileRecord], scan: SourceScan) -> None:
        for name, number in sorted(Counter(record.extractor.partition("/")[0] for record in records).items()):
            self.log.notice(
                f"{number} files of {scan.source.path} were read by the extractor “{name}”, which is missing or broken "
                "now: what is remembered of them stays as it is. `openmind plugins` shows what is installed."
            )
        unchanged = Counter(record.status.counted_unchanged for record in records)
        self.log.count(**unchanged, total=len(records))

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
                # Nobody misses what was deleted: unlike replaced passages these need no grace.
                removed = session.forget(ids, at=0.0)
                owe_purge(session)
            self.log.count(removed=removed)
            ids.clear()
