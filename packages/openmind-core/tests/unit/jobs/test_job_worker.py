"""What the worker of a job does, and what it writes into the job's row."""

from itertools import pairwise

import attrs
import pytest
from openmind.application.jobs.worker import BROKE_DOWN, WAS_ENDED
from openmind.domain.control import Wish
from openmind.domain.errors import ConfigError, IndexingBusy, JobActive, JobNotFound, StoreFull
from openmind.domain.events import Progress
from openmind.domain.ids import JobId, RunId
from openmind.domain.jobs import IndexReport, IndexRun, IndexTally, JobState

LOST = "the model server does not answer"


@pytest.fixture
def job(world):
    return world.service().start()


def at_work(world, job, script, *steps, answers=lambda: True):
    place = script.place(list(steps), answers)
    return place, world.worker(place, job.process)


def test_a_pass_that_completes_completes_the_job(world, job, script) -> None:
    _, worker = at_work(world, job, script, script.ends())

    state = worker.carry_out(job.id)

    done = world.service().current()
    assert (state, done.state, done.tally.indexed, done.error) == (JobState.COMPLETED, JobState.COMPLETED, 3, "")
    assert done.completed_at


def test_progress_reaches_the_row_with_the_state_and_twice_a_second(world, job, script) -> None:
    seen = []

    def step(progress, _control):
        def look() -> None:
            row = world.service().current()
            seen.append((row.state, row.tally.indexed, row.current_file))

        progress(script.progress(JobState.DISCOVERING))
        look()
        progress(script.progress(JobState.RUNNING, file="a"))
        look()
        progress(script.progress(JobState.RUNNING, done=1, file="b"))
        look()  # too early to be written
        world.clock.sleep(0.6)
        progress(script.progress(JobState.RUNNING, done=2, file="c"))
        look()
        return script.report()

    at_work(world, job, script, step)[1].carry_out(job.id)

    assert seen == [
        (JobState.DISCOVERING, 0, ""),
        (JobState.RUNNING, 0, "a"),
        (JobState.RUNNING, 0, "a"),
        (JobState.RUNNING, 2, "c"),
    ]
    assert world.service().current().current_file == ""


def test_a_pause_is_heard_and_ends_with_a_resume(world, job, script) -> None:
    states = []

    def step(progress, control):
        progress(script.progress(JobState.RUNNING, done=1))
        world.service().pause()
        world.clock.sleep(0.3)
        assert control.wish() is Wish.PAUSE
        resumes = iter([None, None, world.service().resume])

        def sleep(seconds: float) -> None:
            world.clock.sleep(seconds)
            states.append(world.service().current().state)
            (next(resumes, None) or bool)()

        control.sleep = sleep
        control.rest()
        assert control.wish() is Wish.GO
        return script.report()

    at_work(world, job, script, step)[1].carry_out(job.id)

    assert set(states) == {JobState.PAUSED}
    assert world.service().current().state is JobState.COMPLETED


def test_a_pause_right_after_a_resume_that_nobody_saw_is_a_pause(world, job, script) -> None:
    def step(_progress, control):
        world.service().pause()

        def change_minds(seconds: float) -> None:
            world.service().resume()
            world.service().pause()
            control.sleep = look_again

        def look_again(seconds: float) -> None:
            assert world.service().current().state is JobState.PAUSED
            world.service().resume()

        control.sleep = change_minds
        control.rest()
        assert control.wish() is Wish.GO
        return script.report()

    assert at_work(world, job, script, step)[1].carry_out(job.id) is JobState.COMPLETED


def test_a_stop_is_heard_within_a_fifth_of_a_second(world, job, script) -> None:
    def step(_progress, control):
        assert control.wish() is Wish.GO
        world.service().stop()
        world.clock.sleep(0.2)
        assert control.wish() is Wish.STOP
        return script.report(JobState.STOPPED)

    state = at_work(world, job, script, step)[1].carry_out(job.id)

    assert state is world.service().current().state is JobState.STOPPED


