"""Workers that stand still while a run rests."""

import os
import sys
import time
from pathlib import Path

import pytest
from openmind.adapters.worker_jobs import FailureKind, Job, Limits, WorkerPlan
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


def job(path: Path, *, seconds: float, limits: Limits) -> Job:
    return Job(message={"path": str(path), "seconds": seconds}, limits=limits)


def test_a_worker_stands_still_and_goes_on_where_it_was(pool: WorkerPool, tmp_path: Path) -> None:
    path = tmp_path / "ticks"
    seen = []

    def rest_once() -> None:
        if not seen and ticks(path) >= 3:
            with pool.standing_still():
                time.sleep(0.2)  # a tick may be under way
                before = ticks(path)
                time.sleep(1.0)
                seen.append((before, ticks(path)))

    [outcome] = pool.run([job(path, seconds=1.0, limits=Limits(wall_s=60, cpu_s=20))], while_waiting=rest_once)

    assert outcome.failure is None
    [(before, after)] = seen
    assert before == after
    assert ticks(path) > after


def test_no_limit_of_time_runs_while_a_worker_stands_still(pool: WorkerPool, tmp_path: Path) -> None:
    path = tmp_path / "ticks"
    rested = []

    def rest_once() -> None:
        if not rested and ticks(path):
            rested.append(True)
            with pool.standing_still():
                time.sleep(4.5)

    [outcome] = pool.run([job(path, seconds=1.0, limits=Limits(wall_s=4, cpu_s=20))], while_waiting=rest_once)

    assert rested
    assert outcome.failure is None


def test_a_worker_that_stands_still_can_be_ended(pool: WorkerPool, tmp_path: Path) -> None:
    path = tmp_path / "ticks"

    def leave() -> None:
        if ticks(path):
            with pool.standing_still():
                raise InterruptedError

    with pytest.raises(InterruptedError):
        list(pool.run([job(path, seconds=60, limits=Limits(wall_s=90, cpu_s=20))], while_waiting=leave))


def test_nothing_is_begun_while_all_stand_still(pool: WorkerPool, tmp_path: Path) -> None:
    paths = [tmp_path / "first", tmp_path / "second"]
    seen = []

    def rest_once() -> None:
        if not seen and ticks(paths[0]):
            with pool.standing_still():
                time.sleep(1.0)
                seen.append(ticks(paths[1]))

    jobs = [job(path, seconds=0.5, limits=Limits(wall_s=60, cpu_s=20)) for path in paths]
    outcomes = list(pool.run(jobs, while_waiting=rest_once))

    assert seen == [0]
    assert [outcome.failure for outcome in outcomes] == [None, None]
    assert FailureKind.TIMEOUT not in {outcome.failure for outcome in outcomes}
