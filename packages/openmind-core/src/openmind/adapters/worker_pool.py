"""A few worker processes that share a stream of jobs; results come back in order."""

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager

from attrs import define, evolve, field

from openmind.adapters.job_queue import JobQueue, Ticket
from openmind.adapters.worker_jobs import FailureKind, Job, Outcome, WorkerPlan
from openmind.adapters.worker_process import WorkerDied, WorkerProcess
from openmind.domain.errors import WorkersUnavailable

INSPECTION_S = 0.1
STARTS = 2
"""How often starting a worker may fail in a row."""


@define(eq=False)
class _Lane:
    """One worker's place in the pool."""

    worker: WorkerProcess | None = None
    under_way: deque[Ticket] = field(factory=deque)
    failed_starts: int = 0

    def has_room(self, *, ahead: int) -> bool:
        """Whether the worker can be given one more than it has under way."""
        if self.worker is None or self.worker.is_worn(after=len(self.under_way)):
            return False
        return len(self.under_way) < ahead


@define(eq=False, kw_only=True)
class WorkerPool:
    """Keeps workers busy: while the caller deals with results, they go on within a bound.

    Serves one thread. Workers are started when there is work for them; one that fails loses its current job only,
    and is replaced.
    """

    plan: WorkerPlan
    size: int
    ahead: int = 8
    """Jobs that a worker may have under way: the next ones are on their way to it, so that it never waits for us."""
    backlog: int = 1
    """Jobs that must be waiting for each worker that runs before another one is started."""
    queue: JobQueue = field(factory=JobQueue)
    _closing: threading.Event = field(factory=threading.Event, init=False)
    _busy: threading.Event = field(factory=threading.Event, init=False)
    _held: bool = field(default=False, init=False)
    """Whether no worker is to begin with anything. Used with the queue's condition held."""
    _lanes: list[_Lane] = field(factory=list, init=False)
    _threads: list[threading.Thread] = field(factory=list, init=False)

    def run(
        self, jobs: Iterable[Job], *, while_waiting: Callable[[], None] | None = None
    ) -> Generator[Outcome, None, None]:
        """Do jobs; one outcome each, in their order.

        Closing the iterator early ends what is under way, at once.

        Args:
            jobs: read by the calling thread, and only as far ahead as the bounds let it.
            while_waiting: called several times a second while a result is waited for; may raise to end the run.

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
                if not more and self.queue.is_settled:
                    return
                yield self._wait_for_next(while_waiting)
        finally:
            self._abandon()

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Let no worker go on until the context ends; no time limit runs meanwhile."""
        self._hold(True)
        try:
            yield
        finally:
            self._hold(False)

    def close(self) -> None:
        """End all workers at once. Safe to call twice."""
        self._closing.set()
        self._busy.set()
        with self.queue.changed:
            self.queue.fail(WorkersUnavailable("the worker processes were closed while they were at work"))
            workers = [lane.worker for lane in self._lanes if lane.worker]
        for worker in workers:
            worker.kill()
        for thread in self._threads:
            thread.join(timeout=10)

    # The caller's side.

    def _hold(self, held: bool) -> None:
        with self.queue.changed:
            self._held = held
            workers = [lane.worker for lane in self._lanes if lane.worker]
            self.queue.changed.notify_all()
        for worker in workers:
            worker.suspend() if held else worker.resume()

    def _begin(self) -> None:
        with self.queue.changed:
            self.queue.begin()
            if self._closing.is_set():
                return
            self.queue.error = None
            if self._threads:
                return
            self._lanes = [_Lane() for _ in range(self.size)]
        drivers = [threading.Thread(target=self._drive, args=(lane,), daemon=True) for lane in self._lanes]
        self._threads = [*drivers, threading.Thread(target=self._inspect, daemon=True)]
        for thread in self._threads:
            thread.start()

    def _wants_more(self, pulled: int) -> bool:
        with self.queue.changed:
            return self.queue.wants_more(pulled=pulled)

    def _submit(self, job: Job) -> None:
        with self.queue.changed:
            self.queue.submit(job)
            self._busy.set()

    def _wait_for_next(self, while_waiting: Callable[[], None] | None) -> Outcome:
        while True:
            with self.queue.changed:
                ticket = None if self._held else self.queue.take_here()
                outcome = self.queue.next_outcome() if ticket is None else None
            if outcome is not None:
                return outcome
            if ticket is not None:
                self._do(ticket)
            if while_waiting:
                while_waiting()

    def _do(self, ticket: Ticket) -> None:
        """Do a job in this thread, which would only wait."""
        if ticket.here is not None:
            ticket.here()
        with self.queue.changed:
            self.queue.deliver(ticket, Outcome(size=ticket.weight))

    def _abandon(self) -> None:
        """Leave nothing of a run that ends early."""
        with self.queue.changed:
            if self.queue.is_settled:
                return
            self.queue.begin()
            for lane in self._lanes:
                if lane.worker and lane.under_way:
                    lane.worker.kill()

    # The side of the threads: one for each worker, one that watches them.

    def _drive(self, lane: _Lane) -> None:
        try:
            while (fresh := self._take(lane)) is not None:
                try:
                    self._exchange(lane, fresh)
                except WorkerDied as died:
                    self._bury(lane, died.outcome)
        finally:
            self._discard(lane)

    def _take(self, lane: _Lane) -> list[Ticket] | None:
        """Choose jobs for a lane; waits until it has at least one under way. None when all shall end."""
        fresh: list[Ticket] = []
        with self.queue.changed:
            while not self._closing.is_set():
                while self._may_take(lane):
                    ticket = self.queue.pending.popleft()
                    lane.under_way.append(ticket)
                    fresh.append(ticket)
                if lane.under_way:
                    return fresh
                self.queue.changed.wait()
        return None

    def _may_take(self, lane: _Lane) -> bool:
        ticket = self.queue.ready()
        if ticket is None or self._held:
            return False
        waiting = len(self.queue.pending)
        if lane.under_way:  # more is taken ahead only when that leaves nobody idle
            is_somebody_idle = any(other.worker and not other.under_way for other in self._lanes)
            return lane.has_room(ahead=self.ahead) and waiting >= self.size and not is_somebody_idle
        running = sum(1 for other in self._lanes if other.worker or other.under_way)
        return lane.worker is not None or running == 0 or waiting >= running * self.backlog

    def _exchange(self, lane: _Lane, fresh: list[Ticket]) -> None:
        """Send what was taken, and wait for the oldest result."""
        if lane.worker and not lane.worker.is_busy and not lane.worker.is_alive:
            self._discard(lane)  # it ended while it had nothing to do
        if lane.worker is None and not self._start(lane):
            return
        assert lane.worker is not None
        for ticket in fresh:
            lane.worker.send(ticket.request, ticket.limits, ticket.heard)
        outcome = lane.worker.receive()
        with self.queue.changed:
            self.queue.deliver(lane.under_way.popleft(), outcome)
        if lane.worker.is_retired or (lane.worker.is_worn() and not lane.under_way):
            self._discard(lane)
            self._give_back(lane)

    def _start(self, lane: _Lane) -> bool:
        """Start a lane's worker; False when it has nothing to do. Where it fails, its jobs go back into the queue."""
        try:
            lane.worker = WorkerProcess.start(self.plan)
            if self._closing.is_set():
                lane.worker.kill()
            lane.worker.get_ready()
        except OSError as error:
            reason = error.strerror or type(error).__name__
        except WorkerDied as died:
            reason = _why(died, lane.worker)
        else:
            lane.failed_starts = 0
            with self.queue.changed:
                if self._held:
                    lane.worker.suspend()
                if any(map(self.queue.is_over, lane.under_way)):  # given up while the worker started
                    lane.under_way.clear()
            return bool(lane.under_way)
        lane.failed_starts += 0 if lane.worker and lane.worker.was_ended else 1
        self._discard(lane)
        self._give_back(lane)
        if lane.failed_starts >= STARTS:
            lane.failed_starts = 0
            self._give_up(reason)
        return False

    def _bury(self, lane: _Lane, outcome: Outcome) -> None:
        """Blame the oldest job for the death of a worker; the others go back into the queue.

        Where somebody else ended the worker, the job has a second try.
        """
        if lane.worker and not lane.worker.was_ended:
            ticket = lane.under_way.popleft()
            if outcome.failure and outcome.failure.kind is FailureKind.ENDED and not ticket.is_second_try:
                lane.under_way.appendleft(evolve(ticket, is_second_try=True))
            else:
                with self.queue.changed:
                    self.queue.deliver(ticket, outcome)
        self._discard(lane)
        self._give_back(lane)

    def _discard(self, lane: _Lane) -> None:
        if lane.worker:
            lane.worker.close()
            lane.worker = None

    def _give_back(self, lane: _Lane) -> None:
        with self.queue.changed:
            self.queue.give_back(lane.under_way)
            lane.under_way.clear()

    def _give_up(self, reason: str) -> None:
        error = WorkersUnavailable(
            f"a worker process could not be started: {reason}",
            hint="Close other programs and try again; `openmind plugins` shows whether the installation is sound.",
        )
        with self.queue.changed:
            self.queue.fail(error)

    def _inspect(self) -> None:
        while not self._closing.wait(INSPECTION_S):
            self._busy.wait()
            with self.queue.changed:
                workers = [lane.worker for lane in self._lanes if lane.worker]
                if not self.queue.pending and not any(lane.under_way for lane in self._lanes):
                    self._busy.clear()
            for worker in workers:
                worker.inspect()


def _why(died: WorkerDied, worker: WorkerProcess | None) -> str:
    """Why a worker did not start; what hangs there, such as a plugin, may have been told in its last words."""
    failure = died.outcome.failure
    reason = failure.detail if failure else ""
    words = worker.last_words() if worker and failure and failure.kind is FailureKind.TIMEOUT else ""
    return f"{reason} (“{words}”)" if words else reason
