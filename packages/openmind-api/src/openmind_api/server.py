"""The server: one process, one loopback address."""

import asyncio
import errno
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from importlib.metadata import version

import uvicorn
from openmind.adapters.token_file import TokenFile
from openmind.domain.errors import HomeError, OpenMindError, UsageError
from openmind.live import LiveMemory

from openmind_api.access_log import ServerLog
from openmind_api.app import build_app
from openmind_api.gate import Admission, Gate
from openmind_api.origins import parse_origin

HOST = "127.0.0.1"
"""The only address there is: everything that listens elsewhere can be reached by strangers."""
GRACE_S = 3
THREADS = 16
"""Requests that are worked on at once; others wait."""
LOG_FILE = "api.jsonl"
SILENT = logging.CRITICAL + 1


class PortTaken(OpenMindError):
    """Another program listens on the port."""

    code = "serve.port_taken"


def bind(port: int) -> socket.socket:
    """Take the port.

    Raises:
        UsageError: there is no such port.
        PortTaken: another program has it, or it may not be taken.
    """
    if not 0 <= port <= 65_535:
        raise UsageError(f"There is no port {port}", hint="Ports go from 1 to 65535; 0 takes any that is free.")
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"Port {port} is taken by another program", hint="Choose another: openmind serve --port 8766"
            ) from error
        raise PortTaken(
            f"Port {port} cannot be taken: {error.strerror or error}", hint="Choose another: openmind serve --port 8766"
        ) from error
    return listener


def serve(
    live: LiveMemory,
    listener: socket.socket,
    *,
    origins: tuple[str, ...] = (),
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal ends it. The memory stays open; the socket is closed.

    Args:
        live: what is served.
        listener: a bound socket, see `bind`.
        origins: web pages that may use the API; each as `parse_origin` writes it.
        ready: called when requests are answered.
    """
    tokens = TokenFile(live.home.token_file)
    tokens.ensure()
    with closing(ServerLog(live.home.logs / LOG_FILE)) as log:
        app = build_app(live, version=version("openmind-core"), note_bug=log.bug)
        for sentence in app.broken:
            log.warning(sentence)
            sys.stderr.write(f"openmind: {sentence}\n")
        admission = Admission(token=lambda: _token(tokens), allowed_origins=frozenset(map(parse_origin, origins)))
        gate = Gate(app=app.routes, admission=admission, log=log.access)
        ApiServer(gate, ready=ready, stop=app.visits.stop).run(sockets=[listener])


def _token(tokens: TokenFile) -> str | None:
    """Read the token; a file that cannot be trusted lets nobody in."""
    try:
        return tokens.read()
    except HomeError:
        return None


class ApiServer(uvicorn.Server):
    """Uvicorn, silent, that ends when a signal says so without passing the signal on."""

    def __init__(self, gate: Gate, *, ready: Callable[[], None], stop: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                gate,
                http="h11",
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
        self._ready = ready
        self._stop = stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="openmind-api"))
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: streams are told first, so that each can say so to its client."""
        self._stop()
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
