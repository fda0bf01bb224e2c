import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import psutil
import pytest
from attrs import evolve
from openmind.adapters.framing import FrameError, FrameKind, FrameTooBig, encode, read_frame
from openmind.adapters.job_queue import JobQueue
from openmind.adapters.spawning import PIPE_BYTES, environment
from openmind.adapters.worker_jobs import MEGABYTE, FailureKind, Job, Limits, Outcome, Part, WorkerPlan
from openmind.adapters.worker_pool import WorkerPool
from openmind.adapters.worker_process import PART_BYTES
from openmind.application.lookout import BLOCKED_VARIABLE
from openmind.domain.errors import WorkersUnavailable

HERE = Path(__file__).parent
TIGHT = Limits(wall_s=120, cpu_s=60, memory_bytes=300 * MEGABYTE, output_bytes=8 * MEGABYTE)

MakePool = Callable[..., WorkerPool]


@pytest.fixture
def make_pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakePool]:
    monkeypatch.setattr(sys, "path", [*sys.path, str(HERE)])
    made: list[WorkerPool] = []

    def make(*, size: int = 1, target: str = "worker_targets:obedient", **options: Any) -> WorkerPool:
        plan_options = {name: options.pop(name) for name in list(options) if hasattr(WorkerPlan, name)}
        plan = WorkerPlan(target=target, folder=tmp_path, **plan_options)
        made.append(WorkerPool(plan=plan, size=size, **options))
        return made[-1]

    yield make
    for pool in made:
        pool.close()
    assert list(tmp_path.glob("worker-*")) == []


@pytest.fixture
def pool(make_pool: MakePool) -> WorkerPool:
    return make_pool()


def job(do: str, payload: bytes = b"", /, *, limits: Limits = TIGHT, **more: object) -> Job:
    return Job(message={"do": do, **more}, payload=payload, limits=limits)


def one(pool: WorkerPool, do: str, *, limits: Limits = TIGHT, **more: object) -> Outcome:
    [outcome] = pool.run([job(do, limits=limits, **more)])
    return outcome


def kind(outcome: Outcome) -> FailureKind | None:
    return outcome.failure.kind if outcome.failure else None


def pid_of(pool: WorkerPool) -> int:
    pid = one(pool, "say setup").parts[0].message["pid"]
    assert isinstance(pid, int)
    return pid


