"""The server: one process, one loopback address."""

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from importlib.metadata import version

import uvicorn
from openmind.adapters.token_file import TokenFile
from openmind.domain.errors import HomeError
from openmind.live import LiveMemory

from openmind_api.access_log import ServerLog
from openmind_api.app import Application, build_app
from openmind_api.gate import Admission, Gate
from openmind_api.origins import parse_origin
from openmind_api.protocol import PromptProtocol
from openmind_api.sse import Pace

GRACE_S = 3
THREADS = 16
"""Requests that are worked on at once; others wait."""
LOG_FILE = "api.jsonl"
SILENT = logging.CRITICAL + 1


@contextmanager
def prepared(
    live: LiveMemory,
    *,
    origins: Iterable[str] = (),
    pace: Pace | None = None,
    ready: Callable[[], None] = lambda: None,
) -> Iterator["ApiServer"]:
    """Make a server that is to `run` on a socket of `bind`, until a signal or `should_exit` ends it.

    Args:
        live: what is served; it must stay open.
        origins: web pages that may use the API, each as `parse_origin` writes it.
        pace: how long streams wait for what.
        ready: called when requests are answered.
    """
    tokens = TokenFile(live.home.token_file)
    tokens.ensure()
    with closing(ServerLog(live.home.logs / LOG_FILE)) as log:
        app = build_app(live, version=version("openmind-core"), note_bug=log.bug, pace=pace)
        for sentence in app.broken:
            log.warning(sentence)
        admission = Admission(token=lambda: _token(tokens), allowed_origins=frozenset(map(parse_origin, origins)))
        gate = Gate(app=app.routes, admission=admission, log=log.access)
        yield ApiServer(gate, application=app, ready=ready)


def _token(tokens: TokenFile) -> str | None:
    """Read the token; a file that cannot be trusted lets nobody in."""
    try:
        return tokens.read()
    except HomeError:
        return None


class ApiServer(uvicorn.Server):
    """Uvicorn, silent, that ends when a signal says so without passing the signal on."""

    def __init__(self, gate: Gate, *, application: Application, ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                gate,
                http=PromptProtocol,
                ws="none",
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
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="openmind-api"))
        await super().startup(sockets)
        self._ready()

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
