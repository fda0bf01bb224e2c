"""The server: one process, one loopback address."""

import asyncio
import errno
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from importlib.metadata import version

import uvicorn
from attrs import define, field
from openmind.adapters.token_file import ROTATE, TokenFile
from openmind.domain.errors import HomeError
from openmind.live import LiveMemory

from openmind_api import problems
from openmind_api.access_log import ServerLog
from openmind_api.app import Application, build_app
from openmind_api.c_heap import give_back
from openmind_api.descriptors import LoopFaults, allow_enough
from openmind_api.errors import note
from openmind_api.gate import Admission, Gate
from openmind_api.origins import parse_origin
from openmind_api.protocol import PromptProtocol
from openmind_api.refused import Refused
from openmind_api.sse import Pace

GRACE_S = 3
THREADS = 16
"""Requests that are worked on at once; others wait."""
LOG_FILE = "api.jsonl"
LOOK_S = 1.0
"""Until the server looks again whether to go on."""
LOOKS_PER_TRIM = 10
ACCEPTED_AT_ONCE = 16
"""Asyncio takes so many connections before any of them is looked at, and closed should there be too many."""
QUEUE = 1_024
"""Connections that the system keeps for the server until it takes them."""
SILENT = logging.CRITICAL + 1
NOT_TRUSTED = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP, errno.EMLINK, errno.ENOTDIR})
"""What the system says of a token file that is not ours; anything else says nothing about it, and passes."""


@contextmanager
def prepared(
    live: LiveMemory,
    *,
    origins: Iterable[str] = (),
    pace: Pace | None = None,
    ready: Callable[[], None] = lambda: None,
    may_go_on: Callable[[], bool] = lambda: True,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator["ApiServer"]:
    """Make a server that is to `run` on a socket of `bind`, until a signal or `should_exit` ends it.

    Args:
        live: what is served; it must stay open.
        origins: web pages that may use the API, each as `parse_origin` writes it.
        pace: how long streams wait for what.
        ready: called when requests are answered.
        may_go_on: asked every second; the server ends when it may not.
        tell: takes a sentence for the person who started the server.
    """
    tokens = TokenFile(live.home.token_file)
    tokens.ensure()
    with closing(ServerLog(live.home.logs / LOG_FILE, tell=tell)) as log:
        app = build_app(live, version=version("openmind-core"), note_bug=log.bug, pace=pace)
        for sentence in app.broken:
            log.warning(sentence)
        admission = Admission(
            token=Token(tokens, [log.warning, tell]), allowed_origins=frozenset(map(parse_origin, origins))
        )
        gate = Gate(
            app=app.routes,
            admission=admission,
            log=log.access,
            bug=lambda error, scope: note(error, scope, log.bug),
        )
        faults = LoopFaults([log.warning, tell], bug=lambda error: log.bug("", error))
        yield ApiServer(gate, application=app, ready=ready, may_go_on=may_go_on, faults=faults)


@define(eq=False)
class Token:
    """Reads the token for each request; a file that cannot be trusted lets nobody in, and its owner learns why."""

    file: TokenFile
    tell: Sequence[Callable[[str], None]]
    _told: str = field(default="", init=False)
    """What was told last; once is enough."""

    def __call__(self) -> str | None:
        """The token, if there is one to be trusted.

        Raises:
            Refused: it cannot be read for now, as when there are no descriptors left.
        """
        passing = False
        try:
            found, wrong = self.file.read(), ""
            if found is None:
                wrong = f"{self.file.path} is gone, so that nobody is let in. {ROTATE}"
        except HomeError as error:
            found, wrong = None, f"{error.message}, so that nobody is let in. {error.hint}"
            cause = error.__cause__
            passing = isinstance(cause, OSError) and cause.errno not in NOT_TRUSTED
        if wrong and wrong != self._told:
            for tell in self.tell:
                tell(wrong)
        self._told = wrong
        if passing:
            raise Refused(problems.TOKEN_UNREADABLE)
        return found


class ApiServer(uvicorn.Server):
    """Uvicorn, silent, that ends when a signal says so without passing the signal on."""

    def __init__(
        self,
        gate: Gate,
        *,
        application: Application,
        ready: Callable[[], None],
        may_go_on: Callable[[], bool],
        faults: LoopFaults,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                gate,
                http=PromptProtocol,
                ws="none",
                backlog=ACCEPTED_AT_ONCE,
                lifespan="on",
                log_config=None,
                log_level=SILENT,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self.application = application
        self._wake: Callable[[], object] = lambda: None
        """Ends the wait for the next look."""
        self._faults = faults
        self._ready = ready
        self._may_go_on = may_go_on

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        allow_enough()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._faults)
        loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="openmind-api"))
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(QUEUE)
        self._ready()

    async def main_loop(self) -> None:
        """Wait for the end, and look every second whether to go on.

        Uvicorn looks ten times, which costs a server that nobody asks anything most of what it costs at all.
        """
        loop, told = asyncio.get_running_loop(), asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(told.set)
        looks = 0
        while not await self.on_tick(looks):
            looks += 1
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await told.wait()

    async def on_tick(self, counter: int) -> bool:
        """Look whether to end."""
        if not self._may_go_on():
            return True
        if counter % LOOKS_PER_TRIM == 0:
            asyncio.get_running_loop().run_in_executor(None, give_back)
        return await super().on_tick(0)  # at 0 it sets the date that answers have

    @property
    def should_exit(self) -> bool:
        """Whether the server is to end. It may be told so in any thread, and by a signal."""
        return self._should_exit

    @should_exit.setter
    def should_exit(self, value: bool) -> None:
        self._should_exit = value
        if value:
            with suppress(RuntimeError):  # the loop is closed: it has ended
                self._wake()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: streams are told first, so that each can say so to its client."""
        self.application.visits.stop()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End at the first signal, at once at the second; a process that was asked to end has not failed."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        former = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)
