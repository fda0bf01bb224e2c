"""What the catalog promises about runs and jobs."""

import pytest
from attrs import evolve

from openmind.domain.ids import JobId, RunId
from openmind.domain.jobs import IndexJob, IndexRun, IndexTally, JobState, ProcessMark
from openmind.ports.catalog import Catalog

TALLY = IndexTally(
    indexed=1,
    already_indexed=2,
    skipped=3,
    failed=4,
    moved=5,
    removed=6,
    waiting_deletions=7,
    chunks=8,
    total=9,
    extracted=10,
    embedded=11,
    hashed=12,
)
PROCESS = ProcessMark(pid=4711, started_at=1_700_000_000.25, boot_id="boot")


def run(number: int) -> IndexRun:
    return IndexRun(id=RunId(f"run_{number}"), started_at=f"2026-01-0{number}T00:00:00+00:00")


def job(number: int) -> IndexJob:
    return IndexJob(id=JobId(f"job_{number}"), state=JobState.PENDING)


class RunPromises:
    """Runs and jobs."""

    def test_a_run_comes_back_as_it_was_saved(self, catalog: Catalog) -> None:
        full = IndexRun(
            id=RunId("run_9"),
            started_at="2026-01-02T03:04:05+00:00",
            finished_at="2026-01-02T03:05:05+00:00",
            state=JobState.STOPPED,
            process=PROCESS,
            heartbeat_at="2026-01-02T03:05:04+00:00",
            tally=TALLY,
            current_file="/home/ada/é.md",
            error="stopped",
            per_second=12.5,
            job_id=JobId("job_1"),
            progressed_at="2026-01-02T03:04:59+00:00",
        )
        with catalog.writing() as session:
            session.save_run(full)
            session.save_run(run(1))

        with catalog.reading() as snapshot:
            assert snapshot.run(full.id) == full
            assert snapshot.run(RunId("run_1")) == run(1)
            assert snapshot.run(RunId("nothing")) is None

    def test_the_run_that_began_last_comes_first(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            for number in (1, 2, 3):
                session.save_run(run(number))
            session.save_run(evolve(run(1), state=JobState.COMPLETED))

        with catalog.reading() as snapshot:
            assert [found.id for found in snapshot.runs()] == ["run_3", "run_2", "run_1"]
            assert [found.id for found in snapshot.runs(limit=1)] == ["run_3"]
            assert snapshot.runs()[-1].state is JobState.COMPLETED

    def test_a_job_comes_back_as_it_was_added(self, catalog: Catalog) -> None:
        full = IndexJob(
            id=JobId("job_9"),
            state=JobState.RUNNING,
            tally=TALLY,
            current_file="/home/ada/a.md",
            error="nothing yet",
            per_second=0.5,
            started_at="2026-01-02T03:04:05+00:00",
            completed_at="2026-01-02T03:04:07+00:00",
            updated_at="2026-01-02T03:04:06+00:00",
            process=PROCESS,
        )
        with catalog.writing() as session:
            session.add_job(full)

        with catalog.reading() as snapshot:
            assert snapshot.job(full.id) == full
            assert snapshot.job(JobId("nothing")) is None

    @pytest.mark.parametrize("state", JobState)
    def test_runs_and_jobs_may_be_in_any_state(self, catalog: Catalog, state: JobState) -> None:
        with catalog.writing() as session:
            session.add_job(evolve(job(1), state=state))
            session.save_run(evolve(run(1), state=state))

        with catalog.reading() as snapshot:
            found = snapshot.latest_job()
            assert found is not None
            assert found.state is state
            assert snapshot.runs()[0].state is state

    def test_the_latest_job_is_the_one_that_was_added_last(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            for number in (2, 3, 1):
                session.add_job(job(number))
            session.change_job(evolve(job(2), error="changed"), expected=JobState.PENDING)

        with catalog.reading() as snapshot:
            assert snapshot.latest_job() == job(1)

    def test_the_jobs_that_were_made_last_come_first(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            for number in (2, 3, 1):
                session.add_job(job(number))

        with catalog.reading() as snapshot:
            assert [found.id for found in snapshot.jobs()] == ["job_1", "job_3", "job_2"]
            assert snapshot.jobs(limit=1) == (job(1),)

    def test_a_job_is_changed_only_from_the_expected_state(self, catalog: Catalog) -> None:
        with catalog.writing() as session:
            session.add_job(job(1))

        running = evolve(job(1), state=JobState.RUNNING, tally=TALLY, process=PROCESS)
        with catalog.writing() as session:
            assert session.change_job(running, expected=JobState.PENDING)
            assert not session.change_job(evolve(running, state=JobState.STOPPED), expected=JobState.PENDING)
            assert not session.change_job(job(2), expected=JobState.PENDING)

        with catalog.reading() as snapshot:
            assert snapshot.job(running.id) == running
            assert snapshot.job(JobId("job_2")) is None
