"""What indexing in the background costs, and how soon it obeys: `python benchmarks/jobs.py CORPUS [--many CORPUS]`.

CORPUS is a folder of 40,000 text files of 3 kB, so that a job lasts long enough to be halted, MANY one of 50,000 small
ones, as `python benchmarks/corpus.py` writes them.
Figures are CPU seconds of whole processes, workers included, and ratios against a bare cyclopts command beside them;
only how soon a job obeys is told by the clock. The exit code is 1 when a bar is missed. Needs Linux: workers that
were left by whoever started them are adopted, so that their use of the processor can be read.
"""

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from attrs import define, frozen
from openmind import OpenMind, open_memory
from openmind.domain.jobs import IndexJob, JobState
from startup import BARE, heavy_modules

PR_SET_CHILD_SUBREAPER = 36
RUNS = 5
PAUSES = 5
WORKS_S = 1.0
"""How long a job is let work between two pauses."""
FULL_BATCH = 1_500
"""Files of 3 kB that a batch holds when it is about full."""
PATIENCE_S = 600
LOOKS = 20
"""How often status is asked for while many files are indexed."""
WATCHED_WORKER = """
import fcntl, os, sys, time
from contextlib import contextmanager
import openmind_stores.sqlite.locks as locks
taken, waits, inner = [], [0.0], locks._os_lock
def is_free(path):
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(number)
    return True
@contextmanager
def watched(path, timeout_s):
    free, began = is_free(path), time.perf_counter()
    with inner(path, timeout_s) as held:
        taken.append(path)
        if not free:
            waits.append(time.perf_counter() - began)
        yield held
locks._os_lock = watched
from openmind.worker import main
code = main(["--job-id", sys.argv[2]])
with open(sys.argv[1], "w") as file:
    print(len(taken), len(waits) - 1, max(waits), file=file)
sys.exit(code)
"""
RECOVERY = """
import sys, time
from openmind import open_memory
from openmind.application.recovering.recovery import Recovery
from openmind.application.recovering.sweeping import Sweeping
with open_memory(sys.argv[1]) as memory, memory.storage.index_lock():
    began = time.process_time()
    Recovery(catalog=memory.storage.catalog, chunks=memory.storage.chunks).recover()
    sweeping = Sweeping(catalog=memory.storage.catalog, chunks=memory.storage.chunks)
    sweeping.sweep(grace_s=0.0)
    sweeping.seal()
    print(time.process_time() - began)
"""


@define
class Bars:
    """Prints rows and remembers whether one missed its bar."""

    missed: bool = False

    def row(self, name: str, figure: float, unit: str, bar: float | None, more: str = "") -> None:
        late = bar is not None and figure > bar
        self.missed |= late
        told = f"≤ {bar:g} {unit}{' MISSED' if late else ''}" if bar is not None else ""
        print(f"| {name:<58} | {figure:8.3f} {unit:<4} | {told:<16} | {more}", flush=True)


