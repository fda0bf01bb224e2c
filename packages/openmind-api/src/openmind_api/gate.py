"""The gate: what every request passes before anything else looks at it. What it does not know, it refuses."""

import asyncio
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import cast

from attrs import define, field, frozen
from litestar import Litestar
from litestar.types import (
    LifeSpanReceive,
    LifeSpanScope,
    LifeSpanSend,
    Message,
    Receive,
    Scope,
    Send,
)

from openmind_api import problems
from openmind_api.access_log import AccessLine
from openmind_api.origins import is_own_host, is_own_origin
from openmind_api.problems import Refusal
from openmind_api.refused import Refused

MAX_BODY_BYTES = 1024 * 1024
MAX_ADDRESS_BYTES = 16 * 1024
MAX_HEADER_BYTES = 32 * 1024
OPEN_PATHS = frozenset({"/health", "/docs", "/openapi.json"})
"""All that is answered without the token; none of it tells anything about the person."""
METHODS = "GET, POST, PUT, PATCH, DELETE"
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"vary", b"Origin"),
)
UTF_8 = frozenset({"utf-8", "utf8", "us-ascii"})
UNLESS_SAID = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
SET_HERE = frozenset({name for name, _ in ALWAYS} | {b"x-request-id", b"set-cookie", b"access-control-allow-origin"})
"""Headers that no route decides on, whoever added it; there are no cookies, and origins are those of the command."""
ANSWERED = "answered"
"""In the state of a request that the connection has answered, and written down, since it turned into no HTTP."""
EXPOSED = b"X-Request-ID, Retry-After, ETag"

Header = tuple[bytes, bytes]
Headers = list[Header]


@frozen(kw_only=True)
class Arrival:
    """A request before anything of its body was read."""

    method: str
    path: str
    address_bytes: int
    headers: Mapping[bytes, list[bytes]]
    port: int
    """Where it came in."""

    @classmethod
    def of(cls, scope: Mapping[str, object]) -> "Arrival":
        """Read an ASGI scope."""
        raw = scope["headers"]
        assert isinstance(raw, list)
        headers: dict[bytes, list[bytes]] = {}
        for name, value in raw:
            headers.setdefault(name.lower(), []).append(value)
        server = scope.get("server")
        port = server[1] if isinstance(server, tuple | list) else None
        query, path = scope.get("query_string"), scope["path"]
        return cls(
            method=str(scope["method"]),
            path=str(path),
            address_bytes=len(str(path)) + (len(query) if isinstance(query, bytes) else 0),
            headers=headers,
            port=port if isinstance(port, int) else 0,
        )

    def only(self, name: bytes) -> str | None:
        """The value of a header that may be there once; a header sent twice has no value anyone should trust."""
        values = self.headers.get(name, [])
        return values[0].decode("latin-1") if len(values) == 1 else None

    @property
    def header_bytes(self) -> int:
        """All header lines as they are sent, with what stands between a name and its value and ends the line."""
        return sum(len(name) + len(b": \r\n") + len(value) for name, each in self.headers.items() for value in each)

    @property
    def has_body(self) -> bool:
        return b"transfer-encoding" in self.headers or self.only(b"content-length") not in {None, "0"}

    @property
    def is_preflight(self) -> bool:
        return self.method == "OPTIONS" and b"access-control-request-method" in self.headers


@frozen(kw_only=True)
class Admission:
    """Decides whether a request is let in."""

    token: Callable[[], str | None]
    """Reads the token anew for each request; None lets nobody in, and `Refused` says why that cannot be told."""
    allowed_origins: frozenset[str] = frozenset()

    def refusal(self, arrival: Arrival) -> Refusal | None:
        """Say why a request is refused; None lets it in."""
        if not self._is_for_us(arrival):
            return problems.FOREIGN_HOST
        if arrival.address_bytes > MAX_ADDRESS_BYTES:
            return problems.LONG_ADDRESS
        if arrival.header_bytes > MAX_HEADER_BYTES:
            return problems.LONG_HEADERS
        if not self._is_from_us(arrival):
            return problems.FOREIGN_ORIGIN
        if arrival.is_preflight:
            return None if self.allowed_origin(arrival) else problems.FOREIGN_ORIGIN
        if arrival.path not in OPEN_PATHS:
            try:
                if not self._has_token(arrival):
                    return problems.NO_TOKEN
            except Refused as error:
                return error.refusal
        return _body_refusal(arrival)

    def allowed_origin(self, arrival: Arrival) -> str | None:
        """The origin of the page that asks, when a person allowed it."""
        origin = arrival.only(b"origin")
        return origin if origin in self.allowed_origins else None

    def _is_for_us(self, arrival: Arrival) -> bool:
        """A name that some stranger's DNS made point here is not ours."""
        host = arrival.only(b"host")
        return host is not None and is_own_host(host, arrival.port)

    def _is_from_us(self, arrival: Arrival) -> bool:
        """Programs name no origin; browsers do, and say how the page is related to us."""
        if self.allowed_origin(arrival):
            return True
        if b"origin" in arrival.headers and not is_own_origin(arrival.only(b"origin") or "", arrival.port):
            return False
        return all(value in {b"same-origin", b"none"} for value in arrival.headers.get(b"sec-fetch-site", []))

    def _has_token(self, arrival: Arrival) -> bool:
        scheme, _, given = (arrival.only(b"authorization") or "").partition(" ")
        token = self.token()
        return token is not None and scheme.lower() == "bearer" and same(token, given)


