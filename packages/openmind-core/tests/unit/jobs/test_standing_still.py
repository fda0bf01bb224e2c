"""Workers that stand still while a run rests."""

import os
import sys
import time
from pathlib import Path

import pytest
from openmind.adapters.worker_jobs import Job, Limits, WorkerPlan
from openmind.adapters.worker_pool import WorkerPool

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are stopped by signals")


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parent)])
    pool = WorkerPool(plan=WorkerPlan(target="ticking_target:ticking", folder=tmp_path), size=1)
    yield pool
    pool.close()


def ticks(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


def job(path: Path) -> Job:
    """Tick until there is a file of that name that ends in `.enough`."""
    return Job(message={"path": str(path)}, limits=Limits(wall_s=300, cpu_s=60))


def enough(path: Path) -> None:
    path.with_suffix(".enough").touch()


def test_a_worker_stands_still_and_goes_on_where_it_was(pool: WorkerPool, tmp_path: Path) -> None:
    path = tmp_path / "ticks"
    seen: list[tuple[int, int]] = []

    def rest_once() -> None:
        if not seen and ticks(path) >= 3:
            with pool.standing_still():
                time.sleep(0.2)  # a tick may be under way
                before = ticks(path)
                time.sleep(0.5)
                seen.append((before, ticks(path)))
        elif seen and ticks(path) > seen[0][1]:
            enough(path)

    [outcome] = pool.run([job(path)], while_waiting=rest_once)

    assert outcome.failure is None
    [(before, after)] = seen
    assert before == after


def test_no_limit_of_time_runs_while_a_worker_stands_still(pool: WorkerPool, tmp_path: Path) -> None:
    path = tmp_path / "ticks"
    moved = []

    def rest_once() -> None:
        [worker] = [lane.worker for lane in pool._lanes if lane.worker]
        if ticks(path) and not moved:
            before = worker._deadline
            with pool.standing_still():
                worker._deadline -= 1_000  # as if it had been over for long
                time.sleep(0.3)
                worker.inspect()
                worker._deadline += 1_000
            moved.append(worker._deadline - before)
            enough(path)

    [outcome] = pool.run([job(path)], while_waiting=rest_once)

    assert outcome.failure is None
    assert moved[0] >= 0.3


def test_a_worker_that_stands_still_can_be_ended(pool: WorkerPool, tmp_path: Path) -> None:
    path = tmp_path / "ticks"

    def leave() -> None:
        if ticks(path):
            with pool.standing_still():
                raise InterruptedError

    with pytest.raises(InterruptedError):
        list(pool.run([job(path)], while_waiting=leave))


def test_nothing_is_begun_while_all_stand_still(pool: WorkerPool, tmp_path: Path) -> None:
    paths = [tmp_path / "first", tmp_path / "second"]
    seen = []

    def rest_once() -> None:
        if not seen and ticks(paths[0]):
            with pool.standing_still():
                for path in paths:
                    enough(path)
                time.sleep(0.5)
                seen.append(ticks(paths[1]))

    outcomes = list(pool.run([job(path) for path in paths], while_waiting=rest_once))

    assert seen == [0]
    assert [outcome.failure for outcome in outcomes] == [None, None]
    assert ticks(paths[1])
