"""Visits: requests that last. Each learns when its client leaves or the server stops."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum

from attrs import define, field
from litestar.types import Receive

from openmind_api import problems
from openmind_api.problems import Refusal


class Gone(Enum):
    """Why a visit is over before its time."""

    LEFT = "left"
    """The client closed the connection."""
    STOPPING = "stopping"
    """The server ends."""


@define(eq=False)
class Visit:
    """A request that lasts."""

    gone: "asyncio.Future[Gone]"

    async def pause(self, seconds: float) -> Gone | None:
        """Wait; at once when the visit is over, and why."""
        done, _ = await asyncio.wait({self.gone}, timeout=seconds)
        return self.gone.result() if done else None


@define(eq=False)
class Visits:
    """All visits of one server."""

    _open: set[Visit] = field(factory=set, init=False)
    _stopping: bool = field(default=False, init=False)

    @asynccontextmanager
    async def begin(self, receive: Receive) -> AsyncIterator[Visit]:
        """Watch a client whose request was read to its end."""
        visit = Visit(asyncio.get_running_loop().create_future())
        if self._stopping:
            visit.gone.set_result(Gone.STOPPING)
        self._open.add(visit)
        watch = asyncio.create_task(_watch(receive, visit))
        try:
            yield visit
        finally:
            watch.cancel()
            self._open.discard(visit)

    def stop(self) -> None:
        """End all visits, and those to come."""
        self._stopping = True
        for visit in self._open:
            if not visit.gone.done():
                visit.gone.set_result(Gone.STOPPING)


def why(gone: Gone) -> Refusal:
    """Say it to whoever still listens."""
    return problems.STOPPING if gone is Gone.STOPPING else problems.LEFT


async def _watch(receive: Receive, visit: Visit) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    if not visit.gone.done():
        visit.gone.set_result(Gone.LEFT)
