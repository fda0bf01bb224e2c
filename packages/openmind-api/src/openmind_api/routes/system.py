"""Whether it lives, and how it is."""

from litestar import get
from litestar.datastructures import State
from litestar.di import NamedDependency
from openmind.domain.contract import Object, status_object
from openmind.live import LiveMemory


@get("/health", sync_to_thread=False, security=[])
def health(state: State) -> dict[str, str]:
    """Say that the server lives. Needs no token."""
    return {"status": "ok", "version": str(state.version)}


@get("/status", sync_to_thread=True)
def status(live: NamedDependency[LiveMemory]) -> Object:
    """The state of the memory."""
    with live.current() as memory:
        return status_object(memory.status())
