"""The sockets: records each request, asks the script first and the routes then."""

import contextlib
import json
import socket
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from lmstudio_server.routes import answer
from lmstudio_server.studio import Json, ServedModel, Studio

Step = Callable[["Exchange"], None]
"""What is done with a request instead of answering it well."""

KEEP_ALIVE_S = 5
"""What LM Studio says of idle connections. This server keeps them: a client that stands still loses no request."""


@dataclass(frozen=True)
class Recorded:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    """By lower-case name."""
    body: Any
    """The JSON of a POST."""
    connection: int
    """Equal for requests that came over one connection."""


class ScriptedServer:
    """Serves on a free port of 127.0.0.1 while the context lasts."""

    def __init__(self, *models: ServedModel, **switches: Any) -> None:
        self.studio = Studio(models=list(models), **switches) if models else Studio(**switches)
        self.requests: list[Recorded] = []
        self.cancelled = 0
        """How many streams the client left before their end."""
        self.embedding_now = 0
        self.most_embeddings_at_once = 0
        self.closing = threading.Event()
        self._once: dict[str, deque[Step]] = defaultdict(deque)
        self._always: dict[str, Step] = {}
        self._server: _Listener | None = None
        self._kept: socket.socket | None = None
        """Holds the port while nobody listens, so that no other program is found there."""
        self._port = 0

    @property
    def base_url(self) -> str:
        return f"http://localhost:{self._port}"

    def wait_for(self, path: str) -> None:
        """Wait until something was asked for."""
        self._wait_until(lambda: any(request.path == path for request in self.requests))

    def wait_until_left(self) -> None:
        """Wait until a client left a stream before its end."""
        self._wait_until(lambda: self.cancelled > 0)

    def _wait_until(self, happened: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not happened():
            assert time.monotonic() < deadline, [request.path for request in self.requests]
            time.sleep(0.02)

    def script(self, path: str, *steps: Step) -> None:
        """Do this with the next requests to a path, one step each."""
        self._once[path].extend(steps)

    def always(self, path: str, step: Step | None) -> None:
        """Do this with every request to a path; None ends it."""
        if step is None:
            self._always.pop(path, None)
        else:
            self._always[path] = step

    def posts(self, path: str) -> list[Any]:
        """The bodies that were posted to a path."""
        return [request.body for request in self.requests if request.method == "POST" and request.path == path]

    def paths(self, method: str | None = None) -> list[str]:
        """The paths that were asked for, in order."""
        return [request.path for request in self.requests if method in (None, request.method)]

    def step_for(self, path: str) -> Step | None:
        with self.studio.lock:
            waiting = self._once[path]
            return waiting.popleft() if waiting else self._always.get(path)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._let_go()

    def start(self) -> None:
        """Listen; the second time on the same port as the first."""
        self.closing.clear()
        self._server = _Listener(("127.0.0.1", self._port), _handler(self))
        self._port = self._server.server_address[1]
        self._let_go()
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Stop listening and break every connection."""
        self.closing.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server.break_connections()
            self._server = None
            self._kept = _bound(self._port)

    def _let_go(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None


def _bound(port: int) -> socket.socket:
    """Take a port and refuse whoever calls there; a listener may take it over."""
    holder = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", port))
    return holder


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 32

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def break_connections(self) -> None:
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is no news."""


@dataclass
class Exchange:
    """One request and the way to answer it."""

    server: ScriptedServer
    request: Recorded
    handler: BaseHTTPRequestHandler = field(repr=False)
    change: Callable[[Json], object] | None = None
    """Applied to the next document that is sent."""

    @property
    def studio(self) -> Studio:
        return self.server.studio

    def answer_normally(self) -> None:
        answer(self)

    def json(self, document: object, *, status: int = 200) -> None:
        if self.change is not None and isinstance(document, dict):
            changed = self.change(document)
            document = document if changed is None else changed
        self.send(json.dumps(document).encode(), content_type="application/json; charset=utf-8", status=status)

    def send(self, body: bytes, *, content_type: str, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.handler.send_response(status)
        self.handler.send_header("X-Powered-By", "Express")
        self.handler.send_header("Content-Type", content_type)
        self.handler.send_header("Content-Length", str(len(body)))
        self.handler.send_header("Keep-Alive", f"timeout={KEEP_ALIVE_S}")
        for name, value in (headers or {}).items():
            self.handler.send_header(name, value)
        self.handler.end_headers()
        self.handler.wfile.write(body)

    def begin_stream(self) -> None:
        self.handler.send_response(200)
        self.handler.send_header("Content-Type", "text/event-stream")
        self.handler.send_header("Cache-Control", "no-cache")
        self.handler.send_header("Transfer-Encoding", "chunked")
        self.handler.end_headers()

    def write(self, data: bytes) -> None:
        """Write one chunk of a stream."""
        try:
            self.handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        except OSError:
            with self.studio.lock:
                self.server.cancelled += 1
            raise

    def event(self, document: Json) -> None:
        """Write one native event."""
        self.write(f"event: {document['type']}\ndata: {json.dumps(document, ensure_ascii=False)}\n\n".encode())

    def data(self, document: object) -> None:
        """Write one unnamed event."""
        self.write(f"data: {json.dumps(document)}\n\n".encode())

    def end_stream(self) -> None:
        self.handler.wfile.write(b"0\r\n\r\n")

    def drop(self) -> None:
        self.handler.close_connection = True

    def wait(self, seconds: float) -> None:
        """Wait, but not beyond the end of the server."""
        if seconds:
            self.server.closing.wait(seconds)


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._serve()

        def do_POST(self) -> None:
            self._serve()

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            recorded = Recorded(
                method=self.command,
                path=self.path,
                headers={name.lower(): value for name, value in self.headers.items()},
                body=json.loads(body) if body else None,
                connection=self.client_address[1],
            )
            server.requests.append(recorded)
            exchange = Exchange(server, recorded, self)
            step = server.step_for(self.path)
            if step is None:
                exchange.answer_normally()
            else:
                step(exchange)
            if server.closing.is_set():
                self.close_connection = True

    return Handler