def test_a_stop_while_it_rests_ends_the_rest(world, job, script) -> None:
    def step(_progress, control):
        world.service().pause()

        def sleep(seconds: float) -> None:
            world.clock.sleep(seconds)
            world.service().stop()

        control.sleep = sleep
        control.rest()
        assert control.wish() is Wish.STOP
        return script.report(JobState.STOPPED)

    assert at_work(world, job, script, step)[1].carry_out(job.id) is JobState.STOPPED


def test_a_run_that_ends_before_it_can_pause_is_complete(world, job, script) -> None:
    def step(_progress, _control):
        world.service().pause()
        return script.report()

    assert at_work(world, job, script, step)[1].carry_out(job.id) is JobState.COMPLETED


def test_a_job_whose_row_is_gone_stops(world, job, script) -> None:
    def step(_progress, control):
        with world.catalog.writing() as session:
            session.clear(sources=False)
        assert control.look() is Wish.STOP
        return script.report(JobState.STOPPED)

    assert at_work(world, job, script, step)[1].carry_out(job.id) is JobState.STOPPED
    assert world.service().current() is None


def test_what_another_process_decided_meanwhile_stays(world, job, script) -> None:
    def step(_progress, control):
        with world.catalog.writing() as session:
            row = session.job(job.id)
            session.change_job(attrs.evolve(row, state=JobState.FAILED, error="why"), expected=row.state)
        assert control.look() is Wish.STOP
        return script.report(JobState.STOPPED)

    at_work(world, job, script, step)[1].carry_out(job.id)

    assert (world.service().current().state, world.service().current().error) == (JobState.FAILED, "why")


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (StoreFull("the disk is full"), "The disk is full."),
        (StoreFull("the disk is full", hint="Free some space."), "The disk is full. Free some space."),
        (KeyboardInterrupt(), WAS_ENDED),
        (ZeroDivisionError("a secret"), BROKE_DOWN),
    ],
)
def test_a_failure_is_told_in_the_row(world, job, script, failure: BaseException, told: str) -> None:
    with pytest.raises(type(failure)):
        at_work(world, job, script, script.raises(failure))[1].carry_out(job.id)

    failed = world.service().current()
    assert (failed.state, failed.error, failed.current_file) == (JobState.FAILED, told, "")
    assert failed.completed_at


def test_a_wrong_configuration_is_told_in_the_row(world, job, script) -> None:
    worker = at_work(world, job, script, script.ends())[1]

    def unreadable():
        raise ConfigError("config.toml is no TOML")

    with pytest.raises(ConfigError):
        attrs.evolve(worker, workplace=unreadable).carry_out(job.id)

    assert world.service().current().error == "config.toml is no TOML."


def test_a_failure_that_cannot_be_written_is_the_failure_that_is_raised(world, job, script, monkeypatch) -> None:
    def full(*_: object):
        raise StoreFull("no space to note that there is no space")

    def step(_progress, _control):
        monkeypatch.setattr(type(world.catalog), "writing", full)
        raise StoreFull("the disk is full")

    with pytest.raises(StoreFull, match="The disk is full"):
        at_work(world, job, script, step)[1].carry_out(job.id)


def test_a_lost_provider_pauses_the_job_until_it_is_back(world, job, script) -> None:
    seen = []

    def answers() -> bool:
        row = world.service().current()
        seen.append((row.state, row.error))
        return len(seen) == 3

    place, worker = at_work(world, job, script, script.ends(error=LOST), script.ends(), answers=answers)

    assert worker.carry_out(job.id) is JobState.COMPLETED
    assert seen == [(JobState.PAUSED, LOST)] * 3
    assert place.passes == 2
    assert world.service().current().error == ""
    assert 5 + 10 + 20 <= world.clock.slept <= 40


def test_a_provider_that_answers_and_fails_at_each_pass_is_tried_less_and_less_often(world, job, script) -> None:
    began = []

    def step_of(embedded: int, error: str = LOST):
        def step(_progress, _control):
            began.append(world.clock.slept)
            report = script.report(error=error)
            return attrs.evolve(report, run=attrs.evolve(report.run, tally=IndexTally(embedded=embedded)))

        return step

    steps = [step_of(0) for _ in range(6)] + [step_of(8), step_of(0), step_of(8, error="")]
    _, worker = at_work(world, job, script, *steps)

    assert worker.carry_out(job.id) is JobState.COMPLETED
    waits = [round(after - before) for before, after in pairwise(began)]
    assert waits == [5, 10, 20, 40, 60, 60, 5, 10]  # the seventh pass embedded something


