"""What is told of a memory: what goes on, else what began last."""

import pytest
from openmind.domain.ids import JobId, RunId
from openmind.domain.jobs import IndexJob, IndexRun, JobState, latest_of

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
