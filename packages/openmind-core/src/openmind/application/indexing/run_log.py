"""Keeps the record of a run: its row in the catalog, its heartbeat, what listeners are told."""

import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime

import attrs
from attrs import define, field

from openmind.domain.events import EventSink, Progress
from openmind.domain.files import FileReason, FileStatus
from openmind.domain.jobs import (
    MAX_REPORTED,
    RUN_DIED,
    FileFailure,
    IndexReport,
    IndexRun,
    IndexTally,
    JobState,
)
from openmind.domain.pace import Stretch
from openmind.domain.paths import displayable
from openmind.domain.recognition import PageNews
from openmind.domain.unread import most_frequent
from openmind.ports.catalog import Catalog

SAVE_EVERY_S = 1.0
"""A run's row is written at most this often: it is a heartbeat, not a log."""
TELL_EVERY_S = 0.1
PAGE = 200
LATEST_RUNS = 20
"""Runs that may not have been told how they ended."""
_FAILED = frozenset(reason for reason in FileReason if reason.status is FileStatus.FAILED)


@define(kw_only=True)
class RunLog:
    """Counts what a run does. Serves one thread."""

    catalog: Catalog
    run: IndexRun
    sink: EventSink
    now: Callable[[], datetime]
    clock: Callable[[], float] = time.monotonic
    failures: list[FileFailure] = field(factory=list)
    failures_total: int = 0
    notices: list[str] = field(factory=list)
    mended: list[str] = field(factory=list)
    """Those of the notices that leave nothing undone."""
    unread: Counter[str] = field(factory=Counter)
    """Files of kinds that nothing reads, by kind."""
    _current: str = field(default="", init=False)
    _news: PageNews | None = field(default=None, init=False)
    """The page that OCR is at, while it is at the current file."""
    _counts: Counter[str] = field(factory=Counter, init=False)
    _promised: Counter[str] = field(factory=Counter, init=False)
    _stretch: Stretch = field(factory=Stretch, init=False)
    _saved_at: float = field(default=float("-inf"), init=False)
    _told_at: float = field(default=float("-inf"), init=False)
    _done: object = field(default=None, init=False)
    """What was done when the row was last written."""

    @property
    def tally(self) -> IndexTally:
        return IndexTally(**self._counts)

    def count(self, **more: int) -> None:
        """Add to the tally."""
        for name, number in more.items():
            self._counts[name] += number

    def promise(self, **more: int) -> None:
        """Add to the tally what the next commit makes true: whoever looks is told of nothing that is not kept yet."""
        for name, number in more.items():
            self._promised[name] += number

    def settle(self) -> None:
        """Count what was promised: it is committed."""
        self._counts.update(self._promised)
        self._promised.clear()

    def fail(self, path: str, code: str, message: str) -> None:
        """Note a file that is not, or not wholly, searchable."""
        self.failures_total += 1
        if len(self.failures) < MAX_REPORTED:
            self.failures.append(FileFailure(path=path, code=code, message=message))

    def notice(self, sentence: str) -> None:
        """Note something the person should know; told at once and in the report."""
        if sentence not in self.notices:
            self.notices.append(sentence)
            self._tell(notice=sentence)

    def mend(self, sentence: str) -> None:
        """Notice something that was put right, or that only takes long."""
        self.mended.append(sentence)
        self.notice(sentence)

    def state(self, state: JobState) -> None:
        """Enter a state."""
        self._stretch.end()
        self.run = attrs.evolve(self.run, state=state)
        self.beat(force=True)

    def at(self, path: str) -> None:
        """Note the file that is being worked on."""
        self._enter(path)
        self.beat()

    def waits_for(self, path: str, news: PageNews | None = None) -> None:
        """Note the file whose text is waited for, and the page that OCR is at; empty where none is waited for.

        Another file is told at once: what reads it may leave no moment to tell it later. So is another page, since each
        takes seconds.
        """
        is_another = path != self._current
        is_elsewhere = news is not None and (path, news.page) != (self._current, self._news and self._news.page)
        self._current, self._news = path, news
        self.beat(force=is_elsewhere, tell=is_another)

    def _enter(self, path: str) -> None:
        self._current, self._news = path, None

    def beat(self, *, force: bool = False, tell: bool = False) -> None:
        """Save and tell, if it is time to; `tell` does not wait for it, `force` does neither."""
        at = self.clock()
        if force or at - self._saved_at >= SAVE_EVERY_S:
            self._saved_at = at
            self.save()
        if force or tell or at - self._told_at >= TELL_EVERY_S:
            self._told_at = at
            self._tell()

    def save(self) -> None:
        """Write the run's row."""
        page = self._news.place if self._news else ""
        current = f"{self._current}, {page}" if page else self._current
        at, done = self.now().isoformat(), (self.run.state, self.tally, page)
        if done != self._done:
            self._done = done
            self.run = attrs.evolve(self.run, progressed_at=at)
        self.run = attrs.evolve(
            self.run,
            heartbeat_at=at,
            tally=self.tally,
            current_file=current,
            per_second=self._per_second(),
        )
        with self.catalog.writing() as session:
            session.save_run(self.run)

    def finish(self, state: JobState, *, error: str = "") -> IndexReport:
        """End the run."""
        finished = self.now().isoformat()
        self._enter("")
        self.run = attrs.evolve(self.run, state=state, error=error, finished_at=finished)
        if state is JobState.COMPLETED:
            self._list_still_failed()
        self.beat(force=True)
        return IndexReport(
            run=self.run,
            failures=tuple(self.failures),
            failures_total=self.failures_total,
            notices=tuple(self.notices),
            mended=tuple(self.mended),
            unread_kinds=most_frequent(self.unread),
        )

    def _list_still_failed(self) -> None:
        """List also what failed in an earlier run and was not tried again: it is still not searchable."""
        listed = {failure.path for failure in self.failures}
        wanted = self.tally.failed - sum(failure.code in _FAILED for failure in self.failures)
        after = b""
        while wanted > 0 and len(self.failures) < MAX_REPORTED:
            with self.catalog.reading() as snapshot:
                page = snapshot.list_files(reasons=_FAILED, after=after, limit=PAGE)
            if not page:
                return
            after = page[-1].path_bytes
            for record in page:
                path = displayable(record.path_bytes)
                if path not in listed and wanted > 0:
                    wanted -= 1
                    self.fail(path, record.reason.value, record.error)

    def _per_second(self) -> float:
        return self._stretch.per_second(self.tally, self.clock()) if self.run.state is JobState.RUNNING else 0.0

    def _tell(self, notice: str = "") -> None:
        self.sink(
            Progress(
                state=self.run.state,
                tally=self.tally,
                current_file=self._current,
                recognising=self._news is not None,
                page=self._news.page if self._news else 0,
                pages=self._news.pages if self._news else 0,
                per_second=self._per_second(),
                notice=notice,
            )
        )


def end_dead_runs(catalog: Catalog) -> None:
    """End the runs whose process died, at their last sign of life: nobody ran when that was noticed.

    Whoever holds the index lock knows that no other run goes on.
    """
    with catalog.writing() as session:
        for run in session.runs(limit=LATEST_RUNS):
            if not run.state.finished:
                last = run.heartbeat_at or run.started_at
                ended = attrs.evolve(run, state=JobState.FAILED, finished_at=last, error=RUN_DIED, current_file="")
                session.save_run(ended)