def test_what_only_a_person_can_mend_is_not_waited_for(world, job, script) -> None:
    wants = "The fake provider wants an API token. Put it into FAKE_TOKEN."

    def step(_progress, _control):
        return attrs.evolve(script.report(error=wants), needs_person=True)

    place, worker = at_work(world, job, script, step)

    assert worker.carry_out(job.id) is JobState.COMPLETED
    assert (place.passes, world.clock.slept, world.service().current().error) == (1, 0, wants)


def test_a_further_pass_goes_on_with_the_counts_of_the_job(world, job, script) -> None:
    seen = []

    def told(progress, state: JobState, **counts: int) -> None:
        world.clock.sleep(1)
        progress(Progress(state=state, tally=IndexTally(total=5, **counts)))
        tally = world.service().current().tally
        seen.append((tally.processed, tally.indexed, tally.already_indexed, tally.skipped, tally.chunks))

    def ended(error: str = "", **counts: int) -> IndexReport:
        run = IndexRun(id=RunId("run_1"), started_at="", state=JobState.COMPLETED, tally=IndexTally(total=5, **counts))
        return IndexReport(run=attrs.evolve(run, error=error))

    def first(progress, _control):
        told(progress, JobState.DISCOVERING)
        told(progress, JobState.RUNNING, already_indexed=1)
        told(progress, JobState.RUNNING, already_indexed=1, indexed=2, skipped=1, chunks=20)
        return ended(LOST, already_indexed=1, indexed=2, skipped=1, chunks=20)

    def second(progress, _control):
        told(progress, JobState.DISCOVERING)
        told(progress, JobState.RUNNING, already_indexed=3, skipped=1)
        told(progress, JobState.RUNNING, already_indexed=3, skipped=1, indexed=1, chunks=10)
        return ended(already_indexed=3, skipped=1, indexed=1, chunks=10)

    at_work(world, job, script, first, second)[1].carry_out(job.id)

    done = world.service().current().tally
    assert seen == [
        (0, 0, 0, 0, 0),
        (1, 0, 1, 0, 0),
        (4, 2, 1, 1, 20),
        (4, 2, 1, 1, 20),
        (4, 2, 1, 1, 20),
        (5, 3, 1, 1, 30),
    ]
    assert (done.processed, done.indexed, done.already_indexed, done.skipped, done.chunks) == (5, 3, 1, 1, 30)


@pytest.mark.parametrize(
    ("passes", "told"),
    [
        # the second pass is lost before it can count what is missing, the third goes on
        (((1_500, 64), (0, 0), (1_436, 0), (1_436, 36)), [(1_500, 64), (1_500, 64), (1_500, 64), (1_500, 100)]),
        # the table was discarded with its vectors
        (((1_500, 160), (1_500, 0), (1_500, 1_500)), [(1_500, 160), (1_500, 0), (1_500, 1_500)]),
        # more was read meanwhile
        (((100, 40), (0, 0), (160, 10)), [(100, 40), (100, 40), (160, 10)]),
        # somebody else made the rest meanwhile
        (((100, 40), (0, 0)), [(100, 40), (100, 40)]),
    ],
)
def test_vectors_of_several_passes_are_told_as_what_is_left_of_them(world, job, script, passes, told) -> None:
    seen = []

    def step_of(wanted: int, made: int, error: str):
        tally = IndexTally(total=5, indexed=5, vectors_wanted=wanted, vectors_made=made)

        def step(progress, _control):
            world.clock.sleep(1)
            progress(Progress(state=JobState.RUNNING, tally=tally))
            now = world.service().current().tally
            seen.append((now.vectors_wanted, now.vectors_made))
            run = IndexRun(id=RunId("run_1"), started_at="", state=JobState.COMPLETED, error=error, tally=tally)
            return IndexReport(run=run)

        return step

    steps = [step_of(*counts, error="" if counts is passes[-1] else LOST) for counts in passes]
    at_work(world, job, script, *steps)[1].carry_out(job.id)

    done = world.service().current().tally
    assert seen == told
    nothing_missing = not passes[-1][0]
    assert done.vectors_made == (done.vectors_wanted if nothing_missing else told[-1][1])


