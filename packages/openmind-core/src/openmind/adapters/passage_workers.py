"""Prepares files in worker processes, so that reading, splitting and embedding use every processor."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial

from attrs import define, evolve, field

from openmind.adapters.worker_jobs import MEGABYTE, FailureKind, Job, Limits, Outcome, WorkerFailure
from openmind.adapters.worker_pool import WorkerPool
from openmind.domain.files import FileReason
from openmind.domain.preparation import Preparation, PreparationFailure, PreparationRequest

Group = Callable[[Iterable[PreparationRequest]], Iterator[list[PreparationRequest]]]
ToWire = Callable[[Sequence[PreparationRequest]], tuple[Mapping[str, object], bytes]]
Here = Callable[[Sequence[PreparationRequest]], Sequence[Preparation]]
FromWire = Callable[[Mapping[str, object], bytes], Sequence[Preparation]]

LIMITS = Limits(wall_s=1_800, cpu_s=900, memory_bytes=2_000 * MEGABYTE, output_bytes=512 * MEGABYTE)
"""Generous: the largest text that is taken, embedded on a slow machine. What runs here is our own code."""
GROWTH = 5
"""How many times larger than its text a file's prepared passages may be, vectors included."""
PACKED_GROWTH = 16
"""How many times larger than packed text its prepared passages may be, vectors included."""
MOST_HERE = 2 * MEGABYTE
"""Weight of what the calling thread prepares by itself: some tenth of a second, in which it hears nothing else."""

_REASONS = {
    FailureKind.TIMEOUT: FileReason.TIMEOUT,
    FailureKind.CRASHED: FileReason.CRASHED,
    FailureKind.ENDED: FileReason.CRASHED,
    FailureKind.TOO_BIG: FileReason.TOO_BIG,
}


@define(eq=False)
class _Group:
    """Requests that are prepared together."""

    requests: list[PreparationRequest]
    prepared: Sequence[Preparation] = ()
    """What this thread made of them; empty where a worker does it."""

    def prepare(self, here: Here) -> None:
        self.prepared = here(self.requests)


@define(eq=False, kw_only=True)
class PassageWorkers:
    """A `Preparer` over a pool of workers that were told how to prepare, and over the calling thread.

    The pool's target answers each group of requests with one part, which holds an outcome for each.
    """

    pool: WorkerPool
    group: Group
    to_wire: ToWire
    from_wire: FromWire
    here: Here | None = None
    """Prepares a group in the calling thread, which waits for workers most of the time; None lets it wait."""
    _alone: WorkerPool | None = field(default=None, init=False)
    """Where the files of a group that failed are tried one by one."""

    def prepare(
        self, requests: Iterable[PreparationRequest], *, while_waiting: Callable[[], None]
    ) -> Iterator[Preparation]:
        """See the port."""
        under_way: deque[_Group] = deque()

        def jobs() -> Iterator[Job]:
            for some in self.group(requests):
                under_way.append(group := _Group(some))
                yield self._shared(group)

        with closing(self.pool.run(jobs(), while_waiting=while_waiting)) as outcomes:
            for outcome in outcomes:
                group = under_way.popleft()
                yield from group.prepared or self._preparations(group.requests, outcome, while_waiting)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """See the port."""
        with ExitStack() as stack:
            for pool in filter(None, (self.pool, self._alone)):
                stack.enter_context(pool.standing_still())
            yield

    def close(self) -> None:
        """See the port."""
        self.pool.close()
        if self._alone is not None:
            self._alone.close()

    def _shared(self, group: "_Group") -> Job:
        """Make a job for a worker, or for this thread when that would only wait and the job is small."""
        job = self._job(group.requests)
        if self.here is None or job.weight > MOST_HERE:
            return job
        return evolve(job, here=partial(group.prepare, self.here))

    def _job(self, group: list[PreparationRequest]) -> Job:
        message, payload = self.to_wire(group)
        size = sum(request.size for request in group)
        packed = sum(len(request.packed or b"") for request in group)
        return Job(
            message=message,
            payload=payload,
            limits=LIMITS,
            weight=16_384 + GROWTH * size + PACKED_GROWTH * packed,
        )

    def _preparations(
        self, group: list[PreparationRequest], outcome: Outcome, while_waiting: Callable[[], None]
    ) -> Iterator[Preparation]:
        if outcome.failure is None and len(outcome.parts) == 1:
            yield from self.from_wire(outcome.parts[0].message, outcome.parts[0].payload)
        elif len(group) == 1:
            failure = outcome.failure or WorkerFailure(FailureKind.CRASHED, "it gave no result")
            message = f"Preparing it failed: {failure.detail}."
            yield PreparationFailure(ticket=group[0].ticket, reason=_REASONS[failure.kind], message=message)
        else:
            yield from self._one_by_one(group, while_waiting)

    def _one_by_one(self, group: list[PreparationRequest], while_waiting: Callable[[], None]) -> Iterator[Preparation]:
        """Find out which file of a group it was."""
        if self._alone is None:
            self._alone = WorkerPool(plan=self.pool.plan, size=1)
        with closing(self._alone.run((self._job([each]) for each in group), while_waiting=while_waiting)) as outcomes:
            for request, outcome in zip(group, outcomes, strict=True):
                yield from self._preparations([request], outcome, while_waiting)
