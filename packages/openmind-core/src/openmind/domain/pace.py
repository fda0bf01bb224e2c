"""Pace: how fast files are read, and how long the rest will take."""

from datetime import datetime

from attrs import frozen

from openmind.domain.jobs import IndexJob, IndexTally, JobState

TOO_SOON_S = 2.0
"""Before that, a rate says more about the start than about the work."""


@frozen(kw_only=True)
class Pace:
    """How fast it goes."""

    files_per_s: float
    seconds_left: float


def pace(before: IndexTally, after: IndexTally, seconds: float) -> Pace | None:
    """Compare two moments; None when nothing can be said.

    Files that needed no reading are passed in no time and say nothing about those that do.
    """
    read = (after.processed - after.already_indexed) - (before.processed - before.already_indexed)
    if seconds <= 0 or read <= 0:
        return None
    rate = read / seconds
    return Pace(files_per_s=rate, seconds_left=max(0, after.total - after.processed) / rate)


def average_pace(job: IndexJob) -> Pace | None:
    """The pace of a job that runs, since it was made; None when nothing can be said."""
    if job.state is not JobState.RUNNING:
        return None
    try:
        seconds = (datetime.fromisoformat(job.updated_at) - datetime.fromisoformat(job.started_at)).total_seconds()
    except ValueError:
        return None
    return pace(IndexTally(), job.tally, seconds) if seconds >= TOO_SOON_S else None
