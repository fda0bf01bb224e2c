"""Processes that exist in memory only, and a clock that a test turns."""

from datetime import UTC, datetime, timedelta

from attrs import define, field

from openmind.domain.errors import JobError
from openmind.domain.ids import JobId
from openmind.domain.jobs import ProcessMark


@define
class FakeClock:
    """Time that passes when somebody sleeps, and only then."""

    at: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)
    slept: float = 0.0
    """Seconds since the clock was made."""

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.slept

    def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)
        self.slept += seconds


@define
class FakeProcesses:
    """A `JobLauncher` that starts nothing, and knows which of its processes are alive."""

    launched: list[JobId] = field(factory=list)
    running: set[int] = field(factory=set)
    error: JobError | None = None
    """What launching raises."""
    words: dict[JobId, str] = field(factory=dict)
    """What stands in the logs of jobs."""
    sweeps: int = 0
    """How many were started to sweep."""
    _next: int = 100

    def launch(self, job_id: JobId) -> ProcessMark:
        if self.error is not None:
            raise self.error
        self.launched.append(job_id)
        return self.appear()

    def last_words(self, job_id: JobId) -> str:
        return self.words.get(job_id, "")

    def launch_sweep(self) -> None:
        if self.error is not None:
            raise self.error
        self.sweeps += 1

    def appear(self) -> ProcessMark:
        """Let a process be there."""
        self._next += 1
        self.running.add(self._next)
        return ProcessMark(pid=self._next, started_at=float(self._next), boot_id="boot")

    def end(self, mark: ProcessMark) -> None:
        """Let a process end, without a word to anybody."""
        self.running.discard(mark.pid)

    def alive(self, mark: ProcessMark) -> bool:
        return mark.pid in self.running
