"""Forgetting: files that are gone leave memory, unless it looks as if they were only out of sight."""

from collections.abc import Iterator

from attrs import frozen

from openmind.application.attention import Attention
from openmind.application.discovery import SourceScan, note_device, waiting_key
from openmind.application.formats import Formats
from openmind.application.plan import PAGE, Plan
from openmind.application.run_log import RunLog
from openmind.domain.changes import ChangeKind, deletions_need_consent
from openmind.domain.ids import FileId
from openmind.ports.catalog import Catalog
from openmind.ports.file_tree import FileTree

GONE = (ChangeKind.GONE,)


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
        if self.accept and scan.device_changed:
            note_device(self.catalog, scan)

    def _ask_for_consent(self, scan: SourceScan, gone: int) -> None:
        self.log.count(waiting_deletions=gone)
        self.log.notice(
            f"{gone} files of {scan.source.path} are gone. What was remembered of them is kept; "
            "if they were really deleted, confirm with: openmind index --accept-deletions"
        )

    def _gone(self, scan: SourceScan, seen_again: set[bytes]) -> Iterator[FileId]:
        """Files that are gone, or left out now, and did not move elsewhere."""
        for page in self.plan.pages(GONE):
            lines = {
                line.file_id: line for line in page if line.source_id == scan.source.id and line.file_id is not None
            }
            with self.catalog.reading() as snapshot:
                records = snapshot.files(lines.keys())
            for file_id, record in records.items():
                path = record.path_bytes
                if path == lines[file_id].path_bytes and path not in seen_again:
                    yield file_id

    def _look_again(self, scan: SourceScan) -> set[bytes]:
        """Find files that seemed to be gone and are there: their folder was away for the moment of the scan.

        What is there but left out, by a rule that was added, does not count: a person wants it forgotten.
        """
        there = {
            line.path_bytes
            for line in self.plan.changes(GONE)
            if line.source_id == scan.source.id and self.tree.stat(line.path_bytes) is not None
        }
        if not there:
            return set()
        code = scan.source.code
        found = self.tree.scan(scan.source, lambda extension: self.formats.reader(extension, code=code) is not None)
        return there & {each.path_bytes for each in found if each.path_bytes in there}

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
                self.log.count(removed=session.forget(ids, at=0.0))
            ids.clear()
