"""A few worker processes that share a stream of jobs; results come back in order."""

import threading
from collections import deque
from collections.abc import Generator, Iterable

from attrs import define, field, frozen

from openmind.adapters.worker_jobs import MEGABYTE, Job, Limits, Outcome, WorkerPlan
from openmind.adapters.worker_process import WorkerDied, WorkerProcess, request_frame
from openmind.domain.errors import WorkersUnavailable

INSPECTION_S = 0.1
STARTS = 2
"""How often starting a worker may fail in a row."""
PULLED_BETWEEN_RESULTS = 4
"""More than one, so that the queue fills up; not many, so that results do not wait for it."""


@frozen
class _Ticket:
    run: int
    number: int
    request: bytes = field(repr=False)
    limits: Limits
    weight: int


@define(eq=False)
class _Lane:
    """One worker's place in the pool."""

    worker: WorkerProcess | None = None
    under_way: deque[_Ticket] = field(factory=deque)
    failed_starts: int = 0

    def takes(self, ticket: _Ticket, ahead: int) -> bool:
        """Whether the worker can be given one more."""
        if not self.under_way:
            return True
        if self.worker is None or self.worker.is_worn(after=len(self.under_way)):
            return False
        return len(self.under_way) < ahead and self.worker.has_room(ticket.request)


