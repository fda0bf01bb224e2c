"""A conversation in JSON with one server: requests are sent again where that may help, refusals become errors."""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING

from openmind.domain.errors import ConfigError, ProviderError

from openmind_lmstudio.errors import (
    NoModelServer,
    Nonsense,
    Refusal,
    TokenSource,
    said_by,
    translate,
)
from openmind_lmstudio.lifeline import Lifeline
from openmind_lmstudio.policy import BETWEEN_EVENTS_S, STREAM
from openmind_lmstudio.sse import ServerEvent, read_events
from openmind_lmstudio.wire import Record, decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from openmind_lmstudio.address import Address
    from openmind_lmstudio.policy import Patience
    from openmind_lmstudio.transport import HttpReply, HttpStream, Transport

_log = logging.getLogger(__name__)
_TOKEN = re.compile(r"[\x21-\x7e]+")


class Connection:
    """Talks to one server. Thread-safe; the first request opens it.

    Args:
        address: where the server is.
        server: what people call it.
        token_env: the environment variable that holds the token, or an empty string.
        environ: the environment.
        sleep: waits between two attempts.
        idle_s: longest silence between two events of a stream once the answer began.
    """

    def __init__(
        self,
        address: Address,
        *,
        server: str,
        token_env: str = "",
        environ: Mapping[str, str] = os.environ,
        sleep: Callable[[float], None] = time.sleep,
        idle_s: float = BETWEEN_EVENTS_S,
    ) -> None:
        self.address = address
        self.server = server
        self.sleep = sleep
        self._token_env = token_env
        self._environ = environ
        self._idle_s = idle_s
        self._opening = threading.Lock()
        self._transport: Transport | None = None

    def __repr__(self) -> str:
        return f"Connection({self.address.shown!r})"

    def get(self, path: str, patience: Patience) -> Record:
        """Ask for something.

        Raises:
            ProviderUnreachable, ProviderUnauthorized, ProviderError
        """
        return self._request("GET", path, None, patience)

    def post(self, path: str, body: Mapping[str, object], patience: Patience) -> Record:
        """Send a JSON object and read the one that comes back.

        Raises:
            ProviderUnreachable, ProviderUnauthorized, ProviderError
        """
        return self._request("POST", path, body, patience)

    @contextmanager
    def stream(self, path: str, body: Mapping[str, object], lifeline: Lifeline | None = None) -> Iterator[EventStream]:
        """Send a JSON object and read the events that come back. Leaving the context closes the connection.

        Args:
            path: below the address.
            body: the object.
            lifeline: what another thread may end the wait with, also before the server has begun to answer.

        Raises:
            The same as `post`, also while the events are read.
        """
        with said_by(self.server), ExitStack() as stack:
            reply = self._begin(stack, path, encode(body), lifeline or Lifeline())
            if reply.status >= 400 or "event-stream" not in reply.content_type:
                self._refuse_stream(reply, body)
            yield EventStream(reply)

    def close(self) -> None:
        """Give back the connections; a later request opens them again."""
        with self._opening:
            transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    def error(self, document: object, *, status: int, model: str = "") -> ProviderError | None:
        """Find a refusal in a document that came by any way, and name it."""
        refusal = Refusal.read(status, document)
        if refusal is None:
            return None
        _log.debug("%s refused: %s", self.server, refusal.summary)
        token = TokenSource(variable=self._token_env, sent=bool(self._token()))
        return translate(refusal, server=self.server, model=model, token=token)

    def _request(self, method: str, path: str, body: Mapping[str, object] | None, patience: Patience) -> Record:
        content = None if body is None else encode(body)
        model = "" if body is None else Record.of(body).text("model")
        for pause_s in patience.pauses_s:
            try:
                return self._attempt(method, path, content, patience.read_s, model)
            except ProviderError as error:
                if not patience.repeats_after(error):
                    raise
                self.sleep(pause_s)
        return self._attempt(method, path, content, patience.read_s, model)

    def _attempt(self, method: str, path: str, content: bytes | None, read_s: float, model: str) -> Record:
        reply = self._open().exchange(method, path, content, read_s=read_s)
        document = self._document(reply)
        error = self.error(document, status=reply.status, model=model)
        if error is not None:
            raise error
        return Record.of(document)

    def _document(self, reply: HttpReply) -> object:
        """Read the body; one that is no JSON still tells by its status that the request failed."""
        try:
            return decode(reply.body)
        except Nonsense as error:
            if reply.status >= 400:
                return None
            raise NoModelServer(
                f"What answers at {self.address.shown} does not talk like a model server",
                hint="Another program may use the port. Say where the server is: `openmind setup --base-url URL`.",
            ) from error

    def _begin(self, stack: ExitStack, path: str, content: bytes, lifeline: Lifeline) -> HttpStream:
        """Open a stream; once more when there was no connection, for then nothing was asked yet."""
        transport = self._open()
        for pause_s in STREAM.pauses_s:
            try:
                return stack.enter_context(self._streaming(transport, path, content, lifeline))
            except ProviderError as error:
                if not STREAM.repeats_after(error):
                    raise
                self.sleep(pause_s)
        return stack.enter_context(self._streaming(transport, path, content, lifeline))

    def _streaming(
        self, transport: Transport, path: str, content: bytes, lifeline: Lifeline
    ) -> AbstractContextManager[HttpStream]:
        return transport.stream("POST", path, content, first_s=STREAM.read_s, idle_s=self._idle_s, lifeline=lifeline)

    def _refuse_stream(self, reply: HttpStream, body: Mapping[str, object]) -> None:
        """Raise what a reply says that should have been a stream and is not."""
        from openmind_lmstudio.transport import MAX_REPLY_BYTES, HttpReply

        received = bytearray()
        for chunk in reply.chunks:
            received += chunk
            if len(received) > MAX_REPLY_BYTES:
                break
        document = self._document(HttpReply(status=reply.status, body=bytes(received)))
        error = self.error(document, status=reply.status, model=Record.of(body).text("model"))
        raise error or Nonsense(f"{self.server} did not stream its answer")

    def _open(self) -> Transport:
        with self._opening:
            if self._transport is None:
                from openmind_lmstudio.transport import Transport  # the HTTP library takes 0.2 s to import

                self._transport = Transport(self.address, token=self._token(), server=self.server)
            return self._transport

    def _token(self) -> str:
        token = self._environ.get(self._token_env, "").strip() if self._token_env else ""
        if token and not _TOKEN.fullmatch(token):
            raise ConfigError(
                f"The token in {self._token_env} holds characters that cannot be sent",
                hint="Copy it again, without blanks and line ends.",
            )
        return token


class EventStream:
    """Events while they arrive."""

    def __init__(self, reply: HttpStream) -> None:
        self._reply = reply

    def __iter__(self) -> Iterator[ServerEvent]:
        return read_events(self._reply.chunks)

    def hurry(self) -> None:
        """Note that the answer has begun: from now on long silences end it."""
        self._reply.idle.start()
