"""People and a worker act in any order; whatever they do, the job ends in a state that both can believe."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from openmind.application.jobs.row import JobRow
from openmind.domain.control import Wish
from openmind.domain.errors import JobActive, JobNotFound
from openmind.domain.ids import JobId
from openmind.domain.job_states import JobAction
from openmind.domain.jobs import IndexJob, JobState, ProcessMark

LOST = "the model server does not answer"


def machine(world_type, script):
    """Make the machine over the fakes of this folder."""

    class Jobs(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.world = world_type()
            self.service = self.world.service()
            self.row: JobRow | None = None
            self.job_id: JobId | None = None
            self.mark: ProcessMark | None = None
            self.asked_to_stop = False
            self.resting = False
            self.finished: dict[JobId, JobState] = {}

        def latest(self) -> IndexJob | None:
            with self.world.catalog.reading() as snapshot:
                return snapshot.latest_job()

        # people

        @rule()
        def start(self) -> None:
            before = self.service.current()
            try:
                job = self.service.start()
            except JobActive:
                assert before is not None
                assert before.state is JobState.STOP_REQUESTED
                return
            if before is None or before.state.finished:
                assert self.mark is None or job.id != self.job_id
                self.job_id, self.mark = job.id, job.process
                self.row, self.asked_to_stop, self.resting = None, False, False
            else:
                assert job.id == before.id

        @rule(ask=st.sampled_from(["pause", "resume", "stop"]))
        def steer(self, ask: str) -> None:
            unfinished = (job := self.service.current()) is not None and not job.state.finished
            try:
                getattr(self.service, ask)()
            except JobNotFound:
                assert not unfinished
            else:
                assert unfinished
                self.asked_to_stop |= ask == "stop"

        @rule(seconds=st.sampled_from([0.3, 7, 29, 31]))
        def wait(self, seconds: float) -> None:
            self.world.clock.sleep(seconds)

        # the worker

        def works(self) -> bool:
            return self.row is not None and self.mark is not None and self.mark.pid in self.world.processes.running

        @precondition(lambda self: self.row is None and self.job_id is not None)
        @rule()
        def begin(self) -> None:
            job = self.service.current()
            assert job is not None
            if not job.state.finished and self.world.processes.alive(self.mark):
                self.row = self.world.row(job.id, self.mark)

        @precondition(works)
        @rule(state=st.sampled_from([JobState.DISCOVERING, JobState.RUNNING]))
        def tell(self, state: JobState) -> None:
            if not self.resting:
                self.row.progress(script.progress(state))

        @precondition(works)
        @rule()
        def heed(self) -> None:
            """What a run does between two files: rest, go on, or end."""
            wish = self.row.look_up() if self.resting else self.row.look()
            if wish is Wish.PAUSE:
                if not self.resting:
                    self.row.act(JobAction.REST)
                self.resting = self.row.look() is Wish.PAUSE
                assert not self.resting or self.service.current().state is JobState.PAUSED
            elif wish is Wish.STOP:
                assert self.row.end(script.report(JobState.STOPPED)).finished
                self.world.processes.end(self.mark)
            else:
                self.resting = wish is Wish.PAUSE

        @precondition(works)
        @rule()
        def rest_late(self) -> None:
            """The wish to pause was read, and somebody changed their mind before it was obeyed."""
            before = self.service.current().state
            self.row.act(JobAction.REST)
            if before is JobState.PAUSE_REQUESTED:
                self.resting = True
            else:
                assert self.service.current().state is before

        @precondition(works)
        @rule()
        def lose_provider(self) -> None:
            if not self.resting:
                self.row.act(JobAction.WAIT, error=LOST)
                self.resting = self.row.look() is Wish.PAUSE

        @precondition(works)
        @rule()
        def find_provider_again(self) -> None:
            before = self.service.current()
            self.row.go_on(LOST)
            after = self.service.current()
            if before.state is JobState.PAUSED and before.error == LOST:
                assert after.state is JobState.RUNNING
                self.resting = False
            else:
                assert after.state is before.state

        @precondition(works)
        @rule()
        def complete(self) -> None:
            if not self.resting:
                state = self.row.end(script.report())
                assert state is (JobState.STOPPED if self.asked_to_stop else JobState.COMPLETED)
                self.world.processes.end(self.mark)

        @precondition(works)
        @rule()
        def fail(self) -> None:
            self.row.fail("the disk is full")
            self.world.processes.end(self.mark)

        @precondition(lambda self: self.mark is not None)
        @rule()
        def die(self) -> None:
            self.world.processes.end(self.mark)

        # what always holds

        @invariant()
        def a_finished_job_stays_as_it_ended(self) -> None:
            job = self.service.current()
            if job is not None and job.state.finished:
                assert self.finished.setdefault(job.id, job.state) is job.state
                assert job.completed_at

        @invariant()
        def a_stop_is_never_lost(self) -> None:
            job = self.service.current()
            if self.asked_to_stop and job is not None and job.id == self.job_id:
                assert job.state in {JobState.STOP_REQUESTED, JobState.STOPPED, JobState.FAILED}
                assert not self.works() or self.row.look() is Wish.STOP

        @invariant()
        def one_job_is_unfinished_at_most(self) -> None:
            with self.world.catalog.reading() as snapshot:
                jobs = [snapshot.job(job_id) for job_id in self.world.processes.launched]
            assert sum(not job.state.finished for job in jobs) <= 1

        @invariant()
        def a_dead_worker_leaves_no_unfinished_job(self) -> None:
            job = self.service.current()
            if job is not None and self.mark is not None and not self.world.processes.alive(self.mark):
                assert job.state.finished

    return Jobs


def test_people_and_a_worker_act_in_any_order(world, script) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        machine(type(world), script), settings=settings(max_examples=120, stateful_step_count=25, deadline=None)
    )
