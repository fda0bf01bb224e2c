"""The connection: uvicorn's over llhttp, with limits to what a client may send and how long it may take to.

Llhttp reads all that it is given, and keeps what does not end. So it is given bytes in pieces, and none while a request
that is wholly there waits for its answer: what a client sends ahead stays bytes, and there is little of it.
"""

import asyncio
from collections.abc import Callable
from typing import ClassVar, cast

import httptools
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from openmind_api import problems
from openmind_api.gate import ANSWERED, MAX_ADDRESS_BYTES, Gate
from openmind_api.problems import Refusal
from openmind_api.sse import SLOW_READER_S

PIECE_BYTES = 4 * 1024
MOST_AHEAD_BYTES = 64 * 1024
MOST_HEAD_BYTES = 64 * 1024
"""Of a head, or between two pieces of a body: chunks may have extensions, and trailers behind them."""
VERSIONS = frozenset({"1.0", "1.1"})
CHUNKED = [b"chunked"]
BLANKS = b" \t"


class Unreadable(Exception):
    """A request that llhttp takes and nobody should."""


class BoundedFlow(FlowControl):
    """Reads no more while enough was sent ahead, whoever asks for it: uvicorn does with each request and answer."""

    def __init__(self, transport: asyncio.Transport, is_full: Callable[[], bool]) -> None:
        super().__init__(transport)
        self._is_full = is_full

    def resume_reading(self) -> None:
        """Read on, unless there is enough to be read already."""
        if not self._is_full():
            super().resume_reading()


