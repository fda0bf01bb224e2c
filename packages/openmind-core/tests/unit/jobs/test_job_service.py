"""Starting, watching and steering jobs."""

from threading import Thread

import attrs
import pytest
from openmind.application.jobs.service import NEVER_BEGAN
from openmind.domain.errors import IndexingBusy, JobActive, JobError, JobNotFound, NoSources, StoreReadOnly
from openmind.domain.ids import RunId
from openmind.domain.job_states import JobAction
from openmind.domain.jobs import RUN_DIED, IndexRun, JobState, ProcessMark
from openmind.testing.fakes.catalog import MemoryCatalog

WORDS = "The plugin “acme” of the package openmind-acme has been at its import for 10 seconds, and is waited for."


def test_who_starts_beside_another_learns_that_the_job_is_not_their_own(world) -> None:
    job, is_new = world.service().begin()

    assert is_new
    assert world.service().begin() == (job, False)


def test_a_start_writes_a_job_and_launches_its_worker(world) -> None:
    job = world.service().start()

    assert job.state is JobState.PENDING
    assert world.processes.launched == [job.id]
    assert world.service().current() == job
    assert job.process is not None


def test_a_second_start_returns_the_unfinished_job(world) -> None:
    service = world.service()
    first = service.start()

    again = service.start()

    assert again.id == first.id
    assert world.processes.launched == [first.id]


def test_without_a_source_nothing_is_started(world) -> None:
    with world.catalog.writing() as session:
        session.delete_source(session.sources()[0].id)

    with pytest.raises(NoSources):
        world.service().start()

    assert world.service().current() is None


def test_with_disabled_sources_only_the_person_learns_how_to_enable_one(world) -> None:
    with world.catalog.writing() as session:
        session.update_source(attrs.evolve(session.sources()[0], enabled=False))

    with pytest.raises(NoSources, match="disabled") as refused:
        world.service().start()

    assert "--enable" in refused.value.hint


def test_a_job_whose_worker_died_ended_when_it_last_gave_a_sign(world) -> None:
    service = world.service()
    job = service.start()
    world.row(job.id)
    last = service.current().updated_at
    world.clock.sleep(3_600)
    world.processes.end(job.process)

    lost = service.current()

    assert (lost.state, lost.completed_at) == (JobState.FAILED, last)


def test_a_later_run_in_the_foreground_is_shown_instead_of_a_job_that_failed(world) -> None:
    service = world.service()
    job = service.start()
    world.processes.end(job.process)
    assert service.latest().id == job.id
    world.clock.sleep(60)
    at = service.now().isoformat()
    run = IndexRun(id=RunId("run_1"), started_at=at, finished_at=at, state=JobState.COMPLETED)
    with world.catalog.writing() as session:
        session.save_run(run)

    assert service.latest() == run


def test_a_job_whose_worker_cannot_be_started_has_failed_with_the_reason(world) -> None:
    world.processes.error = JobError("there are too many processes")

    with pytest.raises(JobError):
        world.service().start()

    job = world.service().current()
    assert (job.state, job.error) == (JobState.FAILED, "There are too many processes")
    assert job.completed_at


def test_a_starter_that_is_ended_while_it_starts_a_worker_leaves_no_job_in_the_way(world) -> None:
    @attrs.frozen
    class Ended:
        def launch(self, _):
            raise KeyboardInterrupt

    service = world.service()

    with pytest.raises(KeyboardInterrupt):
        attrs.evolve(service, launcher=Ended()).start()

    assert service.current() is None
    assert service.start().process is not None


def test_nobody_ever_sees_a_job_without_its_process_and_its_worker_waits_until_it_is_there(world, script) -> None:
    own = world.processes.appear()
    ended: list[JobState] = []
    seen = []

    @attrs.frozen
    class AtOnce:
        """A launcher whose worker begins before the starter can say another word."""

        def launch(self, job_id):
            worker = world.worker(script.place([script.ends()]), own)
            threads.append(Thread(target=lambda: ended.append(worker.carry_out(job_id))))
            threads[0].start()
            seen.append(world.service().current())
            return own

    threads: list[Thread] = []
    job = attrs.evolve(world.service(), launcher=AtOnce()).start()
    threads[0].join()

    assert (seen, job.process) == ([None], own)
    assert ended == [JobState.COMPLETED]


def test_a_worker_that_never_begins_is_given_up_after_half_a_minute(world) -> None:
    service = world.service()
    first = service.start()
    world.clock.sleep(30)
    assert service.current().state is JobState.PENDING

    world.clock.sleep(1)

    assert (service.current().state, service.current().error) == (JobState.FAILED, NEVER_BEGAN)
    assert service.start().id != first.id


