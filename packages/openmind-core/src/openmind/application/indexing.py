"""Indexing: one pass over the sources, from what changed to what can be found."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from datetime import datetime
from itertools import groupby
from typing import TypeVar

import attrs
from attrs import Factory, define, field, frozen

from openmind.application.batch import OpenBatch
from openmind.application.describing import Describing, unreadable
from openmind.application.discovery import Discovery, SourceScan, waiting_key
from openmind.application.embedding import Embedding
from openmind.application.formats import Formats
from openmind.application.patience import patiently
from openmind.application.rebuilding import Rebuild
from openmind.application.recovery import GRACE_S, Recovery
from openmind.application.run_log import RunLog
from openmind.application.tables import LAYOUT, TableChoice, Targets
from openmind.application.triage import CHANGED_MEANWHILE, Task, Triage
from openmind.application.vectors_later import VectorsLater
from openmind.domain import packing
from openmind.domain.analysis import ANALYSER_VERSION
from openmind.domain.changes import ChangeKind, deletions_need_consent
from openmind.domain.chunking import CHUNKING_VERSION
from openmind.domain.control import RunControl, Uninterrupted, Wish
from openmind.domain.documents import ExtractedDocument
from openmind.domain.errors import NoSources, OpenMindError, ProviderError, ProviderUnreachable, StoreDamaged
from openmind.domain.events import EventSink, ignore
from openmind.domain.files import FileRecord
from openmind.domain.ids import FileId, JobId, SourceId, new_run_id
from openmind.domain.index import TableState
from openmind.domain.jobs import RUN_DIED, IndexReport, IndexRun, JobState, ProcessMark
from openmind.domain.journal import SILENCE, Journal
from openmind.domain.paths import displayable
from openmind.domain.pictures import MODEL
from openmind.domain.preparation import Preparation, PreparationFailure, PreparationRequest
from openmind.domain.recognition import KEPT_AS, PageNews, PageText, as_document, of_document
from openmind.domain.sources import Source
from openmind.ports.catalog import PlannedChange
from openmind.ports.file_tree import FileTree
from openmind.ports.image_describer import ImageDescriber
from openmind.ports.isolated_reader import IsolatedReader, ReadOutcome, ReadRequest
from openmind.ports.preparer import Preparer
from openmind.ports.storage import Storage

PLAN_PAGE = 1_000
"""Lines of the plan that are in memory at once."""
OCR_EFFORT = 2
"""Files of this effort and more are expected to need OCR."""
LATEST_RUNS = 20
"""Runs that may not have been told how they ended."""
ALL_BUT_GONE = tuple(kind for kind in ChangeKind if kind is not ChangeKind.GONE)


T = TypeVar("T")


class _Stopped(Exception):
    """The run was asked to stop."""


class _Interrupted(Exception):
    """Something is wanted before the answer is there."""


@frozen(kw_only=True)
class IndexService:
    """Turns what changed in the sources into memory."""

    storage: Storage
    tree: FileTree
    formats: Formats
    choice: Callable[[], TableChoice]
    """Made when a run begins, so that it uses the configuration of that moment."""
    preparer: Callable[[int, bool], Preparer]
    """Makes where files are prepared: (how many files wait, whether vectors of the in-process embedder are wanted)."""
    reader: Callable[[], IsolatedReader]
    """Makes where hostile files are read."""
    process: Callable[[], ProcessMark]
    now: Callable[[], datetime]
    max_file_bytes: int
    journal: Journal = SILENCE
    describer: Callable[[], ImageDescriber | None] = lambda: None
    """Gives the model that describes pictures, or None when none does."""
    max_new_tokens: int = 220
    """About how long a description may become."""

    def run(
        self,
        *,
        progress: EventSink = ignore,
        control: RunControl | None = None,
        accept_deletions: bool = False,
        job_id: JobId | None = None,
    ) -> IndexReport:
        """Bring memory up to date with the sources.

        Args:
            progress: hears how far the run is.
            control: asked between files whether to pause or stop.
            accept_deletions: whether files that vanished in numbers may be forgotten.
            job_id: the background job that this run belongs to.

        Raises:
            NoSources: there is nothing to index.
            IndexingBusy: another process is indexing.
            StoreError: the memory cannot be written; what was committed before stays.
        """
        with self.storage.catalog.reading() as snapshot:
            empty = not snapshot.sources(enabled_only=True)
        if empty:
            self._sweep_the_last()
            raise NoSources("There is no folder to index yet", hint="Add one: openmind source add FOLDER")
        with self.storage.index_lock():
            log = self._begin(progress, job_id)
            pass_ = _Pass(service=self, log=log, control=control or Uninterrupted(), accept=accept_deletions)
            try:
                error = pass_.carry_out()
            except _Stopped:
                pass_.leave_in_order()
                return self._noted(log.finish(JobState.STOPPED))
            except KeyboardInterrupt:
                pass_.give_up()
                log.finish(JobState.STOPPED, error="It was interrupted.")
                raise
            except OpenMindError as failure:
                pass_.give_up()
                self._note_failure(log, failure.message)
                raise
            except BaseException:
                pass_.give_up()
                self._note_failure(log, "It broke down in an unforeseen way.")
                raise
            return self._noted(log.finish(JobState.COMPLETED, error=error))

    def _sweep_the_last(self) -> None:
        """Take off the disk what the sources left that were removed last."""
        with self.storage.index_lock():
            recovery = Recovery(catalog=self.storage.catalog, chunks=self.storage.chunks)
            recovery.recover()
            recovery.sweep(grace_s=0.0)
            recovery.clean()
            recovery.seal()

    def _begin(self, progress: EventSink, job_id: JobId | None) -> RunLog:
        run = IndexRun(
            id=new_run_id(),
            started_at=self.now().isoformat(),
            state=JobState.DISCOVERING,
            process=self.process(),
            job_id=job_id,
        )
        self._end_dead_runs(at=run.started_at)
        self.journal.note("index.began", run=run.id, job=job_id)
        log = RunLog(catalog=self.storage.catalog, run=run, sink=progress, now=self.now)
        log.save()
        return log

    def _end_dead_runs(self, *, at: str) -> None:
        """Whoever holds the index lock is the only one that indexes: other runs that seem to go on do not."""
        with self.storage.catalog.writing() as session:
            for run in session.runs(limit=LATEST_RUNS):
                if not run.state.finished:
                    session.save_run(
                        attrs.evolve(run, state=JobState.FAILED, finished_at=at, error=RUN_DIED, current_file="")
                    )

    def _note_failure(self, log: RunLog, reason: str) -> None:
        """Write down why the run failed, if the catalog can still be written; nobody listens any more."""
        log.sink = ignore
        with suppress(OpenMindError):  # the failure itself says that nothing can be written
            self._noted(log.finish(JobState.FAILED, error=reason))

    def _noted(self, report: IndexReport) -> IndexReport:
        run, tally = report.run, report.run.tally
        self.journal.note(
            "index.ended",
            run=run.id,
            job=run.job_id,
            state=run.state.value,
            seconds=_seconds(run),
            files=tally.total,
            indexed=tally.indexed,
            already_indexed=tally.already_indexed,
            skipped=tally.skipped,
            failed=tally.failed,
            moved=tally.moved,
            removed=tally.removed,
            passages=tally.chunks,
            embedded=tally.embedded,
            troubled=bool(run.error),
        )
        return report


@define(kw_only=True)
class _Pass:
    """The work of one run, while it is under way. Serves one thread."""

    service: IndexService
    log: RunLog
    control: RunControl
    accept: bool
    _seen_again: set[bytes] = field(factory=set)
    scans: dict[SourceId, SourceScan] = field(factory=dict)
    provider_error: str = ""
    _batch: OpenBatch | None = None
    _triage: Triage | None = None
    _preparer: Preparer | None = None
    _reader: IsolatedReader | None = None
    _describing: Describing = field(default=Factory(lambda self: self._new_describing(), takes_self=True), init=False)
    _tasks: dict[int, Task] = field(factory=dict)
    _deferred: list[Task] = field(factory=list)
    """Files that need OCR: they wait until everything else was read."""
    _again: list[Task] = field(factory=list)
    """Files that have to be read after all, since what they waited for came to nothing."""

    @property
    def storage(self) -> Storage:
        return self.service.storage

    @property
    def _recovery(self) -> Recovery:
        return Recovery(catalog=self.storage.catalog, chunks=self.storage.chunks)

    def carry_out(self) -> str:
        """Do everything; returns what a provider could not do."""
        self.log.beat(force=True)
        recovery = self._recovery
        for sentence in recovery.recover():
            self.log.notice(sentence)
        recovery.sweep()
        self._bring_back()
        self._discover()
        added = 0
        if self._work_waits():
            targets = self._targets()
            added = self._index(targets)
            self._later(targets)
            self._note_layout(targets)
        self._delete()
        self._tidy(recovery, added)
        return self.provider_error

    def give_up(self) -> None:
        """Leave nothing behind that the next run would have to be told about."""
        with suppress(OpenMindError), self.storage.catalog.writing() as session:
            session.drop_plan(self.log.run.id)

    def leave_in_order(self) -> None:
        """End after everything open was committed: the next run need not compare the stores."""
        self.give_up()
        recovery = self._recovery
        if recovery.sweep():
            recovery.clean()
        if self._lost_a_source():  # no later run may ever come
            with self.storage.catalog.writing() as session:
                session.drop_unused_texts()
        recovery.seal()

    def _bring_back(self) -> None:
        """Make lost passages again from the kept text: that needs no file, and so no source that is at hand."""
        with self.storage.catalog.reading() as snapshot:
            if not snapshot.files_without_passages(after=None, limit=1):
                return
        rebuild = Rebuild(
            storage=self.storage,
            preparer=self.service.preparer,
            now=self.service.now,
            while_waiting=self._heed,
            enough=self._is_wanted_elsewhere,
            embedded=lambda count: self.log.count(embedded=count),
            lost_provider=self._lost_provider,
        )
        rebuild.carry_out(self._targets())

    # discovery

    def _discover(self) -> None:
        with self.storage.catalog.writing() as session:
            session.drop_plan()
        with self.storage.catalog.reading() as snapshot:
            sources = snapshot.sources(enabled_only=True)
        discovery = Discovery(
            catalog=self.storage.catalog,
            tree=self.service.tree,
            formats=self.service.formats,
            layout=LAYOUT,
            max_bytes=self.service.max_file_bytes,
        )
        for source in sources:
            scan = discovery.scan(source, self.log.run.id, tick=self._tick)
            self.scans[source.id] = scan
            for sentence in scan.notices:
                self.log.notice(sentence)
            self.log.count(
                already_indexed=scan.unchanged_indexed,
                skipped=scan.unchanged_skipped,
                failed=scan.unchanged_failed,
                total=scan.unchanged_indexed + scan.unchanged_skipped + scan.unchanged_failed + scan.planned,
            )
            self._remember_device(source, scan)
        self.log.state(JobState.RUNNING)

    def _tick(self, scan: SourceScan) -> None:
        self.log.at(scan.source.path)
        self._heed()

    def _remember_device(self, source: Source, scan: SourceScan) -> None:
        # Numbers of devices change with a reboot; with every file in its place it is the same disk.
        settled = scan.present and scan.found and scan.device is not None
        if settled and source.device != scan.device and (source.device is None or not scan.gone):
            with self.storage.catalog.writing() as session:
                session.update_source(attrs.evolve(source, device=scan.device))

    def _work_waits(self) -> bool:
        """Whether anything has to be read, embedded or moved to another table."""
        if any(scan.planned for scan in self.scans.values()):
            return True
        with self.storage.catalog.reading() as snapshot:
            live = snapshot.live_table()
            missing = snapshot.counts().missing_vectors
            filling = any(table.state is TableState.FILLING for table in snapshot.tables())
        if live is None:
            return False
        embedders = self.service.choice().embedders
        if missing or filling or not embedders.is_chosen(live.identity.embedder):
            return True
        chosen = embedders.chosen()
        return chosen.in_process and chosen.identity != live.identity.embedder  # it came in another version

    # reading

    def _targets(self) -> Targets:
        choice = self.service.choice()
        targets = choice.targets(self._patiently(choice.outlook))
        for sentence in targets.notices:
            self.provider_error = self.provider_error or sentence
            self.log.notice(sentence)
        return targets

    def _index(self, targets: Targets) -> int:
        batch = self._batch = OpenBatch(
            catalog=self.storage.catalog,
            chunks=self.storage.chunks,
            tree=self.service.tree,
            embedding=self._embedding(),
            targets=targets,
            now=self.service.now,
            embedded=lambda count: self.log.count(embedded=count),
            unstable=self._unstable,
            lost_provider=self._lost_provider,
        )
        self._triage = Triage(
            catalog=self.storage.catalog,
            tree=self.service.tree,
            formats=self.service.formats,
            batch=batch,
            log=self.log,
            run_id=self.log.run.id,
            layout=LAYOUT,
            max_bytes=self.service.max_file_bytes,
            may_describe=lambda: not self._describing.is_lost,
        )
        waiting = sum(scan.planned for scan in self.scans.values())
        in_process = next((target for target in targets.all if target.in_process), None)
        preparer = self._preparer = self.service.preparer(waiting, in_process is not None)
        table_id = in_process.table.id if in_process else 0
        try:
            for tasks in self._in_order_of_effort():
                for outcome in preparer.prepare(tasks, while_waiting=self._heed):
                    self._take_in(outcome, table_id)
            self._commit()
        finally:
            preparer.close()
            self._triage.close()
            if self._reader is not None:
                self._reader.close()
            self._preparer = self._reader = None
        return batch.added_rows

    def _in_order_of_effort(self) -> Iterator[Iterator[PreparationRequest]]:
        """Give the requests in groups of one kind, and see that what is cheap can be found before the rest begins."""
        effort = 0
        for (wanted, hostile), tasks in groupby(self._tasks_of_plan(), _kind):
            if wanted != effort:
                self._commit()
                effort = wanted
            yield self._requests(tasks, hostile=hostile, defer_ocr=wanted < OCR_EFFORT)
        if self._deferred:
            self._commit()
            yield self._read(iter(self._deferred), defer_ocr=False)
        while self._again:
            waited, self._again = self._again, []
            self._tasks.update({task.ticket: task for task in waited})
            for hostile, some in groupby(waited, _is_hostile):
                yield self._requests(some, hostile=hostile, defer_ocr=False)

    def _tasks_of_plan(self) -> Iterator[Task]:
        """Settle the plan line by line; what has to be read comes out."""
        assert self._triage is not None
        sources = {source_id: scan.source for source_id, scan in self.scans.items()}
        for change in self._changes(ALL_BUT_GONE):
            self._heed()
            task = self._triage.task(change, sources[change.source_id])
            self._commit_if_due()
            if task is not None:
                self._tasks[task.ticket] = task
                yield task

    def _requests(self, tasks: Iterator[Task], *, hostile: bool, defer_ocr: bool) -> Iterator[PreparationRequest]:
        return self._read(tasks, defer_ocr=defer_ocr) if hostile else map(_request, tasks)

    def _read(self, tasks: Iterator[Task], *, defer_ocr: bool) -> Iterator[PreparationRequest]:
        """Read hostile files elsewhere; what cannot be read is settled here, what needs OCR comes last."""
        if self._reader is None:
            self._reader = self.service.reader()
        requests = (self._read_request(task, defer_ocr=defer_ocr) for task in tasks)
        for outcome in self._reader.read(requests, while_waiting=self._wait, recognised=self._recognised):
            self._heed()
            if outcome.deferred:
                self._deferred.append(self._tasks[outcome.ticket])
                continue
            task = self._tasks[outcome.ticket]
            document = self._document(task, outcome)
            if document is None:
                failure = PreparationFailure(ticket=outcome.ticket, reason=outcome.reason, message=outcome.message)
                self._take_in(failure, 0)
                continue
            packed = packing.pack(document)
            self._tasks[outcome.ticket] = attrs.evolve(task, packed=packed)
            if MODEL in document.facts.metadata:
                self._keep(task, packed)
            yield PreparationRequest(
                ticket=task.ticket, path_bytes=task.change.path_bytes, packed=packed, size=len(packed)
            )

    def _read_request(self, task: Task, *, defer_ocr: bool) -> ReadRequest:
        ocr = task.ocr and task.former is None
        return ReadRequest(
            ticket=task.ticket,
            path_bytes=task.change.path_bytes,
            extractor=task.info.name,
            size=task.stat.size,
            ocr=ocr,
            defer_ocr=defer_ocr,
            recognised=() if defer_ocr or not ocr else self._recognised_before(task),
        )

    def _recognised_before(self, task: Task) -> tuple[PageText, ...]:
        """Find what was recognised of this content before a run ended, or in the file before it was changed."""
        with self.storage.catalog.reading() as snapshot:
            kept = snapshot.recognised(task.known.content_hash) if task.known else {}
            kept |= snapshot.recognised(task.content_hash)
        pages = []
        for name, packed in kept.items():
            with suppress(StoreDamaged):  # it is recognised again
                pages.append(of_document(name.removeprefix(KEPT_AS), packing.unpack(packed)))
        return tuple(pages)

    def _recognised(self, ticket: int, news: PageNews) -> None:
        """Keep a page at once: it took seconds, and its document may take hours."""
        task = self._tasks[ticket]
        with self.storage.catalog.writing() as session:
            session.keep_text(task.content_hash, KEPT_AS + news.read.name, packing.pack(as_document(news.read)))
        self.log.at(f"{displayable(task.change.path_bytes)}, {news.place}")
        self.log.beat(force=True)

    def _wait(self) -> None:
        self._heed()
        self.log.beat()

    def _document(self, task: Task, outcome: ReadOutcome) -> ExtractedDocument | None:
        """Give a document its description, where it is to have one; None when nothing was read."""
        if task.former is None:
            if outcome.document is None:
                return None
            self.log.count(extracted=1)
            document = outcome.document
        else:
            document = packing.unpack(task.former)  # with the text that is on the picture, which was not read again
            if outcome.document is None:
                return unreadable(document, outcome.message)
        if not task.info.described_by:
            return document
        self.log.at(displayable(task.change.path_bytes))
        return self._describing.complete(document, outcome.picture)

    def _keep(self, task: Task, packed: bytes) -> None:
        """Keep a description at once: it may have taken a minute, and the commit may be another one away."""
        if self.service.tree.stat(task.change.path_bytes) == task.stat:
            with self.storage.catalog.writing() as session:
                session.keep_text(task.content_hash, task.info.key, packed)

    def _new_describing(self) -> Describing:
        return Describing(
            describer=self.service.describer,
            max_new_tokens=self.service.max_new_tokens,
            wait=self._patiently,
            lost=self._lost_describer,
        )

    def _lost_describer(self, error: OpenMindError) -> None:
        told = "Pictures are found by what is written on them; descriptions follow with the next index run."
        if isinstance(error, ProviderUnreachable):  # it may be back soon: a job waits for that
            self.provider_error = self.provider_error or error.message
        self.log.notice(f"{error.message}. {told}")

    def _take_in(self, outcome: Preparation, table_id: int) -> None:
        assert self._triage is not None
        self._heed()
        task = self._tasks.pop(outcome.ticket)
        if not isinstance(outcome, PreparationFailure):
            if outcome.packed is not None:
                self.log.count(extracted=1)
            elif task.packed is not None:
                outcome = attrs.evolve(outcome, packed=task.packed)
            if outcome.vectors is not None:
                self.log.count(embedded=len(outcome.vectors))
        again = self._triage.prepared(task, outcome, table_id)
        if again is not None:
            self._again.append(again)
        self._commit_if_due()

    def _commit_if_due(self) -> None:
        if self._batch is not None and self._batch.due:
            self._commit()

    def _commit(self) -> None:
        if self._batch is not None and self._triage is not None:
            self._recovery.sweep_if_crowded()
            self._batch.commit()
            self._triage.committed()
            self.log.beat()

    def _unstable(self, record: FileRecord) -> None:
        if self._triage is not None:
            self._triage.unstable(record)
        self.log.notice(f"{displayable(record.path_bytes)} {CHANGED_MEANWHILE}")

    def _lost_provider(self, error: ProviderError) -> None:
        told = "What was read is found by its words; vectors follow with the next index run."
        self.provider_error = self.provider_error or error.message
        self.log.notice(f"{error.message.rstrip('.')}. {told}")

    # vectors of what is stored already

    def _later(self, targets: Targets) -> None:
        later = VectorsLater(
            catalog=self.storage.catalog,
            chunks=self.storage.chunks,
            embedding=self._embedding(),
            embedded=lambda count: self.log.count(embedded=count),
            carry_on=self._carries_on,
        )
        if targets.filling is not None:
            error = later.fill(targets.live, targets.filling)
        else:
            error = later.complete(targets.live)
        if error is not None:
            self._lost_provider(error)

    def _note_layout(self, targets: Targets) -> None:
        """Note that the live table is made as it would be made today: no file is left as it was before."""
        live = targets.live.table
        today = attrs.evolve(live.identity, chunking=CHUNKING_VERSION, analyser=ANALYSER_VERSION)
        if live.identity != today:
            with self.storage.catalog.writing() as session:
                session.set_identity(live.id, today)

    # deletions

    def _delete(self) -> None:
        for source_id, scan in self.scans.items():
            self._delete_in(source_id, scan)

    def _delete_in(self, source_id: SourceId, scan: SourceScan) -> None:
        if not scan.present or not self._is_still_there(scan):
            return
        self._seen_again = self._look_again(scan) if scan.gone else set()
        gone = sum(1 for _ in self._gone(source_id)) if scan.gone else 0
        refused = not self.accept and deletions_need_consent(
            gone=gone, known=scan.known, found=scan.found, device_changed=scan.device_changed
        )
        with self.storage.catalog.writing() as session:
            session.set_setting(waiting_key(source_id), str(gone) if refused else None)
        if refused:
            self.log.count(waiting_deletions=gone)
            self.log.notice(
                f"{gone} files of {scan.source.path} are gone. What was remembered of them is kept; "
                "if they were really deleted, confirm with: openmind index --accept-deletions"
            )
            return
        ids: list[FileId] = []
        for file_id in self._gone(source_id):
            ids.append(file_id)
            if len(ids) == PLAN_PAGE:
                self._forget(ids)
                self._heed()
        self._forget(ids)
        if self.accept and scan.device_changed:
            with self.storage.catalog.writing() as session:
                session.update_source(attrs.evolve(scan.source, device=scan.device))

    def _gone(self, source_id: SourceId) -> Iterator[FileId]:
        """Files that are gone, or left out now, and did not move elsewhere."""
        for page in self._pages((ChangeKind.GONE,)):
            lines = {line.file_id: line for line in page if line.source_id == source_id and line.file_id is not None}
            with self.storage.catalog.reading() as snapshot:
                records = snapshot.files(lines.keys())
            for file_id, record in records.items():
                path = record.path_bytes
                if path == lines[file_id].path_bytes and path not in self._seen_again:
                    yield file_id

    def _look_again(self, scan: SourceScan) -> set[bytes]:
        """Find files that seemed to be gone and are there: their folder was away for the moment of the scan.

        What is there but left out, by a rule that was added, does not count: a person wants it forgotten.
        """
        there = {
            line.path_bytes
            for line in self._changes((ChangeKind.GONE,))
            if line.source_id == scan.source.id and self.service.tree.stat(line.path_bytes) is not None
        }
        if not there:
            return set()
        code = scan.source.code
        found = self.service.tree.scan(
            scan.source, lambda extension: self.service.formats.reader(extension, code=code) is not None
        )
        return there & {each.path_bytes for each in found if each.path_bytes in there}

    def _is_still_there(self, scan: SourceScan) -> bool:
        """Whether the folder was not taken away since it was scanned, with files that then seem to be gone."""
        root = self.service.tree.root(scan.source)
        if root.present and root.device == scan.device:
            return True
        self.log.notice(f"{scan.source.path} went away meanwhile. What was remembered of it is kept.")
        return False

    def _forget(self, ids: list[FileId]) -> None:
        if ids:
            with self.storage.catalog.writing() as session:
                # Nobody misses what was deleted: unlike replaced passages these need no grace.
                self.log.count(removed=session.forget(ids, at=0.0))
            ids.clear()

    # the end

    def _tidy(self, recovery: Recovery, added: int) -> None:
        # A source that was removed meanwhile is to leave no trace, and no later run may ever come.
        swept = recovery.sweep(grace_s=0.0 if self._lost_a_source() else GRACE_S)
        recovery.drop_dead()
        if added:
            with self.storage.catalog.reading() as snapshot:
                tables = snapshot.tables()
            for table in tables:
                self.storage.chunks.merge(table.name)
        recovery.clean(touched=bool(added or swept))
        self.storage.chunks.discard_quarantined()
        with self.storage.catalog.writing() as session:
            session.drop_plan(self.log.run.id)
            session.drop_unused_texts()
            whole = not session.counts().missing_vectors
            if whole and not any(table.state is TableState.FILLING for table in session.tables()):
                session.drop_journal()  # of work that was never published
        recovery.seal()

    def _lost_a_source(self) -> bool:
        with self.storage.catalog.reading() as snapshot:
            return not self.scans.keys() <= {source.id for source in snapshot.sources(enabled_only=True)}

    # control

    def _embedding(self) -> Embedding:
        return Embedding(catalog=self.storage.catalog, enough=self._is_wanted_elsewhere)

    def _is_wanted_elsewhere(self) -> bool:
        return self.control.wish() is not Wish.GO

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Ask what may hang: a wish to pause or stop is heard meanwhile, and the question put again."""
        while True:
            try:
                return patiently(ask, while_waiting=self._interrupt)
            except _Interrupted:
                self._heed()

    def _interrupt(self) -> None:
        if self._is_wanted_elsewhere():
            raise _Interrupted
        self.log.beat()

    def _changes(self, kinds: tuple[ChangeKind, ...]) -> Iterator[PlannedChange]:
        for page in self._pages(kinds):
            yield from page

    def _pages(self, kinds: tuple[ChangeKind, ...]) -> Iterator[tuple[PlannedChange, ...]]:
        after = 0
        while True:
            with self.storage.catalog.reading() as snapshot:
                page = snapshot.next_changes(self.log.run.id, after=after, limit=PLAN_PAGE, kinds=kinds)
            if not page:
                return
            yield page
            after = page[-1].position

    def _heed(self) -> None:
        wish = self.control.wish()
        if wish is Wish.GO:
            return
        self._commit()
        if wish is Wish.PAUSE:
            self._rest()
            wish = self.control.wish()
        if wish is Wish.STOP:
            raise _Stopped

    def _rest(self) -> None:
        before = self.log.run.state
        self.log.state(JobState.PAUSED)
        with ExitStack() as still:
            for helper in (self._preparer, self._reader):
                if helper is not None:
                    still.enter_context(helper.standing_still())
            self.control.rest()
        self.log.state(before)

    def _carries_on(self) -> bool:
        self._heed()
        self.log.beat()
        return True


def _seconds(run: IndexRun) -> float:
    return (datetime.fromisoformat(run.finished_at) - datetime.fromisoformat(run.started_at)).total_seconds()


def _is_hostile(task: Task) -> bool:
    """Whether the file has to be read where it may crash; text that is kept already is harmless."""
    return task.info.isolated and task.packed is None


def _request(task: Task) -> PreparationRequest:
    return PreparationRequest(
        ticket=task.ticket,
        path_bytes=task.change.path_bytes,
        extractor=task.info.name,
        packed=task.packed,
        size=task.stat.size,
    )


def _kind(task: Task) -> tuple[int, bool]:
    """What goes the same way, in the order in which it goes."""
    return task.change.effort, _is_hostile(task)