class PromptProtocol(HttpToolsProtocol):
    """Gives up clients that begin a request, or a connection, and do not go on, or that speak no HTTP."""

    request_s: ClassVar[float] = 20.0
    """A whole request, body included, must be there within this time."""
    answer_s: ClassVar[float] = SLOW_READER_S
    """A client that takes nothing of an answer for this long is given up."""
    most: ClassVar[int] = 128
    """Connections at once; beyond that the one that has been idle for longest is closed, whoever has it."""
    _idle_since = 0.0
    _deadline: asyncio.TimerHandle | None = None
    _patience: asyncio.TimerHandle | None = None
    _ahead = b""
    """What arrived and was not read yet."""
    _unmoved_bytes = 0
    """What was read since a request began, or more of its body came."""
    _in_head = False
    _in_body = False
    _served: RequestResponseCycle | None = None
    """The request that is being answered; uvicorn's `cycle` is the one that arrived last."""
    _fault: Refusal | None = None
    """What is wrong with what came behind requests that are still to be answered."""
    _framing: bytes | None = None
    """How the body is framed that llhttp has left out, since the request asks for another protocol as well."""
    _replaying = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        super().connection_made(transport)
        self.flow = BoundedFlow(transport, lambda: len(self._ahead) > MOST_AHEAD_BYTES)
        self._idle_since = self.loop.time()
        self._begin()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        if self._fault is not None:
            return
        self._ahead += data
        self._read_on()
        if len(self._ahead) > MOST_AHEAD_BYTES:
            self.flow.pause_reading()

    def pause_writing(self) -> None:
        """See asyncio."""
        super().pause_writing()
        self._patience = self.loop.call_later(self.answer_s, self.transport.abort)

    def resume_writing(self) -> None:
        """See asyncio."""
        self._lose_no_patience()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._end()
        self._lose_no_patience()
        served = self._served
        if served is not None and served is not self.cycle and not served.response_complete:
            served.disconnected = True
            served.message_event.set()
        self.pipeline.clear()
        super().connection_lost(exc)

    # What llhttp finds

    def on_message_begin(self) -> None:
        """Take a request that begins."""
        if self._replaying:
            return
        super().on_message_begin()
        self._in_head, self._in_body, self._unmoved_bytes = True, False, 0
        self._end()
        self._begin()

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        if not self._replaying:
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those behind a body have nothing to say any more."""
        if self._in_head:
            super().on_header(name, value.strip(BLANKS))

    def on_headers_complete(self) -> None:
        """Let the request in whose head is there."""
        if self._replaying:
            return
        if not self.url.startswith(b"/"):  # a whole address counts in place of the Host header, which is looked at
            raise Unreadable
        self._framing = self._body_framing()
        super().on_headers_complete()
        self._in_head, self._in_body = False, True
        if not self.pipeline:
            self._served = self.cycle

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._unmoved_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Take a request that is wholly there."""
        if self._framing is not None and self.parser.should_upgrade():
            return  # its body is still to be read
        self._in_body, self._unmoved_bytes = False, 0
        self._end()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Go on with what was sent meanwhile."""
        self._served = self.pipeline[-1][0] if self.pipeline else None
        super().on_response_complete()
        self._idle_since = self.loop.time()
        if self._ahead:
            self._read_on()
        elif self._fault is not None and self._served is None and not self.transport.is_closing():
            self._say(self._fault)

    @property
    def _is_busy(self) -> bool:
        """Whether a request that is wholly there is still to be answered."""
        cycle = self.cycle
        return bool(self.pipeline) or (cycle is not None and not cycle.more_body and not cycle.response_complete)

    @property
    def _may_read(self) -> bool:
        return self._fault is None and not (self._is_busy or self.transport.is_closing())

    def _read_on(self) -> None:
        self._unset_keepalive_if_required()
        data, at = self._ahead, 0
        while at < len(data) and self._may_read:
            at += self._read(data[at : at + PIECE_BYTES])
        self._ahead = b"" if self._fault else data[at:]
        if self._may_read:
            if self._deadline is None:
                self._begin()
            if not (self._in_body and len(self.cycle.body) > HIGH_WATER_LIMIT):  # else it goes on when that is taken
                self.flow.resume_reading()

    def _read(self, piece: bytes) -> int:
        """Read a piece, or its first bytes, and say how many they were."""
        self._unmoved_bytes += len(piece)
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserUpgrade as other:
            if self._framing is not None:
                self._read_body_all_the_same(self._framing)
            return int(other.args[0])
        except httptools.HttpParserError:
            self._refuse(problems.NO_HTTP)
        else:
            if self._unmoved_bytes > MOST_HEAD_BYTES:
                self._refuse(self._too_long())
        return len(piece)

    def _read_body_all_the_same(self, framing: bytes) -> None:
        """Read the body of a request that asks for another protocol, which it does not get.

        Clients that would rather speak HTTP/2, as Java's, ask for it with every request. Llhttp takes what follows the
        head for that protocol, so that another parser has to take the body, which learns no more than where it ends.
        """
        self.parser = httptools.HttpRequestParser(self)
        self._framing = None
        self._replaying = True
        try:
            self.parser.feed_data(b"POST / HTTP/1.1\r\n" + framing + b"\r\n\r\n")
        finally:
            self._replaying = False

    def _body_framing(self) -> bytes | None:
        """The header that says where the body ends; None without a body.

        Raises:
            Unreadable: it says so in a way that another reader may understand in another way.
        """
        codings = [value.lower() for name, value in self.headers if name == b"transfer-encoding"]
        version = self.parser.get_http_version()
        if version not in VERSIONS or (codings and (codings != CHUNKED or version != "1.1")):
            raise Unreadable
        if codings:
            return b"Transfer-Encoding: chunked"
        lengths = [value for name, value in self.headers if name == b"content-length" and int(value)]
        return b"Content-Length: " + lengths[0] if lengths else None

    # Room for others

    @property
    def _is_idle(self) -> bool:
        """Whether no request that was let in is under way."""
        return not self.pipeline and (self.cycle is None or self.cycle.response_complete)

    def _make_room(self) -> None:
        """Close the connection that has been idle for longest when there are too many; this one, if all others work."""
        open_ones = [one for one in self.connections if isinstance(one, PromptProtocol) and not one._is_closing]
        if len(open_ones) > self.most:
            oldest = min((one for one in open_ones if one._is_idle), key=lambda one: one._idle_since)
            oldest.transport.abort()

    @property
    def _is_closing(self) -> bool:
        return bool(self.transport.is_closing())

    # What is no request

    def _too_long(self) -> Refusal:
        """Say what does not end; where nothing of the headers came it may be the address."""
        if self._in_head and len(self.url) > MAX_ADDRESS_BYTES:
            return problems.LONG_ADDRESS
        return problems.LONG_HEADERS if self._in_head or self._in_body else problems.NO_HTTP

    def _refuse(self, refusal: Refusal) -> None:
        """Refuse what cannot be read, after the answers that are due before."""
        self._end()
        broken = self.cycle if self._in_body else None
        if broken is not None and self.pipeline:
            self.pipeline.popleft()
        elif broken is not None:
            if broken.response_started:  # half an answer is no place for another
                self.transport.close()
                return
            self.scope["state"][ANSWERED] = True
            self._say(refusal)
            return
        if self._served is None or self._served.response_complete:
            self._say(refusal)
        else:
            self._fault = refusal

    def _say(self, refusal: Refusal) -> None:
        headers, body = cast(Gate, self.app).unreadable(refusal)
        lines = (b"%s: %s\r\n" % header for header in headers)
        self.transport.write(b"".join([STATUS_LINE[refusal.status], *lines, b"\r\n", body]))
        self.transport.close()

    def _lose_no_patience(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _begin(self) -> None:
        self._deadline = self.loop.call_later(self.request_s, self.transport.close)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
