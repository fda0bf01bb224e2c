"""What is told of a memory: what goes on, else what began last."""

import attrs
import pytest
from openmind.domain.ids import JobId, RunId
from openmind.domain.jobs import IndexJob, IndexRun, JobState, as_its_job_ended, latest_of

EARLY, LATE = "2026-01-01T10:00:00+00:00", "2026-01-01T11:00:00+00:00"
ENDED, GOES_ON = JobState.COMPLETED, JobState.RUNNING


def a_job(state: JobState, at: str) -> IndexJob:
    return IndexJob(id=JobId("job_1"), state=state, started_at=at)


def a_run(state: JobState, at: str, *, job_id: str = "") -> IndexRun:
    return IndexRun(id=RunId("run_1"), state=state, started_at=at, job_id=JobId(job_id) if job_id else None)


@pytest.mark.parametrize(
    ("job", "run", "told"),
    [
        (None, None, None),
        (a_job(ENDED, EARLY), None, "job"),
        (None, a_run(ENDED, EARLY), "run"),
        (None, a_run(ENDED, EARLY, job_id="job_0"), None),
        (a_job(GOES_ON, EARLY), a_run(GOES_ON, LATE, job_id="job_1"), "job"),
        (a_job(JobState.PAUSED, EARLY), a_run(ENDED, LATE), "job"),
        (a_job(ENDED, LATE), a_run(GOES_ON, EARLY), "run"),
        (a_job(ENDED, EARLY), a_run(ENDED, LATE), "run"),
        (a_job(ENDED, LATE), a_run(ENDED, EARLY), "job"),
        (a_job(ENDED, EARLY), a_run(ENDED, LATE, job_id="job_1"), "job"),
    ],
)
def test_what_goes_on_is_told_before_what_began_last(
    job: IndexJob | None, run: IndexRun | None, told: str | None
) -> None:
    assert latest_of(job, run) is {"job": job, "run": run, None: None}[told]


@pytest.mark.parametrize("state", [JobState.FAILED, JobState.STOPPED])
def test_a_job_that_ended_while_it_waited_says_how_its_last_run_ended(state: JobState) -> None:
    run = IndexRun(
        id=RunId("run_1"),
        started_at="2026-01-01T10:00:00+00:00",
        finished_at="2026-01-01T10:01:00+00:00",
        state=JobState.COMPLETED,
        error="The server does not answer.",
        job_id=JobId("job_1"),
    )
    job = IndexJob(id=JobId("job_1"), state=state, error="Its worker ended.", completed_at="2026-01-01T10:09:00+00:00")

    ended = as_its_job_ended(run, job)

    assert ended is not None
    assert (ended.state, ended.error, ended.finished_at) == (state, job.error, job.completed_at)
    assert as_its_job_ended(run, attrs.evolve(job, state=JobState.PAUSED)) == run
    assert as_its_job_ended(run, attrs.evolve(job, id=JobId("job_2"))) == run
    assert as_its_job_ended(attrs.evolve(run, error=""), job) == attrs.evolve(run, error="")
    assert as_its_job_ended(run, None) == run
