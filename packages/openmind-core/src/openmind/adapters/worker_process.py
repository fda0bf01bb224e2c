"""One disposable process that does what this one must not do itself: parse what may crash, hang or swell."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, cast

from attrs import define, field

from openmind.adapters.framing import Frame, FrameError, FrameKind, FrameTooBig, encode, read_frame
from openmind.adapters.outgoing_pipe import OutgoingPipe
from openmind.adapters.spawning import spawn
from openmind.adapters.worker_jobs import MEGABYTE, FailureKind, Limits, Outcome, Part, WorkerFailure, WorkerPlan

MAX_LOG_BYTES = 16 * MEGABYTE
LOG_TAIL_BYTES = 4_096
PART_BYTES = 256
"""What holding a part costs beside its content."""
STARTING_S = 60.0
MAX_WORDS = 300

Hearing = Callable[[Part], bool]
"""Hears a part as it comes; what it returns True for does not go into the outcome."""


class WorkerDied(Exception):
    """The worker is gone, and the oldest request with it."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.failure)
        self.outcome = outcome


@define(eq=False, kw_only=True)
class WorkerProcess:
    """A child process that answers requests in order.

    One thread, which must be the one that started it and must outlive it, sends and receives: Linux ends the child
    with that thread. Another one may `inspect` and `kill`.
    """

    plan: WorkerPlan
    served: int = 0
    is_retired: bool = field(default=False, init=False)
    """Whether it has said that it answers no other request."""
    _process: subprocess.Popen[bytes]
    _folder: Path
    _log: BinaryIO
    _requests: OutgoingPipe
    _unanswered: deque[tuple[Limits, Hearing | None]] = field(factory=deque)
    _deadline: float | None = None
    _suspended_at: float | None = None
    _memory_bytes: int = 0
    _heavy_bytes: int = 0
    """The memory limit that holds at least, since models stay loaded."""
    _rss: int = 0
    _settled_rss: int = 0
    """What it needed after the first reply: libraries and models are loaded then."""
    _settled_after: int = 1
    _verdict: WorkerFailure | None = None
    _ended: bool = False
    _closed: bool = False
    _life: threading.Lock = field(factory=threading.Lock)

    @classmethod
    def start(cls, plan: WorkerPlan) -> "WorkerProcess":
        """Start a process; it is not ready before `get_ready`.

        Raises:
            OSError: it cannot be started.
        """
        folder = Path(tempfile.mkdtemp(prefix="worker-", dir=plan.folder))
        log = (folder / "log").open("wb+")
        try:
            process = spawn(folder, log)
        except OSError:
            log.close()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        requests = OutgoingPipe(cast(BinaryIO, process.stdin))
        return cls(plan=plan, process=process, folder=folder, log=log, requests=requests)

    @property
    def pid(self) -> int:
        return self._process.pid

    def get_ready(self) -> None:
        """Hand over the setup and wait until it is done.

        Raises:
            WorkerDied: it did not work.
        """
        self._watch(Limits(wall_s=STARTING_S))
        setup = {"target": self.plan.target, "setup": self.plan.setup, "address_space": self.plan.address_space}
        self._requests.send(encode(FrameKind.SETUP, setup))
        frame, _ = self._read([], 0, limit=MEGABYTE)
        if frame.kind is not FrameKind.READY:
            raise self._died(_told(frame), [], 0)
        self._watch(None)

    def send(self, request: bytes, limits: Limits, heard: Hearing | None = None) -> None:
        """Send a request; several may be under way. Never waits, and leaves it to `receive` to say what went wrong."""
        self._unanswered.append((limits, heard))
        if len(self._unanswered) == 1:
            self._watch(limits)
        self._requests.send(request)

    def receive(self) -> Outcome:
        """Wait for the whole reply to the oldest request.

        Raises:
            WorkerDied: the worker is gone; what it sent before is in the error.
        """
        limits, heard = self._unanswered[0]
        parts: list[Part] = []
        size = 0
        slow: Limits | None = None
        while True:
            frame, frame_size = self._read(parts, size, limit=limits.output_bytes)
            size += frame_size + PART_BYTES
            if frame.kind is FrameKind.PART:
                part = Part(frame.message, frame.payload)
                if heard is None or not heard(part):
                    parts.append(part)
            elif frame.kind is FrameKind.SLOW:
                slow = limits.slow
                self._grow_heavy(slow)
            elif frame.kind is FrameKind.END:
                self.is_retired = frame.message.get("retired") is True
                break
            else:
                raise self._died(_told(frame), parts, size)
            if slow:
                self._watch(slow)
        self.served += 1
        self._unanswered.popleft()
        self._watch(self._unanswered[0][0] if self._unanswered else None)
        return Outcome(parts, size=size)

    @property
    def is_busy(self) -> bool:
        """Whether it owes a reply."""
        return bool(self._unanswered)

    def is_worn(self, *, after: int = 0) -> bool:
        """Whether a fresh process should take over after so many more replies."""
        grown = self._rss - self._settled_rss if self._settled_rss else 0
        return grown > self.plan.recycle_growth or 0 < self.plan.recycle_after <= self.served + after

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    @property
    def was_ended(self) -> bool:
        """Whether it is gone because we wanted it, not for what it did."""
        return self._ended

    def inspect(self) -> None:
        """Kill the process when it has overdrawn its limits; for another thread to do ten times a second."""
        with self._life:
            if self._closed or self._deadline is None or self._suspended_at is not None:
                return
            if time.monotonic() > self._deadline:
                self._kill(WorkerFailure(FailureKind.TIMEOUT, "it took too long"))
                return
            self._rss = _resident_bytes(self.pid)
            if not self._settled_rss and self.served >= self._settled_after:
                self._settled_rss = self._rss
            if self._rss > self._memory_bytes:
                detail = f"it needed more than {self._memory_bytes // MEGABYTE} MB of memory"
                self._kill(WorkerFailure(FailureKind.TOO_BIG, detail))
            elif os.fstat(self._log.fileno()).st_size > MAX_LOG_BYTES:
                self._kill(WorkerFailure(FailureKind.CRASHED, "it wrote messages without end"))

    def suspend(self) -> None:
        """Stop the process where it is, with all it started; its time limits stop, too."""
        with self._life:
            if not self._closed and self._suspended_at is None and self._process.returncode is None:
                self._suspended_at = time.monotonic()
                _signal_group(self.pid, "SIGSTOP")

    def resume(self) -> None:
        """Let a suspended process go on."""
        with self._life:
            if self._suspended_at is None:
                return
            if self._deadline is not None:
                self._deadline += time.monotonic() - self._suspended_at
            self._suspended_at = None
            if not self._closed and self._process.returncode is None:
                _signal_group(self.pid, "SIGCONT")

    def kill(self) -> None:
        """End the process at once; safe at any time."""
        with self._life:
            self._ended = True
            if not self._closed:
                self._kill(None)

    def close(self) -> None:
        """End the process and remove its folder; safe to call twice."""
        with self._life:
            if self._closed:
                return
            self._closed = True
            self._kill(None)
        self._requests.close()
        cast(BinaryIO, self._process.stdout).close()
        self._wait()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _watch(self, limits: Limits | None) -> None:
        """Let the clock run anew, or stop it."""
        with self._life:
            self._deadline = time.monotonic() + limits.wall_s if limits else None
            if limits:
                self._memory_bytes = max(limits.memory_bytes, self._heavy_bytes)

    def _grow_heavy(self, limits: Limits | None) -> None:
        """Expect more memory from now on, and measure growth from where that ends."""
        with self._life:
            if limits and not self._heavy_bytes:
                self._heavy_bytes = limits.memory_bytes
                self._settled_rss, self._settled_after = 0, self.served + 1

    def _read(self, parts: list[Part], size: int, *, limit: int) -> tuple[Frame, int]:
        try:
            read = read_frame(cast(BinaryIO, self._process.stdout), max_bytes=limit - size)
        except FrameTooBig as error:
            failure = WorkerFailure(FailureKind.TOO_BIG, "it holds more text than is taken")
            raise self._died(failure, parts, size) from error
        except (FrameError, OSError, ValueError) as error:
            raise self._died(WorkerFailure(FailureKind.CRASHED, str(error)), parts, size) from error
        if read is None:
            raise self._died(None, parts, size)
        return read

    def _died(self, failure: WorkerFailure | None, parts: list[Part], size: int) -> WorkerDied:
        """Make sure that it is dead, and find out why."""
        with self._life:
            self._kill(failure)
        code = self._wait()
        verdict = self._verdict or _read_exit(code, self.last_words()[:200])
        return WorkerDied(Outcome(parts, verdict, size))

    def _wait(self) -> int | None:
        try:
            return self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:  # the system cannot end it now, and we cannot do more
            return None

    def _kill(self, verdict: WorkerFailure | None) -> None:
        self._verdict = self._verdict or verdict
        if self._process.returncode is not None:  # the number may belong to another process by now
            return
        try:
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)  # its own children, too
            else:
                self._process.kill()
        except (ProcessLookupError, PermissionError):  # it has ended by itself
            pass

    def last_words(self) -> str:
        """The last line that it wrote, cut at `MAX_WORDS`; empty when there is none, or it was closed."""
        if self._log.closed:
            return ""
        size = os.fstat(self._log.fileno()).st_size
        self._log.seek(max(0, size - LOG_TAIL_BYTES))
        lines = self._log.read(LOG_TAIL_BYTES).decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:MAX_WORDS] if lines else ""