def is_gone(pid: int, *, within_s: float = 60) -> bool:
    """Whether a process comes to an end; what these tests end would go on for longer than that by itself."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


class Heard:
    """Hears the number of a process while the job that told it is under way."""

    def __init__(self) -> None:
        self._told: SimpleQueue[object] = SimpleQueue()

    def __call__(self, part: Part) -> bool:
        self._told.put(part.message["pid"])
        return False

    def pid(self) -> int:
        pid = self._told.get(timeout=60)
        assert isinstance(pid, int)
        return pid

    def and_leave(self) -> None:
        if not self._told.empty():
            raise LookupError("that is all")


def assert_still_works(pool: WorkerPool) -> None:
    assert one(pool, "echo", n=1).parts[0].message == {"do": "echo", "n": 1}


# What comes back.


def test_a_reply_brings_objects_and_bytes_back(pool: WorkerPool) -> None:
    text = "Straße 東京 😀 \ud800 \x00"

    [outcome] = pool.run([job("echo", b"\x00\xff" * 100_000, text=text)])

    assert outcome.failure is None
    assert outcome.parts[0].message["text"] == text
    assert outcome.parts[0].payload == b"\x00\xff" * 100_000


def test_results_come_in_the_order_of_the_jobs_whoever_is_faster(make_pool: MakePool) -> None:
    jobs = [job("sleep", seconds=0.3), *(job("echo", n=n) for n in range(200))]

    outcomes = list(make_pool(size=2).run(jobs))

    assert outcomes[0].parts[0].message == {"slept": True}
    assert [outcome.parts[0].message["n"] for outcome in outcomes[1:]] == list(range(200))


def test_two_workers_work_at_the_same_time(make_pool: MakePool, tmp_path: Path) -> None:
    (tmp_path / "meeting").mkdir()

    outcomes = list(make_pool(size=2).run([job("meet", folder=str(tmp_path / "meeting"), number=2)] * 2))

    assert [kind(outcome) for outcome in outcomes] == [None, None]


def test_a_few_jobs_start_few_workers(make_pool: MakePool) -> None:
    pool = make_pool(size=4, backlog=10)

    outcomes = list(pool.run([job("say setup")] * 8))

    assert len({outcome.parts[0].message["pid"] for outcome in outcomes}) == 1


def test_no_jobs_start_no_worker(pool: WorkerPool, tmp_path: Path) -> None:
    assert list(pool.run([])) == []
    assert list(tmp_path.iterdir()) == []


def test_a_worker_is_used_again_by_the_next_run(pool: WorkerPool) -> None:
    assert pid_of(pool) == pid_of(pool)


def test_the_setup_reaches_the_target(make_pool: MakePool) -> None:
    assert one(make_pool(setup={"a": [1, "ü"]}), "say setup").parts[0].message["setup"] == {"a": [1, "ü"]}


def test_jobs_are_read_only_as_far_ahead_as_the_bound(make_pool: MakePool) -> None:
    read = 0

    def jobs() -> Iterator[Job]:
        nonlocal read
        for n in range(500):
            read += 1
            yield job("echo", n=n)

    outcomes = make_pool(queue=JobQueue(max_jobs=10)).run(jobs())

    for n in range(400):
        next(outcomes)
        assert read <= n + 11
    outcomes.close()


def test_results_that_nobody_takes_hold_the_workers_back(make_pool: MakePool) -> None:
    pool = make_pool(queue=JobQueue(max_bytes=1 * MEGABYTE))
    big = [Job(message={"do": "echo"}, payload=bytes(400_000), limits=TIGHT, weight=1) for _ in range(40)]
    outcomes = pool.run(big)
    next(outcomes)
    time.sleep(0.5)

    held = sum(outcome.size for outcome in pool.queue._done.values())

    assert held < 2 * MEGABYTE
    assert len(list(outcomes)) == 39


def test_requests_and_replies_larger_than_any_pipe_never_wait_for_each_other(make_pool: MakePool) -> None:
    beyond_pipes = bytes(2 * PIPE_BYTES)
    pool = make_pool(size=2)

    outcomes = list(pool.run(job("echo", beyond_pipes, n=n) for n in range(24)))

    assert [outcome.parts[0].message["n"] for outcome in outcomes] == list(range(24))
    assert all(len(outcome.parts[0].payload) == len(beyond_pipes) for outcome in outcomes)


def test_a_worker_that_reads_nothing_more_is_ended_at_once(make_pool: MakePool) -> None:
    pool = make_pool()
    outcomes = pool.run([job("say setup"), job("sleep", seconds=600), *[job("echo", bytes(2 * PIPE_BYTES))] * 8])
    pid = next(outcomes).parts[0].message["pid"]
    assert isinstance(pid, int)

    pool.close()

    assert is_gone(pid, within_s=60)
    assert not [thread for thread in threading.enumerate() if "_write" in thread.name]


def test_a_caller_that_waits_is_asked_whether_it_still_wants_to(pool: WorkerPool) -> None:
    def lose_patience() -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        next(pool.run([job("sleep", seconds=60)], while_waiting=lose_patience))

    assert_still_works(pool)


def test_what_is_given_up_while_its_worker_starts_is_never_begun(make_pool: MakePool, tmp_path: Path) -> None:
    ready, traces = tmp_path / "ready", tmp_path / "traces"
    traces.mkdir()
    pool = make_pool(target="worker_targets:late", setup={"until": str(ready)})

    def lose_patience() -> None:
        if pool._lanes[0].worker:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        next(pool.run([job("meet", folder=str(traces), number=1)], while_waiting=lose_patience))
    ready.touch()

    assert_still_works(pool)
    assert list(traces.iterdir()) == []


def test_an_error_of_the_callers_own_iterator_comes_through(pool: WorkerPool) -> None:
    def jobs() -> Iterator[Job]:
        yield job("echo", n=1)
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        list(pool.run(jobs()))

    assert_still_works(pool)


# What a worker may do wrong.


def test_a_native_crash_ends_one_job_and_keeps_what_came_before(pool: WorkerPool) -> None:
    outcome, good = pool.run([job("abort"), job("echo", n=1)])

    assert kind(outcome) is FailureKind.CRASHED
    assert outcome.failure is not None
    assert "SIGABRT" in outcome.failure.detail
    assert [part.message["page"] for part in outcome.parts] == [1, 2]
    assert good.parts[0].message["n"] == 1


def test_only_the_current_job_is_lost_when_others_wait_in_the_pipe(make_pool: MakePool) -> None:
    jobs = [job("abort") if n % 7 == 3 else job("echo", n=n) for n in range(40)]

    outcomes = list(make_pool(size=2).run(jobs))

    for n, outcome in enumerate(outcomes):
        if n % 7 == 3:
            assert kind(outcome) is FailureKind.CRASHED
        else:
            assert outcome.parts[0].message["n"] == n


def test_a_loop_ends_at_the_limit_of_processor_time(pool: WorkerPool) -> None:
    outcome = one(pool, "loop", limits=evolve(TIGHT, wall_s=600, cpu_s=1))

    assert kind(outcome) is FailureKind.TIMEOUT
    assert len(outcome.parts) == 1
    assert_still_works(pool)


def test_waiting_ends_at_the_limit_of_time(pool: WorkerPool) -> None:
    outcome = one(pool, "sleep", seconds=60, limits=evolve(TIGHT, wall_s=0.5))

    assert kind(outcome) is FailureKind.TIMEOUT
    assert_still_works(pool)


def test_growing_memory_ends_at_its_limit(pool: WorkerPool) -> None:
    outcome = one(pool, "swell", limits=evolve(TIGHT, memory_bytes=150 * MEGABYTE))

    assert kind(outcome) is FailureKind.TOO_BIG
    assert outcome.failure is not None
    assert "150 MB" in outcome.failure.detail
    assert_still_works(pool)


def test_a_sudden_demand_for_memory_is_refused_by_the_system(make_pool: MakePool) -> None:
    pool = make_pool(address_space=2_000 * MEGABYTE)

    assert kind(one(pool, "allocate", bytes=8_000 * MEGABYTE)) is FailureKind.TOO_BIG
    assert one(pool, "allocate", bytes=1_000).failure is None


def test_running_out_of_memory_is_too_big(pool: WorkerPool) -> None:
    assert kind(one(pool, "run out")) is FailureKind.TOO_BIG
    assert_still_works(pool)


@pytest.mark.parametrize("way", ["flood", "crumbs"])
def test_a_flood_of_output_ends_at_its_limit(pool: WorkerPool, way: str) -> None:
    outcome = one(pool, way)

    assert kind(outcome) is FailureKind.TOO_BIG
    assert outcome.size <= TIGHT.output_bytes + PART_BYTES
    assert_still_works(pool)


def test_a_flood_of_messages_ends(pool: WorkerPool) -> None:
    outcome = one(pool, "chatter", limits=evolve(TIGHT, output_bytes=500 * MEGABYTE))

    assert kind(outcome) is FailureKind.CRASHED
    assert_still_works(pool)


def test_what_libraries_print_harms_nothing_and_there_is_nothing_to_read(pool: WorkerPool) -> None:
    assert one(pool, "print").parts[0].message == {"read": ""}


def test_garbage_in_the_pipe_is_a_crash(pool: WorkerPool) -> None:
    assert kind(one(pool, "garbage")) is FailureKind.CRASHED
    assert_still_works(pool)


def test_half_a_frame_is_a_crash(pool: WorkerPool) -> None:
    outcome = one(pool, "half a frame")

    assert kind(outcome) is FailureKind.CRASHED
    assert [part.message for part in outcome.parts] == [{"page": 1}]
    assert_still_works(pool)


def test_the_last_words_are_told(pool: WorkerPool) -> None:
    outcome = one(pool, "last words")

    assert outcome.failure is not None
    assert outcome.failure.detail.endswith("libfoo: bad page")


def test_what_hangs_before_a_worker_is_ready_is_told_in_its_words(make_pool: MakePool) -> None:
    pool = make_pool(target="worker_targets:hanging_setup")

    def let_time_pass() -> None:
        """Let the time of a worker be over as soon as it said something."""
        for lane in pool._lanes:
            if lane.worker and lane.worker.last_words():
                lane.worker._deadline = 0.0

    with pytest.raises(WorkersUnavailable) as caught:
        list(pool.run([job("echo")], while_waiting=let_time_pass))

    assert "it took too long (“the plugin “acme” is waited for”)" in caught.value.message


def test_what_a_person_leaves_out_is_left_out_by_workers_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BLOCKED_VARIABLE, "acme")

    assert environment(tmp_path)[BLOCKED_VARIABLE] == "acme"


def test_an_exception_is_told_and_the_worker_replaced(pool: WorkerPool) -> None:
    before = pid_of(pool)

    outcome = one(pool, "raise")

    assert outcome.failure is not None
    assert outcome.failure.detail == "its process broke down (“what is this?”)"
    assert len(outcome.parts) == 1
    assert pid_of(pool) != before


def test_a_worker_that_somebody_else_ends_is_replaced(pool: WorkerPool) -> None:
    assert kind(one(pool, "terminate")) is FailureKind.CRASHED
    assert_still_works(pool)


def test_a_worker_that_ended_between_two_runs_is_replaced(pool: WorkerPool) -> None:
    pid = pid_of(pool)
    os.kill(pid, signal.SIGKILL)
    assert is_gone(pid)

    assert_still_works(pool)


def test_what_is_slow_by_nature_has_other_limits_for_each_part(pool: WorkerPool, tmp_path: Path) -> None:
    limits = evolve(TIGHT, slow=Limits(wall_s=1_000))
    seen = []

    def look() -> None:
        """See after how many seconds the worker would be ended, and let it go on once these are the slow ones."""
        if lanes := [lane for lane in pool._lanes if lane.worker and lane.worker._deadline]:
            seen.append(lanes[0].worker._deadline - time.monotonic())
        if seen and seen[-1] > TIGHT.wall_s:
            (tmp_path / "seen").touch()

    [patient] = pool.run([job("ocr", pages=3, until=str(tmp_path / "seen"), limits=limits)], while_waiting=look)
    stuck = one(pool, "ocr", pages=3, until="/never", limits=evolve(limits, slow=Limits(wall_s=0.5)))

    assert [part.message["page"] for part in patient.parts] == [0, 1, 2]
    assert kind(stuck) is FailureKind.TIMEOUT


# Coming and going.


def test_a_worker_is_replaced_after_so_many_jobs(make_pool: MakePool) -> None:
    pool = make_pool(recycle_after=3)

    pids = [outcome.parts[0].message["pid"] for outcome in pool.run([job("say setup")] * 9)]

    assert len(set(pids)) == 3
    assert pids == sorted(pids, key=pids.index)


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("worker_targets:broken_setup", "no such thing here"),
        ("worker_targets:nothing", "nothing"),
        ("no_such_module:x", "no_such_module"),
    ],
)
def test_a_setup_that_fails_is_an_error_that_says_why(make_pool: MakePool, target: str, why: str) -> None:
    with pytest.raises(WorkersUnavailable) as caught:
        one(make_pool(target=target), "echo")

    assert why in caught.value.message
    assert caught.value.hint


def test_ending_a_run_early_ends_what_is_under_way_at_once(pool: WorkerPool) -> None:
    heard = Heard()
    loop = evolve(job("loop", limits=evolve(TIGHT, wall_s=600, cpu_s=600)), heard=heard)
    outcomes = pool.run([job("echo", n=1), loop])
    next(outcomes)
    pid = heard.pid()

    outcomes.close()

    assert is_gone(pid)
    assert_still_works(pool)


def test_results_of_a_run_that_was_given_up_never_reach_the_next_one(make_pool: MakePool) -> None:
    pool = make_pool(size=2)
    for round_ in range(20):
        outcomes = pool.run([job("echo", n=(round_, n)) for n in range(50)])
        for n in range(round_):
            assert next(outcomes).parts[0].message["n"] == [round_, n]
        outcomes.close()


def test_closing_ends_all_workers_at_once(pool: WorkerPool) -> None:
    outcomes = pool.run([job("say setup"), job("sleep", seconds=60)])
    pid = next(outcomes).parts[0].message["pid"]
    assert isinstance(pid, int)

    pool.close()
    pool.close()

    assert is_gone(pid)
    with pytest.raises(WorkersUnavailable):
        next(outcomes)
    with pytest.raises(WorkersUnavailable):
        one(pool, "echo")


def test_closing_from_another_thread_wakes_the_caller(pool: WorkerPool) -> None:
    timer = threading.Timer(0.5, pool.close)
    timer.start()

    with pytest.raises(WorkersUnavailable):
        one(pool, "sleep", seconds=60)

    timer.join()


def test_the_children_of_a_worker_end_with_it(pool: WorkerPool) -> None:
    heard = Heard()

    with pytest.raises(LookupError):
        list(pool.run([evolve(job("leave a child"), heard=heard)], while_waiting=heard.and_leave))

    assert is_gone(heard.pid())


def test_a_copy_that_a_library_forks_answers_nothing(pool: WorkerPool) -> None:
    forked, echoed = pool.run([job("fork"), job("echo", b"mine")])

    assert [part.message for part in forked.parts] == [{"is_copy": False}]
    assert [part.payload for part in echoed.parts] == [b"mine"]


PARENT = """
import sys
from openmind.adapters.job_queue import JobQueue
from openmind.adapters.worker_jobs import Job, WorkerPlan
from openmind.adapters.worker_pool import WorkerPool