@define(eq=False, kw_only=True)
class WorkerPool:
    """Keeps workers busy: while the caller deals with results, they go on within a bound.

    Serves one thread. Workers are started when there is work for them; one that fails loses its current job only,
    and is replaced.
    """

    plan: WorkerPlan
    size: int
    ahead: int = 8
    """Jobs that a worker may have under way: the next ones wait in its pipe, so that it never waits for us."""
    backlog: int = 1
    """Jobs that must be waiting for each worker that runs before another one is started."""
    max_jobs: int = 1_024
    """Jobs that may be waiting, under way or done."""
    max_bytes: int = 64 * MEGABYTE
    """The same in bytes: by `Job.weight` before they are done, by their size after."""
    _changed: threading.Condition = field(factory=threading.Condition, init=False)
    _pending: deque[_Ticket] = field(factory=deque, init=False)
    _done: dict[int, Outcome] = field(factory=dict, init=False)
    _bytes: int = field(default=0, init=False)
    _done_bytes: int = field(default=0, init=False)
    _run: int = field(default=0, init=False)
    _next: int = field(default=0, init=False)
    _submitted: int = field(default=0, init=False)
    _idle: int = field(default=0, init=False)
    _error: WorkersUnavailable | None = field(default=None, init=False)
    _closing: threading.Event = field(factory=threading.Event, init=False)
    _busy: threading.Event = field(factory=threading.Event, init=False)
    _lanes: list[_Lane] = field(factory=list, init=False)
    _threads: list[threading.Thread] = field(factory=list, init=False)

    def run(self, jobs: Iterable[Job]) -> Generator[Outcome, None, None]:
        """Do jobs; one outcome each, in their order.

        `jobs` is read by the calling thread, and only as far ahead as the bounds let it. Closing the iterator early
        ends what is under way, at once.

        Raises:
            WorkersUnavailable: workers cannot be started, or the pool was closed.
        """
        self._begin()
        source = iter(jobs)
        more = True
        try:
            while True:
                pulled = 0
                while more and self._wants_more(pulled):
                    job = next(source, None)
                    if job is None:
                        more = False
                    else:
                        self._submit(job)
                        pulled += 1
                if not more and self._next == self._submitted:
                    return
                yield self._wait_for_next()
        finally:
            self._abandon()

    def close(self) -> None:
        """End all workers at once. Safe to call twice."""
        self._closing.set()
        self._busy.set()
        with self._changed:
            self._changed.notify_all()
            workers = [lane.worker for lane in self._lanes if lane.worker]
        for worker in workers:
            worker.kill()
        for thread in self._threads:
            thread.join(timeout=10)

    # The caller's side.

    def _begin(self) -> None:
        with self._changed:
            self._run += 1
            self._next = self._submitted = self._bytes = self._done_bytes = 0
            self._error = None
            if self._threads or self._closing.is_set():
                return
            self._lanes = [_Lane() for _ in range(self.size)]
        drivers = [threading.Thread(target=self._drive, args=(lane,), daemon=True) for lane in self._lanes]
        self._threads = [*drivers, threading.Thread(target=self._inspect, daemon=True)]
        for thread in self._threads:
            thread.start()

    def _wants_more(self, pulled: int) -> bool:
        with self._changed:
            if self._next in self._done and pulled >= PULLED_BETWEEN_RESULTS:
                return False
            held = self._submitted - self._next
            return held == 0 or (held < self.max_jobs and self._bytes < self.max_bytes)

    def _submit(self, job: Job) -> None:
        request = request_frame(job.message, job.payload, job.limits)
        with self._changed:
            ticket = _Ticket(self._run, self._submitted, request, job.limits, len(request) + job.weight)
            self._submitted += 1
            self._bytes += ticket.weight
            self._pending.append(ticket)
            self._busy.set()
            if self._idle:
                self._changed.notify_all()

    def _wait_for_next(self) -> Outcome:
        with self._changed:
            while self._next not in self._done:
                if self._error:
                    raise self._error
                if self._closing.is_set():
                    raise WorkersUnavailable("the worker processes were closed while they were at work")
                self._changed.wait(timeout=1)  # without a limit, Ctrl-C would wait, too, on some systems
            outcome = self._done.pop(self._next)
            self._next += 1
            self._bytes -= outcome.size
            self._done_bytes -= outcome.size
            if self._idle:
                self._changed.notify_all()
            return outcome

    def _abandon(self) -> None:
        with self._changed:
            if self._next == self._submitted:
                return
            self._run += 1
            self._pending.clear()
            self._done.clear()
            for lane in self._lanes:
                if lane.worker and lane.worker.is_busy:
                    lane.worker.kill()

    # The side of the threads: one for each worker, one that watches them.

    def _drive(self, lane: _Lane) -> None:
        try:
            while (fresh := self._take(lane)) is not None:
                if lane.worker and not lane.worker.is_busy and not lane.worker.is_alive:
                    self._discard(lane)
                try:
                    self._exchange(lane, fresh)
                except WorkerDied as died:
                    self._bury(lane, died.outcome)
        finally:
            self._discard(lane)

    def _exchange(self, lane: _Lane, fresh: list[_Ticket]) -> None:
        """Send what was taken, and wait for the oldest result."""
        if lane.worker is None and not self._start(lane):
            return
        assert lane.worker is not None
        for ticket in fresh:
            lane.worker.send(ticket.request, ticket.limits)
        outcome = lane.worker.receive()
        self._deliver(lane.under_way.popleft(), outcome)
        if lane.worker.is_worn() and not lane.under_way:
            self._discard(lane)

    def _take(self, lane: _Lane) -> list[_Ticket] | None:
        """Choose jobs for a lane; waits until it has at least one under way. None when all shall end."""
        fresh: list[_Ticket] = []
        with self._changed:
            while not self._closing.is_set():
                while self._may_take(lane):
                    ticket = self._pending.popleft()
                    lane.under_way.append(ticket)
                    fresh.append(ticket)
                if lane.under_way:
                    return fresh
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
        return None

    def _may_take(self, lane: _Lane) -> bool:
        if not self._pending or not lane.takes(self._pending[0], self.ahead):
            return False
        if self._done_bytes >= self.max_bytes and self._pending[0].number != self._next:
            return False
        if lane.under_way:  # the next ones are taken ahead only when that leaves nobody idle
            waiting = any(other.worker and not other.under_way for other in self._lanes)
            return not waiting and len(self._pending) >= self.size
        if lane.worker:
            return True
        running = sum(1 for other in self._lanes if other.worker or other.under_way)
        return len(self._pending) >= running * self.backlog or running == 0

    def _start(self, lane: _Lane) -> bool:
        """Start a lane's worker; when it cannot be, its jobs go back into the queue."""
        try:
            lane.worker = WorkerProcess.start(self.plan)
            if self._closing.is_set():
                lane.worker.kill()
            lane.worker.get_ready()
        except OSError as error:
            reason = error.strerror or type(error).__name__
        except WorkerDied as died:
            reason = str(died.outcome.failure and died.outcome.failure.detail)
        else:
            lane.failed_starts = 0
            return True
        lane.failed_starts += 0 if lane.worker and lane.worker.was_ended else 1
        self._discard(lane)
        self._give_back(lane)
        if lane.failed_starts >= STARTS:
            lane.failed_starts = 0
            self._give_up(reason)
        return False

    def _bury(self, lane: _Lane, outcome: Outcome) -> None:
        """Blame the oldest job for the death of a worker; the others go back into the queue."""
        if lane.worker and not lane.worker.was_ended:
            self._deliver(lane.under_way.popleft(), outcome)
        self._discard(lane)
        self._give_back(lane)

    def _discard(self, lane: _Lane) -> None:
        if lane.worker:
            lane.worker.close()
            lane.worker = None

    def _give_back(self, lane: _Lane) -> None:
        with self._changed:
            self._pending.extendleft(ticket for ticket in reversed(lane.under_way) if ticket.run == self._run)
            lane.under_way.clear()
            self._changed.notify_all()

    def _deliver(self, ticket: _Ticket, outcome: Outcome) -> None:
        with self._changed:
            if ticket.run != self._run:
                return
            self._done[ticket.number] = outcome
            self._bytes += outcome.size - ticket.weight
            self._done_bytes += outcome.size
            self._changed.notify_all()

    def _give_up(self, reason: str) -> None:
        with self._changed:
            self._pending.clear()
            self._error = WorkersUnavailable(
                f"a worker process could not be started: {reason}",
                hint="Close other programs and try again; `openmind plugins` shows whether the installation is sound.",
            )
            self._changed.notify_all()

    def _inspect(self) -> None:
        while not self._closing.wait(INSPECTION_S):
            self._busy.wait()
            with self._changed:
                workers = [lane.worker for lane in self._lanes if lane.worker]
                if not self._pending and not any(lane.under_way for lane in self._lanes):
                    self._busy.clear()
            for worker in workers:
                worker.inspect()