def test_a_person_may_let_a_job_go_on_before_the_provider_is_back(world, job, script) -> None:
    def answers() -> bool:
        world.service().resume()
        return False

    place, worker = at_work(world, job, script, script.ends(error=LOST), script.ends(), answers=answers)

    assert worker.carry_out(job.id) is JobState.COMPLETED
    assert place.passes == 2


def test_a_pause_by_a_person_outlasts_the_return_of_the_provider(world, job, script) -> None:
    asked = []

    def answers() -> bool:
        asked.append(world.clock.slept)
        world.service().pause()
        if len(asked) == 3:
            world.service().stop()
        return True

    place, worker = at_work(world, job, script, script.ends(error=LOST), answers=answers)

    assert worker.carry_out(job.id) is JobState.STOPPED
    assert place.passes == 1


def test_a_second_thought_while_the_provider_is_away_is_a_pause(world, job, script) -> None:
    _, worker = at_work(world, job, script, script.ends(error=LOST), answers=lambda: True)
    states = []

    def sleep(seconds: float) -> None:
        world.clock.sleep(seconds)
        states.append(world.service().current().state)
        if len(states) == 1:
            world.service().resume()
            world.service().pause()
        elif len(states) == 3:
            world.service().stop()

    assert attrs.evolve(worker, sleep=sleep).carry_out(job.id) is JobState.STOPPED
    assert states == [JobState.PAUSED] * 3


def test_a_stop_ends_the_wait_for_a_provider_at_once(world, job, script) -> None:
    _, worker = at_work(world, job, script, script.ends(error=LOST), answers=lambda: False)
    naps = []

    def sleep(seconds: float) -> None:
        world.clock.sleep(seconds)
        naps.append(seconds)
        if len(naps) == 4:
            world.service().stop()

    assert attrs.evolve(worker, sleep=sleep).carry_out(job.id) is JobState.STOPPED
    assert len(naps) == 4
    assert max(naps) <= 0.5


def test_somebody_who_holds_the_lock_for_a_moment_is_waited_for(world, job, script) -> None:
    busy = script.raises(IndexingBusy("the process 1 is indexing"))
    place, worker = at_work(world, job, script, busy, busy, script.ends())

    assert worker.carry_out(job.id) is JobState.COMPLETED
    assert place.passes == 3


def test_somebody_who_holds_the_lock_for_long_fails_the_job(world, job, script) -> None:
    _, worker = at_work(world, job, script, script.raises(IndexingBusy("the process 1 is indexing")))

    with pytest.raises(IndexingBusy):
        worker.carry_out(job.id)

    assert world.service().current().error == "The process 1 is indexing."
    assert world.clock.slept <= 11


def test_a_job_is_carried_out_by_one_process_only(world, job, script) -> None:
    place = script.place([script.ends()])

    with pytest.raises(JobActive, match=str(job.process.pid)):
        world.worker(place, world.processes.appear()).carry_out(job.id)

    assert place.passes == 0
    assert world.service().current().state is JobState.PENDING


def test_a_job_that_ended_is_not_carried_out_again(world, job, script) -> None:
    place, worker = at_work(world, job, script, script.ends())
    worker.carry_out(job.id)

    with pytest.raises(JobNotFound):
        worker.carry_out(job.id)
    with pytest.raises(JobNotFound):
        worker.carry_out(JobId("job_of_nobody"))
    assert place.passes == 1


def test_a_job_that_was_stopped_before_it_began_is_simply_over(world, job, script) -> None:
    world.service().stop()
    place, worker = at_work(world, job, script, script.ends())

    assert worker.carry_out(job.id) is JobState.STOPPED
    assert place.passes == 0


def test_signs_of_life_come_while_nothing_is_told(world, job) -> None:
    beats = []
    row = world.row(job.id)
    row.beaten = lambda: beats.append(world.clock.slept)
    before = world.service().current().updated_at

    for _ in range(100):
        world.clock.sleep(0.2)
        row.wish()

    assert world.service().current().updated_at > before
    assert 3 <= len(beats) <= 5