def same(token: str, given: str) -> bool:
    """Compare in a time that depends on neither."""
    expected, shown = (sha256(text.encode("utf-8", "surrogateescape")).digest() for text in (token, given))
    return secrets.compare_digest(expected, shown)


def _body_refusal(arrival: Arrival) -> Refusal | None:
    if arrival.method not in WRITES or not arrival.has_body:
        return None
    length = arrival.only(b"content-length")
    if length is not None and length.isdigit() and int(length) > MAX_BODY_BYTES:
        return problems.TOO_LARGE
    if any(coding.strip().lower() != b"identity" for coding in arrival.headers.get(b"content-encoding", [])):
        return problems.ENCODED
    return None if _is_json(arrival.only(b"content-type") or "") else problems.NO_JSON


def _is_json(content_type: str) -> bool:
    """Whether a body is declared as JSON; that is UTF-8, and another `charset` would not be believed but misread."""
    kind, *parameters = (part.strip().lower() for part in content_type.split(";"))
    named = [value.strip('" ') for name, _, value in (each.partition("=") for each in parameters) if name == "charset"]
    return kind == "application/json" and set(named) <= UTF_8


@frozen(kw_only=True)
class Gate:
    """The outermost ASGI application. Routes of plugins pass it like our own."""

    app: Litestar
    admission: Admission
    log: Callable[[AccessLine], None]
    bug: Callable[[BaseException, Scope], Refusal]
    """Notes an error that nobody foresaw, and says how it is told."""

    async def __call__(
        self, scope: Scope | LifeSpanScope, receive: Receive | LifeSpanReceive, send: Send | LifeSpanSend
    ) -> None:
        """See ASGI."""
        match scope["type"]:
            case "lifespan":
                await self.app(scope, receive, send)
            case "http":
                await self._answer(scope, cast(Receive, receive), cast(Send, send))
            case _:
                await cast(Send, send)({"type": "websocket.close", "code": 1008, "reason": None})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        arrival = Arrival.of(scope)
        reply = Reply(send=send, extra=self._extra(arrival))
        scope["state"]["request_id"] = reply.request_id
        began = time.perf_counter()
        try:
            refusal = self.admission.refusal(arrival)
            if refusal is not None:
                await refuse(refusal, reply)
            elif arrival.is_preflight:
                await permit(arrival, reply)
            else:
                await self.app(scope, receive, reply)
        except (asyncio.CancelledError, KeyboardInterrupt):
            raise
        except BaseException as error:
            told = self.bug(error, scope)
            if reply.status:
                raise
            await refuse(told, reply)
        finally:
            if ANSWERED not in scope["state"]:
                self.log(
                    AccessLine(
                        request_id=reply.request_id,
                        method=arrival.method,
                        # Only paths of ours are written down: a lost client may put anything into the others.
                        path=arrival.path if scope.get("path_template") or arrival.path in OPEN_PATHS else "-",
                        status=reply.status,
                        bytes=reply.sent,
                        seconds=time.perf_counter() - began,
                    )
                )

    def unreadable(self, refusal: Refusal) -> tuple[Headers, bytes]:
        """The answer to what cannot be read as a request, for a connection on which no other is under way."""
        request_id = new_request_id()
        body = refusal.encoded()
        line = AccessLine(
            request_id=request_id, method="-", path="-", status=refusal.status, bytes=len(body), seconds=0.0
        )
        self.log(line)
        return completed([*headers_of(refusal, body), (b"connection", b"close")], ALWAYS, request_id), body

    def _extra(self, arrival: Arrival) -> tuple[tuple[bytes, bytes], ...]:
        origin = self.admission.allowed_origin(arrival)
        if origin is None:
            return ALWAYS
        return (
            *ALWAYS,
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-expose-headers", EXPOSED),
        )


def new_request_id() -> str:
    """Name a request."""
    return secrets.token_hex(8)


def completed(said: Iterable[Header], extra: Iterable[Header], request_id: str) -> Headers:
    """Add the headers that every answer has."""
    given = list(said)
    names = {name.lower() for name, _ in given}
    return [
        *((name, value) for name, value in given if name.lower() not in SET_HERE),
        *extra,
        *(header for header in UNLESS_SAID if header[0] not in names),
        (b"x-request-id", request_id.encode()),
    ]


def headers_of(refusal: Refusal, body: bytes) -> Headers:
    """The headers of a refusal."""
    return [
        (b"content-type", problems.MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        *((name.encode(), value.encode()) for name, value in refusal.headers),
    ]


@define(kw_only=True)
class Reply:
    """An answer on its way out: adds the headers that every answer has, and counts."""

    send: Send
    extra: tuple[tuple[bytes, bytes], ...]
    request_id: str = field(factory=new_request_id)
    status: int = 0
    sent: int = 0

    async def __call__(self, message: Message) -> None:
        """See ASGI's `send`."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = completed(message["headers"], self.extra, self.request_id)
        elif message["type"] == "http.response.body":
            self.sent += len(message["body"])
        await self.send(message)


async def refuse(refusal: Refusal, send: Send) -> None:
    """Send a refusal."""
    body = refusal.encoded()
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers_of(refusal, body)})
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def permit(arrival: Arrival, send: Send) -> None:
    """Tell the browser of an allowed page what it may send."""
    headers = [
        (b"access-control-allow-methods", METHODS.encode()),
        (b"access-control-allow-headers", b"Authorization, Content-Type, If-None-Match"),
        (b"access-control-max-age", b"600"),
    ]
    if b"access-control-request-private-network" in arrival.headers:
        headers.append((b"access-control-allow-private-network", b"true"))
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
