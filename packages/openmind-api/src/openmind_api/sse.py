"""Server-sent events: how they are written, and the response that sends them."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import msgspec
from attrs import frozen
from litestar import Response
from litestar.response.base import ASGIResponse
from litestar.types import Receive, Scope, Send
from openmind.domain.contract import Object
from openmind.domain.errors import OpenMindError
from openmind.domain.problems import error_object

from openmind_api.errors import BugSink, note
from openmind_api.refused import Refused

MEDIA_TYPE = "text/event-stream"
HEARTBEAT = b": still here\n\n"
SLOW_READER_S = 60
"""A client that takes nothing for this long is given up."""

Events = AsyncGenerator[bytes, None]
Source = Callable[[Receive], Events]
"""Begins the events of one request; what it raises before the first one is answered like any other failure."""


@frozen(kw_only=True)
class Pace:
    """How long streams wait for what."""

    heartbeat_s: float = 15.0
    """Silence is broken by a comment after this long."""
    begin_s: float = 10.0
    """The status is sent after this long even when nothing is known yet; a failure is an event from then on."""
    first_word_s: float = 1.0
    """How long a model may fail after the search is done, and still be answered with a status."""
    look_s: float = 0.5
    """How often progress is looked at."""


def event(name: str, data: Object) -> bytes:
    """Write one event. JSON has no line ends of its own, so one line of data is enough."""
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))


def error_event(failure: Object) -> bytes:
    """Write the last event of a stream that fails: the problem object, its sentence as `message` too."""
    return event("error", {**failure, "message": failure["detail"]})


class EventStream(Response[None]):
    """Answers with events while they come."""

    def __init__(self, source: Source, note_bug: BugSink) -> None:
        super().__init__(None, media_type=MEDIA_TYPE)
        self.source = source
        self.note_bug = note_bug

    def to_asgi_response(self, *_: object, **__: object) -> "EventSender":
        """Hand over to the sender: nothing is known before the request is under way."""
        return EventSender(self.source, self.note_bug)


class EventSender(ASGIResponse):
    """Sends the events of one request."""

    _should_set_content_length = False

    def __init__(self, source: Source, note_bug: BugSink) -> None:
        super().__init__(media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})
        self.source = source
        self.note_bug = note_bug

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        async with aclosing(self.source(receive)) as events:
            first = await anext(events)
            await self.start_response(send)
            await _send(send, first)
            async for chunk in self._to_the_end(events, scope):
                await _send(send, chunk)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _to_the_end(self, events: Events, scope: Scope) -> Events:
        """Turn what fails now into a last event: a status was sent already."""
        try:
            async for chunk in events:
                yield chunk
        except OpenMindError as error:
            yield error_event(error_object(error))
        except Refused as error:
            yield error_event(error.refusal.body())
        except Exception as error:  # noqa: BLE001  nobody above can tell the client any more
            yield error_event(note(error, scope, self.note_bug).body())


async def _send(send: Send, chunk: bytes) -> None:
    async with asyncio.timeout(SLOW_READER_S):
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
