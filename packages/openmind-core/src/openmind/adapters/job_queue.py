"""Jobs on their way to workers and results on their way back: in order, within bounds, one run at a time."""

import threading
from collections import deque
from collections.abc import Callable, Iterable

from attrs import define, field, frozen

from openmind.adapters.worker_jobs import MEGABYTE, Job, Limits, Outcome, Part
from openmind.adapters.worker_process import request_frame
from openmind.domain.errors import WorkersUnavailable

WAITING_S = 0.25
PULLED_BETWEEN_RESULTS = 4
"""More than one, so that the queue fills up; not many, so that results do not wait for it."""


@frozen
class Ticket:
    """A job with its place in its run."""

    run: int
    number: int
    request: bytes = field(repr=False)
    limits: Limits
    weight: int
    heard: Callable[[Part], bool] | None = None
    here: Callable[[], None] | None = None
    is_second_try: bool = False


@define(eq=False, kw_only=True)
class JobQueue:
    """What one caller and several threads share. Everything but `changed` is used with the condition held."""

    max_jobs: int = 1_024
    """Jobs that may be waiting, under way or done."""
    max_bytes: int = 64 * MEGABYTE
    """The same in bytes: by `Job.weight` before they are done, by their size after."""
    changed: threading.Condition = field(factory=threading.Condition, init=False)
    pending: deque[Ticket] = field(factory=deque, init=False)
    error: WorkersUnavailable | None = field(default=None, init=False)
    """Why no result will come any more."""
    _done: dict[int, Outcome] = field(factory=dict, init=False)
    _bytes: int = field(default=0, init=False)
    _done_bytes: int = field(default=0, init=False)
    _run: int = field(default=0, init=False)
    _next: int = field(default=0, init=False)
    _submitted: int = field(default=0, init=False)

    def begin(self) -> None:
        """Start a run; what belongs to an earlier one is dropped wherever it turns up."""
        self._run += 1
        self._next = self._submitted = self._bytes = self._done_bytes = 0
        self.pending.clear()
        self._done.clear()

    @property
    def is_settled(self) -> bool:
        """Whether every job's result was taken."""
        return self._next == self._submitted

    def wants_more(self, *, pulled: int) -> bool:
        """Whether another job should be submitted, after so many since the last result was taken."""
        if self._next in self._done and pulled >= PULLED_BETWEEN_RESULTS:
            return False
        held = self._submitted - self._next
        return held == 0 or (held < self.max_jobs and self._bytes < self.max_bytes)

    def submit(self, job: Job) -> None:
        """Append a job."""
        request = request_frame(job.message, job.payload, job.limits)
        ticket = Ticket(self._run, self._submitted, request, job.limits, len(request) + job.weight, job.heard, job.here)
        self._submitted += 1
        self._bytes += ticket.weight
        self.pending.append(ticket)
        self.changed.notify_all()

    def next_outcome(self) -> Outcome | None:
        """Take the next result in order, or None when it is not there within a moment.

        Raises:
            WorkersUnavailable: none will come any more.
        """
        if self._next not in self._done:
            # Without a limit, Ctrl-C would wait, too, on some systems.
            self.changed.wait_for(lambda: self._next in self._done or self.error, timeout=WAITING_S)
        outcome = self._done.pop(self._next, None)
        if outcome is None:
            if self.error:
                raise self.error
            return None
        self._next += 1
        self._bytes -= outcome.size
        self._done_bytes -= outcome.size
        if self.pending:  # workers may have been held back
            self.changed.notify_all()
        return outcome

    def take_here(self) -> Ticket | None:
        """Take a job that the caller may do by itself: only while the next result is not there."""
        if self._next in self._done or self.error:
            return None
        ticket = self.ready()
        return self.pending.popleft() if ticket is not None and ticket.here is not None else None

    def ready(self) -> Ticket | None:
        """Look at the next job that a worker may take now; `pending.popleft()` takes it."""
        if not self.pending:
            return None
        # Results that nobody takes hold the workers back, but never from what the caller waits for.
        is_held_back = self._done_bytes >= self.max_bytes and self.pending[0].number != self._next
        return None if is_held_back else self.pending[0]

    def is_over(self, ticket: Ticket) -> bool:
        """Whether nobody waits for a job any more."""
        return ticket.run != self._run

    def deliver(self, ticket: Ticket, outcome: Outcome) -> None:
        """Hand in a result."""
        if not self.is_over(ticket):
            self._done[ticket.number] = outcome
            self._bytes += outcome.size - ticket.weight
            self._done_bytes += outcome.size
            self.changed.notify_all()

    def give_back(self, tickets: Iterable[Ticket]) -> None:
        """Return jobs that were taken, in their order, and not done."""
        self.pending.extendleft(ticket for ticket in reversed(list(tickets)) if not self.is_over(ticket))
        self.changed.notify_all()

    def fail(self, error: WorkersUnavailable) -> None:
        """Say that no result will come any more."""
        self.error = self.error or error
        self.pending.clear()
        self.changed.notify_all()
