"""What workers are asked, what it may cost, and what becomes of it."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

from attrs import field, frozen

MEGABYTE = 1_000_000


@frozen(kw_only=True)
class Limits:
    """What one request may cost."""

    wall_s: float = 600.0
    cpu_s: int = 300
    memory_bytes: int = 2_000 * MEGABYTE
    """Resident memory of the process."""
    output_bytes: int = 512 * MEGABYTE
    """All parts of a reply together."""
    slow: "Limits | None" = None
    """What holds once the worker says that the request is slow by nature, such as OCR; its times are then for each
    part. A worker that was slow once keeps the memory limit: its models stay loaded."""


@frozen(kw_only=True)
class WorkerPlan:
    """What a worker runs."""

    target: str
    """`module:function`; the function takes the setup and returns a handler (see `worker_main`)."""
    setup: Mapping[str, object] = field(factory=dict)
    """JSON-safe."""
    folder: Path | None = None
    """Where the temporary folders of workers are made; None takes the system's place."""
    address_space: int = 0
    """Limit of virtual memory, bytes; 0 sets none."""
    recycle_after: int = 0
    """Requests after which a worker is replaced by a fresh one; 0 lets it live."""
    recycle_growth: int = 300 * MEGABYTE
    """Growth of resident memory after which it is."""


@frozen(kw_only=True)
class Job:
    """A request to any worker."""

    message: Mapping[str, object]
    payload: bytes = field(default=b"", repr=False)
    limits: Limits = field(factory=Limits)
    weight: int = 16_384
    """Bytes that its result will about have."""
    heard: "Callable[[Part], bool] | None" = None
    """Hears each part as it comes, in a thread of the pool; what it returns True for does not go into the outcome."""
    here: "Callable[[], None] | None" = None
    """Does it in the thread of the caller, should that have nothing else to do: its outcome has no parts then."""


class FailureKind(StrEnum):
    """Why a worker did not finish a request."""

    TIMEOUT = "timeout"
    CRASHED = "crashed"
    TOO_BIG = "too_big"
    ENDED = "ended"
    """Somebody else ended it, as a system does that runs out of memory, or it had no handles left: the request need not
    be to blame."""


@frozen
class WorkerFailure:
    """What became of the request that a worker did not finish."""

    kind: FailureKind
    detail: str = ""


@frozen
class Part:
    """A piece of a reply."""

    message: dict[str, object]
    payload: bytes = b""


@frozen
class Outcome:
    """What became of a request; with a failure, `parts` hold what was sent before it."""

    parts: list[Part] = field(factory=list, repr=False)
    failure: WorkerFailure | None = None
    size: int = 0
    """Bytes of all parts, as they were sent."""