def test_a_worker_that_hangs_before_it_begins_is_told_in_its_words_and_ended(world) -> None:
    service = world.service()
    job = service.start()
    world.processes.words[job.id] = WORDS
    assert service.last_words(service.current()) == WORDS  # while it is still waited for
    world.clock.sleep(31)

    lost = service.current()

    assert (lost.state, lost.error) == (JobState.FAILED, f"{NEVER_BEGAN} {WORDS}")
    assert not world.processes.alive(job.process)
    assert service.last_words(lost) == ""


def test_a_job_that_is_stopped_before_its_worker_begins_leaves_no_process(world) -> None:
    service = world.service()
    job = service.start()

    assert service.stop().state is JobState.STOPPED
    assert not world.processes.alive(job.process)


def test_a_worker_that_hangs_and_may_not_be_ended_costs_its_job_alone(world) -> None:
    def refuse(mark: ProcessMark) -> None:
        raise JobError(f"the process {mark.pid} cannot be ended by this user")

    service = attrs.evolve(world.service(), end_process=refuse)
    service.start()
    world.clock.sleep(31)

    assert service.current().state is JobState.FAILED


def test_a_worker_that_ends_before_it_begins_is_told_in_its_words(world) -> None:
    service = world.service()
    job = service.start()
    world.processes.words[job.id] = "There is no store “attic”."
    world.processes.end(job.process)

    assert service.current().error == f"{NEVER_BEGAN} There is no store “attic”."


def test_a_worker_that_is_at_work_is_told_in_its_words_once_it_seems_to_hang(world) -> None:
    service = world.service()
    job = service.start()
    world.processes.words[job.id] = WORDS
    world.row(job.id)
    assert service.last_words(service.current()) == ""

    world.clock.sleep(61)

    assert service.last_words(service.current()) == WORDS


@pytest.mark.parametrize("hours", [24, -24])
def test_a_clock_that_is_set_makes_no_pending_job_eternal(world, hours: int) -> None:
    service = world.service()
    service.start()

    world.clock.sleep(hours * 3600)

    assert service.current().state is JobState.FAILED


def test_a_pause_does_not_keep_a_job_alive_that_nobody_began(world) -> None:
    service = world.service()
    job = service.start()
    with world.catalog.writing() as session:
        session.change_job(attrs.evolve(job, process=None), expected=job.state)  # as older homes may hold it

    world.clock.sleep(20)
    service.pause()
    world.clock.sleep(20)

    assert service.current().state is JobState.FAILED


def test_a_job_whose_worker_died_is_recognised_by_whoever_looks(world) -> None:
    service = world.service()
    job = service.start()
    world.row(job.id)

    world.processes.end(job.process)

    for look in (service.current, service.current):
        assert (look().state, look().error) == (JobState.FAILED, RUN_DIED)
    with pytest.raises(JobNotFound):
        service.pause()


def test_a_dead_worker_that_was_asked_to_stop_has_stopped(world) -> None:
    service = world.service()
    job = service.start()
    world.row(job.id)
    service.stop()

    world.processes.end(job.process)

    assert (service.current().state, service.current().error) == (JobState.STOPPED, "")


def test_where_nothing_can_be_written_a_dead_worker_is_still_told(world) -> None:
    service = world.service()
    job = service.start()
    world.processes.end(job.process)

    class ReadOnly(MemoryCatalog):
        def reading(self):
            return world.catalog.reading()

        def writing(self):
            raise StoreReadOnly("it cannot be written to")

    assert attrs.evolve(service, catalog=ReadOnly()).current().state is JobState.FAILED


def test_a_job_that_is_stopped_before_it_begins_is_over(world) -> None:
    service = world.service()
    service.start()

    stopped = service.stop()

    assert stopped.state is JobState.STOPPED
    assert stopped.completed_at
    assert service.halt(within_s=1) is None


@pytest.mark.parametrize("ask", ["pause", "resume", "stop"])
def test_without_an_unfinished_job_there_is_nothing_to_steer(world, ask: str) -> None:
    with pytest.raises(JobNotFound):
        getattr(world.service(), ask)()


def test_a_wish_without_effect_changes_nothing(world) -> None:
    service = world.service()
    job = service.start()
    world.row(job.id)

    assert service.resume().state is JobState.DISCOVERING


def test_halting_waits_for_the_end(world) -> None:
    service = world.service()
    job = service.start()
    row = world.row(job.id)
    ends = iter([None, None, lambda: row.act(JobAction.COMPLETE)])

    def sleep(seconds: float) -> None:
        world.clock.sleep(seconds)
        end = next(ends, None)
        if end:
            end()

    halted = attrs.evolve(service, sleep=sleep).halt(within_s=10)

    assert halted.state is JobState.STOPPED


