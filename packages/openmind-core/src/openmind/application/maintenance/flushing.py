"""Flushing: memory is emptied, and everything else stays. Plan, show, do."""

import time
from collections.abc import Callable, Set
from pathlib import Path

from attrs import frozen

from openmind.application.jobs.service import JobService
from openmind.application.maintenance.holding import hold
from openmind.domain.errors import StoreFull
from openmind.domain.index import is_own_name
from openmind.domain.upkeep import FlushPlan
from openmind.ports.home_keeping import HomeKeeping
from openmind.ports.storage import Storage

EVERYTHING = 1_000_000_000


@frozen(kw_only=True)
class FlushService:
    """Empties the memory. No file of a person is touched."""

    storage: Storage
    jobs: JobService
    keeper: HomeKeeping
    home: Path
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def plan(self, *, include_sources: bool = False) -> FlushPlan:
        """Say what a flush would delete.

        Args:
            include_sources: whether the records of the sources are to go, too.
        """
        job = self.jobs.current()
        with self.storage.catalog.reading() as snapshot:
            counts = snapshot.counts()
            return FlushPlan(
                home=str(self.home),
                sources=len(snapshot.sources()),
                include_sources=include_sources,
                files=counts.files,
                indexed_files=counts.indexed_files,
                chunks=counts.chunks,
                jobs=len(snapshot.jobs(limit=EVERYTHING)),
                runs=len(snapshot.runs(limit=EVERYTHING)),
                text_bytes=counts.text_bytes,
                disk_bytes=self.storage.size_bytes(),
                logs=self.keeper.logs(),
                active_job=job if job is not None and not job.state.finished else None,
            )

    def flush(self, plan: FlushPlan, *, wait_s: float = 10.0) -> bool:
        """Carry out a plan; an unfinished job is stopped first. Killed in between, it can be done again.

        Args:
            plan: only whether it includes the sources counts; what is there by now goes.
            wait_s: how long a job, or whoever else writes, is waited for.

        Returns:
            Whether nothing of it is left in the catalog's file; False while another program reads it.

        Raises:
            JobActive: the job did not stop in time; nothing was deleted.
            IndexingBusy: another process indexes in the foreground; nothing was deleted.
            StoreError: something could not be deleted.
        """
        deadline = self.clock() + wait_s
        self.jobs.halt(within_s=wait_s)
        with hold(self.storage, deadline=deadline, sleep=self.sleep, clock=self.clock):
            self.keeper.drop_leftovers()
            self.storage.chunks.discard_quarantined()
            with self.storage.catalog.reading() as snapshot:
                known = {table.name for table in snapshot.tables()}
            # The catalog first: what it does not know is not found any more, whatever happens to the rest.
            try:
                self._forget(plan)
            except StoreFull:  # forgetting needs room, too: the passages give theirs back
                self._drop_passages(known)
                self._forget(plan)
            self._drop_passages(known)
        self.keeper.clear_logs()
        return self.storage.catalog.tidy()

    def _forget(self, plan: FlushPlan) -> None:
        with self.storage.catalog.writing() as session:
            session.clear(sources=plan.include_sources)

    def _drop_passages(self, known: Set[str]) -> None:
        for table in self.storage.chunks.tables():
            if table in known or is_own_name(table):
                self.storage.chunks.drop(table)
