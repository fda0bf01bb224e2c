import pytest
from hypothesis import given
from hypothesis import strategies as st
from openmind.domain.job_states import JobAction, next_state
from openmind.domain.jobs import JobState

ACTIONS = st.lists(st.sampled_from(JobAction))


def after(actions: list[JobAction], state: JobState = JobState.PENDING) -> JobState:
    for action in actions:
        state = next_state(state, action)
    return state


@given(ACTIONS)
def test_a_stop_is_never_lost(actions: list[JobAction]) -> None:
    """Whatever follows a stop, the job never works again."""
    state = after([JobAction.DISCOVER, JobAction.STOP, *actions])

    assert state in {JobState.STOP_REQUESTED, JobState.STOPPED, JobState.FAILED}


@given(ACTIONS, ACTIONS)
def test_a_finished_job_stays_as_it_ended(before: list[JobAction], later: list[JobAction]) -> None:
    state = after(before)

    assert not state.finished or after(later, state) is state


@given(ACTIONS)
def test_every_unfinished_job_can_be_stopped(actions: list[JobAction]) -> None:
    state = after(actions)

    ended = after([JobAction.STOP, JobAction.COMPLETE], state)

    assert ended is state if state.finished else ended is JobState.STOPPED


@given(ACTIONS)
def test_a_job_pauses_only_on_its_worker_s_word(actions: list[JobAction]) -> None:
    without_rest = [action for action in actions if action not in {JobAction.REST, JobAction.WAIT}]

    assert after(without_rest) is not JobState.PAUSED


@pytest.mark.parametrize("state", [state for state in JobState if not state.finished])
def test_any_unfinished_job_can_fail(state: JobState) -> None:
    assert next_state(state, JobAction.FAIL) is JobState.FAILED


def test_a_resume_that_races_with_a_pause_wins() -> None:
    actions = [JobAction.DISCOVER, JobAction.RUN, JobAction.PAUSE, JobAction.RESUME, JobAction.REST]

    assert after(actions) is JobState.RUNNING
