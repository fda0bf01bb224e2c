"""HTTP to one server: bytes out, bytes back. The only module that knows httpx."""

import socket
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from typing import Protocol, runtime_checkable

import httpx
from attrs import frozen
from openmind.domain.errors import ProviderError, ProviderUnreachable

from openmind_lmstudio.address import Address
from openmind_lmstudio.errors import ConnectionLost, Nonsense, Redirected, TooSlow
from openmind_lmstudio.idle import IdleWatch, shut_down
from openmind_lmstudio.lifeline import Deadline, Lifeline

CONNECT_S = 2.0
CONNECTED = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
"""What httpx tells a trace once there is a socket."""
MAX_REPLY_BYTES = 64 * 1024 * 1024


@runtime_checkable
class NetworkStream(Protocol):
    """What httpx calls a connection."""

    def get_extra_info(self, info: str) -> object:
        """Return what stands behind a name, None when there is no such thing."""
        ...


@frozen(kw_only=True)
class HttpReply:
    """A whole reply."""

    status: int
    body: bytes


@frozen(kw_only=True)
class HttpStream:
    """A reply whose body is still coming."""

    status: int
    content_type: str
    chunks: Iterator[bytes]
    idle: IdleWatch
    """To be started when the body must not pause any more."""


class Transport:
    """Connections to one server. Thread-safe.

    Proxies of the environment are not used and redirects not followed: text and token go to the address that the
    person wrote, and nowhere else.
    """

    def __init__(self, address: Address, *, token: str, server: str) -> None:
        self._address = address
        self._server = server
        headers = {"Accept-Encoding": "identity", "User-Agent": "openmind"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        trust = _trust(address)

        def client(limits: httpx.Limits) -> httpx.Client:
            return httpx.Client(headers=headers, trust_env=False, follow_redirects=False, limits=limits, verify=trust)

        # Every request has a connection of its own, so that its socket is known before anything is asked, and can be
        # shut down when the time is over. Answers are not counted among the others, and are as many as there are
        # listeners: they take minutes, and no search is to wait for one.
        self._exchanges = client(httpx.Limits(max_connections=8, max_keepalive_connections=0))
        self._streams = client(httpx.Limits(max_keepalive_connections=0))

    def __repr__(self) -> str:
        return f"Transport({self._address.shown!r})"

    def exchange(self, method: str, path: str, body: bytes | None, *, read_s: float) -> HttpReply:
        """Send a request and read its whole reply, within `read_s` from the first byte sent to the last received.

        Raises:
            ProviderUnreachable: no connection, or it broke.
            TooSlow, ProviderError
        """
        request = self._request(self._exchanges, method, path, body, read_s=read_s, accept="application/json")
        with Deadline(read_s) as deadline, self._send(self._exchanges, request, deadline, read_s=read_s) as response:
            received, size = list[bytes](), 0
            for chunk in response.iter_raw():
                received.append(chunk)
                size += len(chunk)
                if size > MAX_REPLY_BYTES:
                    raise Nonsense(f"{self._server} sent a reply without end")
            if deadline.passed:  # a body of unknown length ends with its connection
                raise self._too_slow(read_s, asked=body is not None)
            return HttpReply(status=response.status_code, body=b"".join(received))

    @contextmanager
    def stream(
        self, method: str, path: str, body: bytes, *, first_s: float, idle_s: float, lifeline: Lifeline
    ) -> Iterator[HttpStream]:
        """Send a request and hand out its reply while it comes; leaving the context closes the connection.

        Args:
            method: of HTTP.
            path: below the address.
            body: JSON.
            first_s: longest wait for the head of the reply, and longest silence before the idle watch is started.
            idle_s: longest silence after that.
            lifeline: the connection hangs on it from the moment it is made.

        Raises:
            The same as `exchange`, also while the chunks are read.
        """
        request = self._request(self._streams, method, path, body, read_s=first_s, accept="text/event-stream")
        with (
            lifeline.loosened(),
            Deadline(first_s) as head,
            self._send(self._streams, request, head, lifeline, read_s=first_s) as response,
        ):
            head.lift()
            idle = IdleWatch(response.extensions["network_stream"].get_extra_info("socket"), idle_s)
            with idle:
                yield HttpStream(
                    status=response.status_code,
                    content_type=response.headers.get("content-type", ""),
                    chunks=self._chunks(response, idle),
                    idle=idle,
                )

    def close(self) -> None:
        """Give back connections."""
        self._exchanges.close()
        self._streams.close()

    def _chunks(self, response: httpx.Response, idle: IdleWatch) -> Iterator[bytes]:
        arriving = response.iter_raw()
        try:
            while True:
                with idle.waiting():
                    chunk = next(arriving, None)
                if chunk is None:
                    break
                yield chunk
        except httpx.TransportError:
            if not idle.expired:
                raise
        if idle.expired:
            raise self._too_slow(idle.limit_s)

    def _request(
        self, client: httpx.Client, method: str, path: str, body: bytes | None, *, read_s: float, accept: str
    ) -> httpx.Request:
        headers = {"Accept": accept} if body is None else {"Accept": accept, "Content-Type": "application/json"}
        timeout = httpx.Timeout(connect=CONNECT_S, read=read_s, write=30.0, pool=read_s)
        try:
            return client.build_request(
                method, self._address.dialled + path, content=body, headers=headers, timeout=timeout
            )
        except httpx.InvalidURL as error:
            raise self._not_asked() from error

    @contextmanager
    def _send(
        self, client: httpx.Client, request: httpx.Request, deadline: Deadline, *lifelines: Lifeline, read_s: float
    ) -> Iterator[httpx.Response]:
        request.extensions["trace"] = partial(_tie, (deadline, *lifelines))
        try:
            with closing(client.send(request, stream=True)) as response:
                if response.is_redirect:
                    raise Redirected(
                        f"Something at {self._address.shown} answers with a redirect and sends its callers elsewhere",
                        hint="Give the address of the server itself: `openmind setup --base-url URL`.",
                    )
                yield response
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise ProviderUnreachable(
                f"{self._server} does not answer at {self._address.shown}",
                hint="Start its local server, or say where it is: `openmind setup --base-url URL`.",
            ) from error
        except httpx.TimeoutException as error:
            raise self._too_slow(read_s, asked=request.method != "GET") from error
        except httpx.TransportError as error:
            if deadline.passed:
                raise self._too_slow(read_s, asked=request.method != "GET") from error
            raise ConnectionLost(
                f"{self._server} broke the connection at {self._address.shown}", hint="See whether it still runs."
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise self._not_asked() from error

    def _not_asked(self) -> ProviderError:
        return ProviderError(
            f"{self._server} could not be asked at {self._address.shown}",
            hint="Say where it is: `openmind setup --base-url URL`.",
        )

    def _too_slow(self, seconds: float, *, asked: bool = True) -> TooSlow:
        """Say that the time is over; where no model was asked, none can be blamed."""
        if asked:
            return TooSlow(
                f"{self._server} took more than {seconds:g} seconds and was given up",
                hint="A smaller model, or fewer loaded ones, may be faster.",
            )
        return TooSlow(
            f"What listens at {self._address.shown} took more than {seconds:g} seconds to say what it has",
            hint="Restart the server; if another program uses the port: `openmind setup --base-url URL`.",
        )


def _tie(lifelines: Iterable[Deadline | Lifeline], event: str, told: Mapping[str, object]) -> None:
    """Hear of a connection that was just made, the encrypted one in place of the plain one it stands on."""
    made = told.get("return_value")
    connected = made.get_extra_info("socket") if event in CONNECTED and isinstance(made, NetworkStream) else None
    if isinstance(connected, socket.socket):
        for lifeline in lifelines:
            lifeline.tie(partial(shut_down, connected))


def _trust(address: Address) -> ssl.SSLContext:
    """Trust the system's authorities over TLS. Without TLS nothing is read: that saves 20 ms at each start."""
    return ssl.create_default_context() if address.encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
