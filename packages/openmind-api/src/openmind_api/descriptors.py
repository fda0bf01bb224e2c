"""The descriptors of the process: as many as it may have, and one sentence when there are no more."""

import asyncio
import errno
import sys
from collections.abc import Callable, Sequence

from attrs import define, field

if sys.platform != "win32":
    import resource

ENOUGH = 4_096
QUIET_S = 60.0
"""Until the same is told again."""
SHORT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


def allow_enough() -> None:
    """Raise the limit of open files as far as it is of use and the system lets this process."""
    if sys.platform == "win32":  # it has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@define(eq=False)
class LoopFaults:
    """Takes what fails in the event loop outside of any request, which asyncio would print as a traceback each time."""

    tell: Sequence[Callable[[str], None]]
    bug: Callable[[BaseException], None]
    """Notes an error that nobody foresaw."""
    _told_at: float | None = field(default=None, init=False)

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        """See `loop.set_exception_handler`."""
        error = context.get("exception")
        if not isinstance(error, BaseException):
            error = RuntimeError(str(context.get("message", "")))
        if not (isinstance(error, OSError) and error.errno in SHORT):
            self.bug(error)
        elif self._told_at is None or loop.time() - self._told_at >= QUIET_S:
            self._told_at = loop.time()
            for tell in self.tell:
                tell(f"No more connections can be taken for now: {error.strerror}. The server tries again by itself.")