@frozen
class Home:
    """A home, and the `openmind` command over it."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "OPENMIND_HOME": str(self.folder)}

    def run(self, *arguments: str) -> float:
        """CPU seconds of a command, without the worker it may leave behind."""
        return spent([sys.executable, "-m", "openmind_cli", *arguments], self.environment)

    def memory(self) -> "contextmanager[OpenMind]":
        return open_memory(self.folder)


def spent(command: list[str], environment: dict[str, str]) -> float:
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    told = process.stdout.read() if process.stdout else b""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command}: {told.decode(errors='replace')}")
    return used.ru_utime + used.ru_stime


def adopt(pid: int) -> float:
    """Wait for the end of a worker whose parent has gone; its CPU seconds."""
    _, _, used = os.wait4(pid, 0)
    return used.ru_utime + used.ru_stime


def await_job(memory: OpenMind, holds: Callable[[IndexJob], bool], *, every_s: float = 0.01) -> IndexJob:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        job = memory.jobs.current()
        assert job is not None
        if holds(job):
            return job
        if job.state.finished:
            sys.exit(
                f"The job ended ({job.state.value}) before it was measured: a larger CORPUS takes longer. {job.error}"
            )
        assert time.monotonic() < deadline, job
        time.sleep(every_s)


def fresh(scratch: Path, name: str, corpus: Path) -> Home:
    home = Home(scratch / name)
    home.run("source", "add", str(corpus))
    return home


def at_work(job: IndexJob) -> bool:
    return job.state is JobState.RUNNING and bool(job.current_file)


def cost(bars: Bars, scratch: Path, corpus: Path) -> None:
    """In the background against in the foreground."""
    foreground = fresh(scratch, "foreground", corpus).run("index")
    home = fresh(scratch, "background", corpus)
    home.run("index", "start")
    with home.memory() as memory:
        job = memory.jobs.current()
        assert job is not None
        assert job.process is not None
        background = adopt(job.process.pid)
    bars.row("index in the foreground, CPU", foreground, "s", None)
    bars.row("index in the background, CPU of the worker", background, "s", None)
    bars.row("background against foreground", background / foreground, "×", 1.1)


def starting(bars: Bars, scratch: Path, corpus: Path, bare: float) -> None:
    """What the command costs that leaves a worker behind."""
    home = fresh(scratch, "starting", corpus)
    figures = []
    for _ in range(RUNS):
        figures.append(home.run("index", "start"))
        with home.memory() as memory:
            job = memory.jobs.halt(within_s=60)
            assert job is not None
        if job.process is not None:
            adopt(job.process.pid)
    bars.row("index start, CPU", min(figures), "s", None, f"{min(figures):.3f} … {max(figures):.3f}")
    bars.row("index start against a bare command", min(figures) / bare, "×", 7)


def obeying(bars: Bars, scratch: Path, corpus: Path) -> None:
    """How soon a job pauses and stops while it indexes: by the clock, and what its processes compute until then."""
    home = fresh(scratch, "obeying", corpus)
    home.run("index", "start")
    pauses = []
    with home.memory() as memory:
        for _ in range(PAUSES):
            await_job(memory, at_work)
            time.sleep(WORKS_S)
            pauses.append(Effect.of(memory, memory.jobs.pause, JobState.PAUSED))
            memory.jobs.resume()
            await_job(memory, lambda job: job.state is JobState.RUNNING)
        job = await_job(memory, at_work)
        time.sleep(WORKS_S)
        stop = Effect.of(memory, memory.jobs.stop, JobState.STOPPED)
        assert job.process is not None
        adopt(job.process.pid)
    home = fresh(scratch, "obeying in a commit", corpus)
    home.run("index", "start")
    with home.memory() as memory:
        job = await_job(memory, lambda _: under_way(memory) >= FULL_BATCH)
        midst = Effect.of(memory, memory.jobs.pause, JobState.PAUSED)
        memory.jobs.resume()
        await_job(memory, lambda _: not under_way(memory))
        await_job(memory, lambda _: under_way(memory) >= FULL_BATCH)
        left = Effect.of(memory, memory.jobs.stop, JobState.STOPPED)
        assert job.process is not None
        adopt(job.process.pid)
    slowest = max(pauses, key=lambda effect: effect.cpu_s)
    bars.row("pause takes effect, slowest of five, by the clock", slowest.seconds, "s", 1, f"{slowest.cpu_s:.2f} s CPU")
    bars.row("stop takes effect, by the clock", stop.seconds, "s", 1, f"{stop.cpu_s:.2f} s CPU")
    bars.row("pause takes effect while a full batch is committed", midst.seconds, "s", 1, f"{midst.cpu_s:.2f} s CPU")
    bars.row("stop takes effect while a full batch is committed", left.seconds, "s", 1, f"{left.cpu_s:.2f} s CPU")


@frozen
class Effect:
    """What passes between a wish and its fulfilment."""

    seconds: float
    cpu_s: float
    """Of the worker and its helpers; on a machine that has nothing else to do, the clock shows hardly more."""

    @classmethod
    def of(cls, memory: OpenMind, ask: Callable[[], IndexJob], wanted: JobState) -> "Effect":
        job = memory.jobs.current()
        assert job is not None
        assert job.process is not None
        worker = psutil.Process(job.process.pid)
        used, began = cpu_of(worker), time.monotonic()
        ask()
        await_job(memory, lambda job: job.state is wanted, every_s=0.005)
        return cls(time.monotonic() - began, cpu_of(worker) - used)


def cpu_of(worker: psutil.Process) -> float:
    own = worker.cpu_times()
    total = own.user + own.system + own.children_user + own.children_system
    with suppress(psutil.Error):
        for helper in worker.children(recursive=True):
            times = helper.cpu_times()
            total += times.user + times.system
    return total


def looking(bars: Bars, scratch: Path, many: Path, bare: float) -> Home:
    """Status while many files are indexed, and what the worker notices of it."""
    home = fresh(scratch, "many", many)
    with home.memory() as memory, watched(memory, home, scratch / "waits") as worker:
        await_job(memory, at_work)
        figures: dict[str, list[float]] = {"status": [], "index status --once": []}
        for _ in range(LOOKS):
            for command, spends in figures.items():
                spends.append(home.run(*command.split()))
        assert not await_job(memory, lambda _: True).state.finished, "the run was over before status was"
        for command, spends in figures.items():
            heavy = heavy_modules(command.split(), home.environment, scratch)
            bars.row(
                f"{command} against a bare command", min(spends) / bare, "×", 4, f"heavy: {', '.join(heavy) or 'none'}"
            )
            bars.missed |= bool(heavy)
        worker.wait()
    taken, waits, longest = (scratch / "waits").read_text().split()
    bars.row(
        "longest wait of the worker for a lock",
        float(longest) * 1000,
        "ms",
        50,
        f"{waits} of {taken} locks were not free",
    )
    return home


@contextmanager
def watched(memory: OpenMind, home: Home, waits: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A job whose worker writes down how long it waited for locks."""
    launched: list[subprocess.Popen[bytes]] = []

    class Launcher:
        def launch(self, job_id):
            from openmind.adapters.processes import mark_of

            command = [sys.executable, "-c", WATCHED_WORKER, str(waits), job_id]
            launched.append(subprocess.Popen(command, env=home.environment, stdout=subprocess.DEVNULL))
            return mark_of(launched[0].pid)

    import attrs

    attrs.evolve(memory.jobs, launcher=Launcher()).start()
    yield launched[0]
    assert launched[0].wait() == 0


