"""The progress of indexing as events."""

import asyncio
from time import monotonic

from attrs import define, field
from litestar.types import Receive
from openmind.domain.contract import Object, job_object
from openmind.live import LiveMemory

from openmind_api.refused import Refused
from openmind_api.slots import Slots
from openmind_api.sse import HEARTBEAT, Events, Pace, event
from openmind_api.visits import Visits, why

MOST = 16
"""Clients that watch at once."""


@define(eq=False)
class JobWatch:
    """Tells watching clients how indexing goes."""

    live: LiveMemory
    visits: Visits
    pace: Pace
    slots: Slots = field(factory=lambda: Slots(MOST, "As many programs watch the indexing as can at once"))

    async def events(self, receive: Receive) -> Events:
        """Tell the job as it is, then each change of it, until it is finished."""
        with self.slots.one():
            async with self.visits.begin(receive) as visit:
                job, finished = await asyncio.to_thread(self._look)
                yield event("job", job)
                spoke = monotonic()
                while not finished:
                    gone = await visit.pause(self.pace.look_s)
                    if gone is not None:
                        raise Refused(why(gone))
                    former, (job, finished) = job, await asyncio.to_thread(self._look)
                    if job != former or monotonic() - spoke >= self.pace.heartbeat_s:
                        spoke = monotonic()
                        yield HEARTBEAT if job == former else event("job", job)
                yield event("done", job)

    def _look(self) -> tuple[Object, bool]:
        with self.live.current() as memory:
            job = memory.jobs.current()
        return job_object(job), job is None or job.state.finished