pool = WorkerPool(plan=WorkerPlan(target="worker_targets:obedient"), size=1)
[outcome] = pool.run([Job(message={"do": "say setup"})])
print(outcome.parts[0].message["pid"], flush=True)
list(pool.run([Job(message={"do": sys.argv[1], "seconds": 600})]))
"""


@pytest.fixture
def parent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    environment = {**os.environ, "PYTHONPATH": str(HERE), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", PARENT, request.param]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())
        process.kill()


@pytest.mark.parametrize("parent", ["loop", "sleep"], indirect=True)
def test_no_worker_outlives_a_parent_that_was_killed(parent: tuple[subprocess.Popen[str], int]) -> None:
    process, worker = parent
    time.sleep(0.2)

    process.kill()
    process.wait()

    assert is_gone(worker)


@pytest.mark.parametrize("parent", ["sleep"], indirect=True)
def test_ctrl_c_ends_the_parent_and_its_workers_within_a_second_or_two(
    parent: tuple[subprocess.Popen[str], int],
) -> None:
    process, worker = parent
    time.sleep(0.2)

    process.send_signal(signal.SIGINT)

    assert process.wait(timeout=60) != 0
    assert is_gone(worker)


# What a worker gets to see.


def test_the_environment_holds_no_secret_and_leads_to_no_home(
    pool: WorkerPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENMIND_API_TOKEN", "LM_API_TOKEN", "AWS_SECRET_ACCESS_KEY", "OPENMIND_HOME", "PYTHONPATH"):
        monkeypatch.setenv(name, "/secret")

    message = one(pool, "say setup").parts[0].message

    environment, folder = message["environment"], message["folder"]
    assert isinstance(environment, dict)
    assert "/secret" not in environment.values()
    assert environment["OMP_NUM_THREADS"] == "1"
    assert environment["HOME"] == environment["TMPDIR"] == folder
    assert Path(str(folder)).parent == tmp_path
    assert Path(str(folder)).stat().st_mode & 0o077 == 0


# Frames.


def test_a_frame_survives_its_way(tmp_path: Path) -> None:
    (tmp_path / "frames").write_bytes(encode(FrameKind.PART, {"a": "ü\ud800"}, b"\x00\n") + encode(FrameKind.END, {}))

    with (tmp_path / "frames").open("rb") as file:
        first, second = read_frame(file, max_bytes=100), read_frame(file, max_bytes=100)
        assert read_frame(file, max_bytes=100) is None

    assert first is not None
    assert second is not None
    assert (first[0].kind, first[0].message, first[0].payload) == (FrameKind.PART, {"a": "ü\ud800"}, b"\x00\n")
    assert second[0].kind is FrameKind.END


@pytest.mark.parametrize(
    "data",
    [
        b"hello, world",
        encode(FrameKind.PART, {"a": 1})[:-1],
        encode(FrameKind.PART, {"a": 1})[:5],
        b"P\x00\x00\x00\x02\x00\x00\x00\x00[]",
        b"P\x00\x00\x00\x02\x00\x00\x00\x00{]",
        b"P\x00\x00\x27\x10\x00\x00\x00\x00" + b"[" * 10_000,
    ],
)
def test_what_is_no_frame_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "frames").write_bytes(data)

    with (tmp_path / "frames").open("rb") as file, pytest.raises(FrameError):
        read_frame(file, max_bytes=100_000)


def test_a_frame_that_is_too_big_is_refused_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "frames").write_bytes(b"P\xff\xff\xff\xff\xff\xff\xff\xff")

    with (tmp_path / "frames").open("rb") as file, pytest.raises(FrameTooBig):
        read_frame(file, max_bytes=1_000)
