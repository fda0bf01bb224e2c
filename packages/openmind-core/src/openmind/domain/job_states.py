"""Which state of a job follows which: a pure table, so that every race ends in one of its cells."""

from enum import StrEnum

from openmind.domain.jobs import JobState


class JobAction(StrEnum):
    """What happens to a job: the first three are wishes of a person, the others are done by its worker."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"
    DISCOVER = "discover"
    RUN = "run"
    REST = "rest"
    WAIT = "wait"
    COMPLETE = "complete"
    FAIL = "fail"


S, A = JobState, JobAction

_NEXT: dict[tuple[JobState, JobAction], JobState] = {
    (S.PENDING, A.DISCOVER): S.DISCOVERING,
    (S.PENDING, A.PAUSE): S.PAUSE_REQUESTED,
    (S.PENDING, A.STOP): S.STOPPED,
    (S.DISCOVERING, A.RUN): S.RUNNING,
    (S.DISCOVERING, A.PAUSE): S.PAUSE_REQUESTED,
    (S.DISCOVERING, A.STOP): S.STOP_REQUESTED,
    (S.DISCOVERING, A.COMPLETE): S.COMPLETED,
    (S.RUNNING, A.DISCOVER): S.DISCOVERING,  # a job that waited for its provider makes another pass
    (S.RUNNING, A.PAUSE): S.PAUSE_REQUESTED,
    (S.RUNNING, A.STOP): S.STOP_REQUESTED,
    (S.DISCOVERING, A.WAIT): S.PAUSED,  # the provider is lost
    (S.RUNNING, A.WAIT): S.PAUSED,
    (S.PAUSE_REQUESTED, A.WAIT): S.PAUSED,
    (S.RUNNING, A.COMPLETE): S.COMPLETED,
    (S.PAUSE_REQUESTED, A.REST): S.PAUSED,  # from no other state: a resume may have come first
    (S.PAUSE_REQUESTED, A.RESUME): S.RUNNING,
    (S.PAUSE_REQUESTED, A.STOP): S.STOP_REQUESTED,
    (S.PAUSE_REQUESTED, A.COMPLETE): S.COMPLETED,  # it finished before it could rest
    (S.PAUSED, A.RESUME): S.RUNNING,
    (S.PAUSED, A.STOP): S.STOP_REQUESTED,
    (S.STOP_REQUESTED, A.COMPLETE): S.STOPPED,
}


def next_state(state: JobState, action: JobAction) -> JobState:
    """Return the state after an action; the same state when the action has no effect in it."""
    if state.finished:
        return state
    if action is JobAction.FAIL:
        return JobState.FAILED
    return _NEXT.get((state, action), state)