def recovering(bars: Bars, home: Home, many: Path) -> None:
    """What the next run does first after a worker was killed in the midst of its work."""
    changed = sorted(path for path in many.rglob("*") if path.is_file())[::100]
    figures = []
    for round_ in range(3):
        for path in changed:
            path.write_text(f"{path.read_text()}\nround {round_} word{round_}x{path.stem}\n")
        home.run("index", "start")
        with home.memory() as memory:
            job = await_job(memory, lambda job: job.process is not None and begun(memory), every_s=0.002)
            assert job.process is not None
            os.kill(job.process.pid, signal.SIGKILL)
            adopt(job.process.pid)
        ran = subprocess.run(
            [sys.executable, "-c", RECOVERY, str(home.folder)], capture_output=True, check=True, text=True
        )
        figures.append(float(ran.stdout))
    bars.row(
        "recovery after kill -9, with loading the engine, CPU",
        max(figures),
        "s",
        2,
        str([round(f, 2) for f in figures]),
    )


def begun(memory: OpenMind) -> bool:
    return under_way(memory) > 0


def under_way(memory: OpenMind) -> int:
    """How many files are being committed at this moment."""
    with memory.storage.catalog.reading() as snapshot:
        return len(snapshot.intents())


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--many", type=Path, help="a folder of 50,000 files; one in a hundred is changed")
    parser.add_argument("--only", choices=("cost", "starting", "obeying", "many"))
    options = parser.parse_args()
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        sys.exit("workers cannot be adopted here")
    bars = Bars()
    with tempfile.TemporaryDirectory(prefix="openmind-jobs-") as name:
        scratch = Path(name)
        bare = min(spent([sys.executable, "-c", BARE, "--help"], dict(os.environ)) for _ in range(RUNS))
        bars.row("bare cyclopts command, CPU", bare, "s", None)
        wanted = lambda part: options.only in {None, part}  # noqa: E731
        if wanted("cost"):
            cost(bars, scratch, options.corpus)
        if wanted("starting"):
            starting(bars, scratch, options.corpus, bare)
        if wanted("obeying"):
            obeying(bars, scratch, options.corpus)
        if wanted("many") and options.many is not None:
            recovering(bars, looking(bars, scratch, options.many, bare), options.many)
    return int(bars.missed)


if __name__ == "__main__":
    sys.exit(main())
