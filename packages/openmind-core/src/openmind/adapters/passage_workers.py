"""Prepares files in worker processes, so that reading, splitting and embedding use every processor."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing

from attrs import define

from openmind.adapters.worker_jobs import MEGABYTE, FailureKind, Job, Limits, Outcome, WorkerFailure
from openmind.adapters.worker_pool import WorkerPool
from openmind.domain.files import FileReason
from openmind.domain.preparation import Preparation, PreparationFailure, PreparationRequest

ToWire = Callable[[PreparationRequest], tuple[Mapping[str, object], bytes]]
FromWire = Callable[[Mapping[str, object], bytes], Preparation]

LIMITS = Limits(wall_s=1_800, cpu_s=900, memory_bytes=2_000 * MEGABYTE, output_bytes=512 * MEGABYTE)
"""Generous: the largest text that is taken, embedded on a slow machine. What runs here is our own code."""
PACKED_GROWTH = 16
"""How many times larger than packed text its prepared passages may be, vectors included."""

_REASONS = {
    FailureKind.TIMEOUT: FileReason.TIMEOUT,
    FailureKind.CRASHED: FileReason.CRASHED,
    FailureKind.TOO_BIG: FileReason.TOO_BIG,
}


@define(eq=False)
class PassageWorkers:
    """A `Preparer` over a pool of workers that were told how to prepare.

    The pool's target answers each request with one part.
    """

    pool: WorkerPool
    to_wire: ToWire
    from_wire: FromWire

    def prepare(
        self, requests: Iterable[PreparationRequest], *, while_waiting: Callable[[], None]
    ) -> Iterator[Preparation]:
        """See the port."""
        tickets: deque[int] = deque()

        def jobs() -> Iterator[Job]:
            for request in requests:
                tickets.append(request.ticket)
                message, payload = self.to_wire(request)
                yield Job(message=message, payload=payload, limits=LIMITS, weight=16_384 + PACKED_GROWTH * len(payload))

        with closing(self.pool.run(jobs(), while_waiting=while_waiting)) as outcomes:
            for outcome in outcomes:
                yield self._preparation(tickets.popleft(), outcome)

    def close(self) -> None:
        """See the port."""
        self.pool.close()

    def _preparation(self, ticket: int, outcome: Outcome) -> Preparation:
        if outcome.failure or len(outcome.parts) != 1:
            failure = outcome.failure or WorkerFailure(FailureKind.CRASHED, "it gave no result")
            message = f"Preparing it failed: {failure.detail}."
            return PreparationFailure(ticket=ticket, reason=_REASONS[failure.kind], message=message)
        return self.from_wire(outcome.parts[0].message, outcome.parts[0].payload)