def test_a_job_that_does_not_stop_in_time_is_told(world) -> None:
    service = world.service()
    job = service.start()
    world.row(job.id)

    with pytest.raises(JobActive, match="has not stopped within 2 s"):
        service.halt(within_s=2)

    assert service.current().state is JobState.STOP_REQUESTED
    assert 2 <= world.clock.slept <= 3


def test_a_job_keeps_the_foreground_out_and_says_who_it_is(world) -> None:
    service = world.service()
    service.refuse_beside_job()
    job = service.start()

    with pytest.raises(IndexingBusy, match=str(job.process.pid)):
        service.refuse_beside_job()

    service.stop()
    service.refuse_beside_job()


def test_a_run_in_the_foreground_keeps_jobs_out_while_its_process_lives(world) -> None:
    mark = world.processes.appear()
    with world.catalog.writing() as session:
        session.save_run(IndexRun(id=RunId("run_1"), started_at="2026-01-01T00:00:00+00:00", process=mark))

    with pytest.raises(IndexingBusy, match=str(mark.pid)):
        world.service().start()

    world.processes.end(mark)
    assert world.service().start().state is JobState.PENDING


def test_the_history_tells_which_runs_died(world) -> None:
    alive, dead = world.processes.appear(), world.processes.appear()
    with world.catalog.writing() as session:
        session.save_run(IndexRun(id=RunId("run_1"), started_at="", process=dead))
        session.save_run(IndexRun(id=RunId("run_2"), started_at="", process=alive))
    world.processes.end(dead)

    assert [(run.id, run.state) for run in world.service().history()] == [
        ("run_2", JobState.RUNNING),
        ("run_1", JobState.FAILED),
    ]


def test_a_silent_worker_shows_as_stuck_but_not_one_that_rests(world) -> None:
    service = world.service()
    job = service.start()
    row = world.row(job.id)
    world.clock.sleep(61)

    assert service.current().is_stuck(world.clock.now())

    row.wish()
    assert not service.current().is_stuck(world.clock.now())
    service.pause()
    row.act(JobAction.REST)
    world.clock.sleep(600)
    assert not service.current().is_stuck(world.clock.now())


def test_a_start_waits_for_the_job_that_is_about_to_stop(world) -> None:
    service = world.service()
    first = service.start()
    row = world.row(first.id)
    service.stop()

    def sleep(seconds: float) -> None:
        world.clock.sleep(seconds)
        row.act(JobAction.COMPLETE)

    assert attrs.evolve(service, sleep=sleep).start().id != first.id


def test_a_start_says_so_when_a_job_does_not_stop(world) -> None:
    service = world.service()
    world.row(service.start().id)
    service.stop()

    with pytest.raises(JobActive, match="was asked to stop"):
        service.start()


def test_a_worker_that_hangs_is_named_and_ended_by_force_also_after_a_stop_in_vain(world) -> None:
    service = world.service()
    job = service.start()
    world.row(job.id)
    world.clock.sleep(61)

    service.stop()
    with pytest.raises(JobActive) as told:
        service.halt(within_s=1)
    ended = service.end()

    assert str(job.process.pid) in told.value.hint
    assert "stop --force" in told.value.hint
    assert not world.processes.alive(job.process)
    assert ended.state is JobState.STOPPED


def test_a_worker_that_is_well_is_only_asked_to_stop(world) -> None:
    service = world.service()
    job = service.start()
    world.row(job.id)

    assert service.end().state is JobState.STOP_REQUESTED
    assert world.processes.alive(job.process)


def test_a_job_that_rested_for_long_does_not_seem_to_hang_when_it_is_woken(world) -> None:
    service = world.service()
    row = world.row(service.start().id)
    service.pause()
    row.act(JobAction.REST)
    world.clock.sleep(600)

    assert not service.resume().is_stuck(world.clock.now())


def test_beside_a_run_in_the_foreground_nothing_is_removed_and_a_stop_says_how_it_ends(world) -> None:
    mark = world.processes.appear()
    with world.catalog.writing() as session:
        session.save_run(IndexRun(id=RunId("run_1"), started_at="2026-01-01T00:00:00+00:00", process=mark))
    service = world.service()

    with world.catalog.writing() as session, pytest.raises(IndexingBusy, match=str(mark.pid)):
        service.refuse_while_indexing(session)
    with pytest.raises(JobNotFound, match="foreground") as told:
        service.stop()
    assert "Ctrl-C" in told.value.hint

    world.processes.end(mark)
    with world.catalog.writing() as session:
        service.refuse_while_indexing(session)


def test_a_start_with_nothing_but_disabled_sources_says_how_one_is_enabled(world) -> None:
    with world.catalog.writing() as session:
        session.update_source(attrs.evolve(session.sources()[0], enabled=False))

    with pytest.raises(NoSources, match="disabled") as told:
        world.service().start()

    assert "--enable" in told.value.hint
