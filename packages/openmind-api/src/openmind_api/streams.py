"""The streams that routes hand out."""

from functools import partial

from attrs import frozen

from openmind_api.answer_events import AnswerEvents
from openmind_api.errors import BugSink
from openmind_api.job_events import JobWatch
from openmind_api.schemas.requests import Ask
from openmind_api.sse import EventStream


@frozen(kw_only=True)
class Streams:
    """Makes responses that last."""

    answers: AnswerEvents
    jobs: JobWatch
    note_bug: BugSink

    def answer(self, ask: Ask) -> EventStream:
        """The answer to a question, piece by piece."""
        return EventStream(partial(self.answers.of, ask), self.note_bug)

    def job(self) -> EventStream:
        """The progress of indexing."""
        return EventStream(self.jobs.events, self.note_bug)
