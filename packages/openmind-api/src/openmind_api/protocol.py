"""The connection: uvicorn's, with a limit to how long a request may take to arrive."""

import asyncio
import sys
from http import HTTPStatus
from typing import ClassVar, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from openmind_api import problems
from openmind_api.gate import ANSWERED, Gate
from openmind_api.problems import Refusal

TOO_LONG = 431


class PromptProtocol(H11Protocol):
    """Gives up clients that begin a request, or a connection, and do not go on, or that speak no HTTP."""

    request_s: ClassVar[float] = 20.0
    """A whole request, body included, must be there within this time."""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        super().data_received(data)
        arriving = self.conn.their_state is h11.SEND_BODY or (
            self.conn.their_state is h11.IDLE and self.conn.trailing_data[0] != b""
        )
        if not arriving:
            self._end()
        elif self._deadline is None:
            self._begin()

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read. Where an answer was begun the connection ends without a word."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            if self.conn.our_state is h11.SEND_RESPONSE:  # the body of a request broke off into something else
                self.scope["state"][ANSWERED] = True
            refusal = self._unread()
            headers, body = cast(Gate, self.app).unreadable(refusal)
            reason = HTTPStatus(refusal.status).phrase.encode()
            answer = (
                h11.Response(status_code=refusal.status, headers=headers, reason=reason),
                h11.Data(data=body),
                h11.EndOfMessage(),
            )
            self.transport.write(b"".join(self.conn.send(event) or b"" for event in answer))
        self.transport.close()

    def _unread(self) -> Refusal:
        """What is wrong: h11 gives up a head that does not end, and what is no HTTP."""
        error = sys.exception()
        if not isinstance(error, h11.RemoteProtocolError) or error.error_status_hint != TOO_LONG:
            return problems.NO_HTTP
        received, _ = self.conn.trailing_data
        return problems.LONG_HEADERS if b"\n" in received else problems.LONG_ADDRESS

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._deadline = self.loop.call_later(self.request_s, self.transport.close)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