def request_frame(body: Mapping[str, object], payload: bytes, limits: Limits) -> bytes:
    """Write a request."""
    slow = limits.slow or limits
    return encode(FrameKind.REQUEST, {"cpu_s": [limits.cpu_s, slow.cpu_s], "body": body}, payload)


def _told(frame: Frame) -> WorkerFailure:
    if frame.kind is not FrameKind.FAILED:
        return WorkerFailure(FailureKind.CRASHED, "it answered out of turn")
    name, detail = str(frame.message.get("error")), str(frame.message.get("detail"))
    kind = FailureKind.TOO_BIG if name == "MemoryError" else FailureKind.CRASHED
    if kind is FailureKind.TOO_BIG:
        return WorkerFailure(kind, "there was not enough memory")
    if name == "Exhausted":  # by what came before, perhaps
        return WorkerFailure(FailureKind.ENDED, "its process could open no more files")
    said = " ".join(detail.split())
    return WorkerFailure(kind, f"its process broke down{f' (“{said}”)' if said else ''}"[:300])


def _read_exit(code: int | None, last_words: str) -> WorkerFailure:
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        if name == "SIGXCPU":
            return WorkerFailure(FailureKind.TIMEOUT, "it took too much processor time")
        if name == "SIGKILL":
            return WorkerFailure(FailureKind.ENDED, "the reader was ended from outside, maybe for want of memory")
        return WorkerFailure(FailureKind.CRASHED, f"the reader was ended by {name}")
    return WorkerFailure(FailureKind.CRASHED, f"the reader ended unexpectedly: {last_words}".removesuffix(": "))


def _signal_group(pid: int, name: str) -> None:
    """Send a signal to a worker and all it started; elsewhere than on POSIX there are none, and it goes on."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended by itself
            os.killpg(pid, getattr(signal, name))


def _resident_bytes(pid: int) -> int:
    import psutil  # waits for the first worker

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
