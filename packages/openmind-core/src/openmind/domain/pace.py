"""Pace: how fast files are read, and how long the rest will take."""

from attrs import frozen

from openmind.domain.jobs import IndexJob, IndexTally, JobState

TOO_SOON_S = 2.0
"""Before that, a rate says more about the start than about the work."""


@frozen(kw_only=True)
class Pace:
    """How fast it goes: files are read first, then passages that have none get their vectors."""

    files_per_s: float = 0.0
    vectors_per_s: float = 0.0
    """Above 0 once every file is read."""
    seconds_left: float


def pace(before: IndexTally, after: IndexTally, seconds: float) -> Pace | None:
    """Compare two moments; None when nothing can be said.

    Files that needed no reading are passed in no time and say nothing about those that do.
    """
    if seconds <= 0:
        return None
    if after.vectors_wanted and after.processed >= after.total:
        made = after.vectors_made - before.vectors_made
        left = max(0, after.vectors_wanted - after.vectors_made)
        return Pace(vectors_per_s=made / seconds, seconds_left=left * seconds / made) if made > 0 else None
    read = (after.processed - after.already_indexed) - (before.processed - before.already_indexed)
    if read <= 0:
        return None
    rate = read / seconds
    return Pace(files_per_s=rate, seconds_left=max(0, after.total - after.processed) / rate)


def average_pace(job: IndexJob) -> Pace | None:
    """The pace of a job that runs, over all the time it worked; None when nothing can be said."""
    if job.state is not JobState.RUNNING or job.worked_s < TOO_SOON_S:
        return None
    if job.tally.processed >= job.tally.total:
        return None  # most of that time went to files, which says nothing about vectors
    return pace(IndexTally(), job.tally, job.worked_s)
