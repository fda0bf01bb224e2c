"""Indexing: a run over the sources, from what changed to what can be found."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

import attrs
from attrs import frozen

from openmind.application.indexing.attention import Attention, LeftBehind, Stopped
from openmind.application.indexing.index_pass import IndexPass
from openmind.application.indexing.means import IndexMeans
from openmind.application.indexing.run_log import RunLog, end_dead_runs
from openmind.application.recovering.recovery import Recovery
from openmind.application.recovering.suspicion import suspect
from openmind.application.recovering.sweeping import Sweeping
from openmind.domain.control import RunControl, Uninterrupted
from openmind.domain.errors import NoSources, OpenMindError, StoreDamaged
from openmind.domain.events import EventSink, ignore
from openmind.domain.ids import JobId, new_run_id
from openmind.domain.jobs import IndexReport, IndexRun, JobState, ProcessMark
from openmind.domain.journal import SILENCE, Journal
from openmind.domain.sources import require_readable
from openmind.ports.storage import Storage


@frozen(kw_only=True)
class IndexService:
    """Turns what changed in the sources into memory."""

    means: IndexMeans
    process: Callable[[], ProcessMark]
    journal: Journal = SILENCE

    @property
    def _storage(self) -> Storage:
        return self.means.storage

    def run(
        self,
        *,
        progress: EventSink = ignore,
        control: RunControl | None = None,
        accept_deletions: bool = False,
        retry: bool = False,
        job_id: JobId | None = None,
        leaving: Callable[[IndexReport], None] | None = None,
    ) -> IndexReport:
        """Bring memory up to date with the sources.

        Args:
            progress: hears how far the run is.
            control: asked between files whether to pause or stop.
            accept_deletions: whether files that vanished in numbers may be forgotten.
            retry: whether passages that the embedder refused, and files that took too long or whose reader crashed,
                are tried again though nothing about them has changed.
            job_id: the background job that this run belongs to.
            leaving: ends the process; called when it is to stop and the store is in the midst of something long. What
                that would have made visible is read again by the next run. Without it a stop waits for the store.

        Raises:
            NoSources: there is nothing to index.
            IndexingBusy: another process is indexing.
            StoreError: the memory cannot be written; what was committed before stays.
        """
        with self._storage.catalog.reading() as snapshot:
            sources = snapshot.sources()
        try:
            require_readable(sources)
        except NoSources:
            self._sweep_the_last()
            raise
        with self._storage.index_lock():
            log = self._begin(progress, job_id)
            attention = Attention(control=control or Uninterrupted(), log=log, may_leave=leaving is not None)
            pass_ = IndexPass(means=self.means, log=log, attention=attention, accept=accept_deletions, retry=retry)
            try:
                return self._noted(_ended(pass_, log))
            except LeftBehind as left:
                report = self._noted(log.finish(JobState.STOPPED))
                try:
                    if leaving is not None:
                        leaving(report)
                finally:
                    left.outlast()  # where the process goes on, nobody else may write before
                return report
            except KeyboardInterrupt:
                pass_.give_up()
                log.finish(JobState.STOPPED, error="It was interrupted.")
                raise
            except OpenMindError as failure:
                pass_.give_up()
                if isinstance(failure, StoreDamaged):
                    suspect(self._storage.catalog)
                self._note_failure(log, failure.message)
                raise
            except BaseException:
                pass_.give_up()
                self._note_failure(log, "It broke down in an unforeseen way.")
                raise

    def _sweep_the_last(self) -> None:
        """Take off the disk what the sources left that were removed last."""
        catalog, chunks = self._storage.catalog, self._storage.chunks
        with self._storage.index_lock():
            end_dead_runs(catalog)
            Recovery(catalog=catalog, chunks=chunks).recover()
            sweeping = Sweeping(catalog=catalog, chunks=chunks)
            sweeping.erase()
            sweeping.seal()

    def _begin(self, progress: EventSink, job_id: JobId | None) -> RunLog:
        run = IndexRun(
            id=new_run_id(),
            started_at=self.means.now().isoformat(),
            state=JobState.DISCOVERING,
            process=self.process(),
            job_id=job_id,
        )
        end_dead_runs(self._storage.catalog)
        self.journal.note("index.began", run=run.id, job=job_id)
        log = RunLog(catalog=self._storage.catalog, run=run, sink=progress, now=self.means.now)
        log.save()
        return log

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


def _ended(pass_: IndexPass, log: RunLog) -> IndexReport:
    """Carry out a pass until it is done, or asked to stop."""
    try:
        error = pass_.carry_out()
    except Stopped:
        pass_.leave_in_order()
        return log.finish(JobState.STOPPED)
    return attrs.evolve(log.finish(JobState.COMPLETED, error=error), needs_person=pass_.needs_person)


def _seconds(run: IndexRun) -> float:
    return (datetime.fromisoformat(run.finished_at) - datetime.fromisoformat(run.started_at)).total_seconds()
