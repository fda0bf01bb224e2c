"""The promises of `JobLauncher`."""

import os
from collections.abc import Sequence
from typing import Protocol

import pytest
from attrs import frozen

from openmind.domain.errors import JobError
from openmind.domain.ids import JobId
from openmind.domain.jobs import ProcessMark
from openmind.ports.job_launcher import JobLauncher

ONE, OTHER = JobId("job_000000000001"), JobId("job_000000000002")


@frozen
class Started:
    """A worker that runs."""

    pid: int
    job_id: JobId | None
    """None when it was told to sweep."""


class LaunchWorld(Protocol):
    """Somewhere to launch workers, which then go on until the test is over."""

    @property
    def launcher(self) -> JobLauncher: ...

    @property
    def broken(self) -> JobLauncher:
        """A launcher that cannot start anything."""
        ...

    def started(self, number: int) -> Sequence[Started]:
        """Tell the workers in any order, after so many have begun."""
        ...

    def is_alive(self, mark: ProcessMark) -> bool:
        """Whether the process of that mark runs."""
        ...


class WorkerWorld(LaunchWorld, Protocol):
    """The same with true processes, that print the id of their job on both of their streams before they begin."""

    def launch_elsewhere(self, job_id: JobId) -> ProcessMark:
        """Launch a job from a process of its own, and return when that has ended."""
        ...

    def log(self, job_id: JobId) -> str:
        """Read the log of a job."""
        ...


class LaunchPromises:
    """What a launcher promises that need not start true processes, as the one in `openmind.testing.fakes`."""

    def test_each_job_has_a_process_of_its_own_that_carries_it_out(self, world: LaunchWorld) -> None:
        marks = {job_id: world.launcher.launch(job_id) for job_id in (ONE, OTHER)}

        assert all(world.is_alive(mark) for mark in marks.values())
        told = {started.job_id: started.pid for started in world.started(2)}
        assert told == {job_id: mark.pid for job_id, mark in marks.items()}
        assert len(set(told.values())) == 2
        assert os.getpid() not in told.values()

    def test_a_sweep_is_a_process_without_a_job(self, world: LaunchWorld) -> None:
        world.launcher.launch_sweep()

        [swept] = world.started(1)
        assert swept.job_id is None

    def test_a_job_that_was_never_launched_has_no_last_words(self, world: LaunchWorld) -> None:
        assert world.launcher.last_words(ONE) == ""

    def test_what_cannot_be_started_is_an_error_that_says_so(self, world: LaunchWorld) -> None:
        with pytest.raises(JobError) as caught:
            world.broken.launch(ONE)
        assert caught.value.message
        with pytest.raises(JobError) as caught:
            world.broken.launch_sweep()
        assert caught.value.message


class JobLauncherContract(LaunchPromises):
    """Subclass and give a `world` fixture, a `WorkerWorld`; every promise is checked."""

    @pytest.fixture
    def workers(self, world: WorkerWorld) -> WorkerWorld:
        return world

    def test_workers_are_detached_from_whoever_started_them(self, workers: WorkerWorld) -> None:
        workers.launcher.launch(ONE)
        workers.launcher.launch_sweep()

        sessions = {os.getsid(started.pid) for started in workers.started(2)}

        assert len(sessions) == 2
        assert os.getsid(0) not in sessions

    def test_a_worker_outlives_the_process_that_started_it(self, workers: WorkerWorld) -> None:
        mark = workers.launch_elsewhere(ONE)

        assert [started.pid for started in workers.started(1)] == [mark.pid]
        assert workers.is_alive(mark)

    def test_all_that_a_worker_prints_is_in_a_log_of_its_own(self, workers: WorkerWorld) -> None:
        for job_id in (ONE, OTHER):
            workers.launcher.launch(job_id)
        workers.started(2)

        assert (workers.log(ONE).count(ONE), workers.log(ONE).count(OTHER)) == (2, 0)
        assert (workers.log(OTHER).count(OTHER), workers.log(OTHER).count(ONE)) == (2, 0)
