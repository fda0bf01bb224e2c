"""Intake: what the plan names is settled or read, and committed batch by batch, what is cheap before what is not."""

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from itertools import groupby
from operator import attrgetter

import attrs
from attrs import Factory, define, field

from openmind.application.indexing.attention import Attention
from openmind.application.indexing.batch import OpenBatch
from openmind.application.indexing.discovery import SourceScan
from openmind.application.indexing.embedding import Embedding
from openmind.application.indexing.file_task import FileTask
from openmind.application.indexing.hostile_reading import HostileReading
from openmind.application.indexing.means import IndexMeans
from openmind.application.indexing.plan import ALL_BUT_GONE, Plan
from openmind.application.indexing.provider_trouble import ProviderTrouble
from openmind.application.indexing.run_log import RunLog
from openmind.application.indexing.tables import Targets
from openmind.application.indexing.triage import CHANGED_MEANWHILE, Triage
from openmind.application.recovering.sweeping import Sweeping
from openmind.domain.files import FileReason, FileRecord
from openmind.domain.paths import displayable
from openmind.domain.preparation import Preparation, PreparationFailure, PreparationRequest
from openmind.ports.preparer import Preparer

OCR_EFFORT = 2
"""Files of this effort and more are expected to need OCR."""


@define(kw_only=True)
class Intake:
    """Takes in the files of one run. Serves one thread."""

    means: IndexMeans
    targets: Targets
    plan: Plan
    scans: Collection[SourceScan]
    log: RunLog
    attention: Attention
    embedding: Embedding
    sweeping: Sweeping
    trouble: ProviderTrouble
    retry: bool
    """Whether files that failed for want of time or memory are read again."""
    _batch: OpenBatch = field(default=Factory(lambda self: self._new_batch(), takes_self=True), init=False)
    _hostile: HostileReading = field(default=Factory(lambda self: self._new_reading(), takes_self=True), init=False)
    _triage: Triage = field(default=Factory(lambda self: self._new_triage(), takes_self=True), init=False)
    _preparer: Preparer | None = field(default=None, init=False)
    _tasks: dict[int, FileTask] = field(factory=dict, init=False)
    """What is being prepared, by ticket."""
    _seen: int = field(default=0, init=False)
    """Position of the last line of the plan that was looked at."""
    _again: list[FileTask] = field(factory=list, init=False)
    """Files that have to be read after all, since what they waited for came to nothing."""

    def take_in(self) -> int:
        """Settle, read and commit everything; returns how many rows were written."""
        in_process = next((target for target in self.targets.all if target.in_process), None)
        table_id = in_process.table.id if in_process else 0
        waiting = sum(scan.planned for scan in self.scans)
        self._preparer = self.means.preparer(waiting, in_process is not None)
        self.attention.under_way = self
        try:
            for requests in self._in_order_of_effort():
                for outcome in self._preparer.prepare(requests, while_waiting=self._wait):
                    self._receive(outcome, table_id)
            self.commit()
            self.attention.keep_pause()
        finally:
            self.attention.under_way = None
            self._preparer.close()
            self._triage.close()
            self._hostile.close()
        return self._batch.added_rows

    def commit(self) -> None:
        """Make what is open visible."""
        self.log.waits_for("")  # however long it takes, no file is being read
        self.sweeping.sweep_if_crowded()
        self._triage.close()  # a server may take long to embed
        self._batch.commit()
        self._triage.committed()
        self.log.beat()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Let no helper go on until the context ends."""
        with ExitStack() as still:
            if self._preparer is not None:
                still.enter_context(self._preparer.standing_still())
            still.enter_context(self._hostile.standing_still())
            yield

    def _in_order_of_effort(self) -> Iterator[Iterator[PreparationRequest]]:
        """Give the requests in groups of one kind, and see that what is cheap can be found before the rest begins."""
        effort = 0
        more = True
        while more:  # the last files that are put off may be so when the plan seems to be at its end
            more = False
            for (wanted, hostile), tasks in groupby(self._tasks_of_plan(), _kind):
                more = True
                if wanted != effort:
                    self.commit()
                    effort = wanted
                yield self._requests(tasks, hostile=hostile, defer_ocr=wanted < OCR_EFFORT)
        while self._again:
            waited, self._again = self._again, []
            for hostile, some in groupby(waited, attrgetter("is_hostile")):
                yield self._requests(some, hostile=hostile)

    def _tasks_of_plan(self) -> Iterator[FileTask]:
        """Settle the plan line by line; what has to be read comes out."""
        sources = {scan.source.id: scan.source for scan in self.scans}
        for change in self.plan.changes(ALL_BUT_GONE, after=self._seen):
            self._seen = change.position
            self.attention.heed()
            task = self._triage.task(change, sources[change.source_id])
            self._commit_if_due()
            if task is not None:
                if task.is_hostile:
                    self._triage.close()  # reading it may take minutes, and SQLite's log grows under an open snapshot
                yield task

    def _requests(
        self, tasks: Iterator[FileTask], *, hostile: bool, defer_ocr: bool = False
    ) -> Iterator[PreparationRequest]:
        for task in self._hostile.read(tasks, defer_ocr=defer_ocr) if hostile else tasks:
            self._tasks[task.ticket] = task
            yield PreparationRequest(
                ticket=task.ticket,
                path_bytes=task.path_bytes,
                extractor=task.info.name,
                packed=task.packed,
                data=task.data,
                size=task.stat.size if task.packed is None else len(task.packed),
            )

    def _wait(self) -> None:
        self.attention.heed()
        awaited = next(iter(self._tasks.values()), None)
        if awaited is not None:
            self.log.waits_for(displayable(awaited.path_bytes))

    def _receive(self, outcome: Preparation, table_id: int) -> None:
        self.attention.heed()
        task = self._tasks.pop(outcome.ticket)
        if not isinstance(outcome, PreparationFailure):
            if outcome.packed is not None:
                self.log.count(extracted=1)
            elif task.packed is not None:
                outcome = attrs.evolve(outcome, packed=task.packed)
            if outcome.vectors is not None:
                self.log.count(embedded=len(outcome.vectors))
        self._settle(task, outcome, table_id)

    def _unreadable(self, task: FileTask, reason: FileReason, message: str) -> None:
        self._settle(task, PreparationFailure(ticket=task.ticket, reason=reason, message=message), 0)

    def _settle(self, task: FileTask, outcome: Preparation, table_id: int) -> None:
        again = self._triage.prepared(task, outcome, table_id)
        if again is not None:
            self._again.append(again)
        self._commit_if_due()

    def _commit_if_due(self) -> None:
        if self._batch.due:
            self.commit()

    def _unstable(self, record: FileRecord) -> None:
        self._triage.unstable(record)
        self.log.notice(f"{displayable(record.path_bytes)} {CHANGED_MEANWHILE}")

    def _new_batch(self) -> OpenBatch:
        return OpenBatch(
            catalog=self.means.storage.catalog,
            chunks=self.means.storage.chunks,
            tree=self.means.tree,
            embedding=self.embedding,
            targets=self.targets,
            now=self.means.now,
            embedded=lambda count: self.log.count(embedded=count),
            unstable=self._unstable,
            lost_provider=self.trouble.lost_embedder,
            left_out=self.trouble.refused_passages,
            beside=self.attention.beside,
        )

    def _new_reading(self) -> HostileReading:
        return HostileReading(
            catalog=self.means.storage.catalog,
            tree=self.means.tree,
            reader=self.means.reader,
            describer=self.means.describer,
            max_new_tokens=self.means.max_new_tokens,
            log=self.log,
            attention=self.attention,
            failed=self._unreadable,
            put_off=lambda task: self.plan.put_off(self._triage.given_back(task)),
            lost_describer=self.trouble.lost_describer,
        )

    def _new_triage(self) -> Triage:
        return Triage(
            catalog=self.means.storage.catalog,
            tree=self.means.tree,
            formats=self.means.formats,
            batch=self._batch,
            log=self.log,
            run_id=self.plan.run_id,
            max_bytes=self.means.max_file_bytes,
            some_are_gone=any(scan.gone for scan in self.scans),
            may_describe=lambda: self._hostile.may_describe,
            retry=self.retry,
        )


def _kind(task: FileTask) -> tuple[int, bool]:
    """What goes the same way, in the order in which it goes."""
    return task.change.effort, task.is_hostile
