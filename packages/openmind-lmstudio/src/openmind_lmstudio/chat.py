"""LM Studio's own chat route: what is sent, and what comes back."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Literal

from attrs import evolve, frozen
from openmind.domain.answers import AnswerProgress, AnswerReasoning

from openmind_lmstudio.connection import Connection, EventStream
from openmind_lmstudio.errors import Nonsense, StreamBroken
from openmind_lmstudio.lifeline import Lifeline
from openmind_lmstudio.thinking import Piece, ThoughtFilter, without_thoughts
from openmind_lmstudio.wire import Record, decode

ROUTE = "/api/v1/chat"


@frozen(kw_only=True)
class ChatRequest:
    """One turn, in the words of no particular route."""

    model: str
    text: str
    system: str = ""
    reasoning: str | None = None
    """A setting that the model offers; None leaves it to the model."""
    max_output_tokens: int | None = None
    keep: bool = False
    previous: str | None = None
    guarded: bool = False
    """Whether the answer may begin within a thought; not sent."""


@frozen(kw_only=True)
class ChatReply:
    """A whole answer."""

    text: str
    raw: str = ""
    """The text with the thoughts that the server left in it."""
    reasoning: str = ""
    response_id: str | None = None
    cut: bool = False
    """Whether the answer ended because it reached its length."""


Talk = Generator[AnswerProgress | Piece | ChatReply, None, None]
"""An answer while it comes: its pieces, and last the whole of it."""

Hear = Callable[[str], None]
"""Is told the name of the model that answers, or an empty string; raises when it is not the one that was asked."""

_STAGES: Mapping[str, Literal["loading", "reading"]] = {
    "model_load.start": "loading",
    "model_load.progress": "loading",
    "prompt_processing.start": "reading",
    "prompt_processing.progress": "reading",
}


def body_of(request: ChatRequest, *, stream: bool) -> dict[str, object]:
    """Write the request. The route refuses any field that it does not know, so none passes through."""
    body: dict[str, object] = {"model": request.model, "input": request.text, "stream": stream, "store": request.keep}
    if request.system:
        body["system_prompt"] = request.system
    if request.reasoning is not None:
        body["reasoning"] = request.reasoning
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    if request.previous is not None:
        body["previous_response_id"] = request.previous
    return body


def read_reply(result: Record, request: ChatRequest) -> ChatReply:
    """Read a whole answer. There is no finish reason: the count of tokens tells whether it was cut."""
    limit, written = request.max_output_tokens, result.record("stats").count("total_output_tokens")
    return ChatReply(
        text="\n\n".join(without_thoughts(message) for message in _told(result, "message")),
        raw="\n\n".join(_told(result, "message")),
        reasoning="\n\n".join(_told(result, "reasoning")),
        response_id=result.text("response_id") or None,
        cut=limit is not None and written is not None and written >= limit,
    )


def stream_chat(connection: Connection, request: ChatRequest, heard: Hear, lifeline: Lifeline | None = None) -> Talk:
    """Ask, and give the answer as it comes.

    Args:
        connection: to the server.
        request: what is asked.
        heard: is told which model answers, before a word of it is given.
        lifeline: what another thread may end the wait with.

    Raises:
        StreamBroken: the stream ended before its last event.
        ProviderUnreachable, ProviderError
    """
    with connection.stream(ROUTE, body_of(request, stream=True), lifeline) as events:
        yield from _read(events, connection, request, heard)


def _read(events: EventStream, connection: Connection, request: ChatRequest, heard: Hear) -> Talk:
    guarded = request.guarded
    told = ThoughtFilter(guarded=guarded)
    for event in events:
        document = Record.of(decode(event.data))
        kind = document.text("type") or event.name
        if kind == "chat.start":
            heard(document.text("model_instance_id"))
        stage = _STAGES.get(kind)
        if stage is not None:
            yield AnswerProgress(stage, document.share("progress"))
            continue
        pieces: Iterable[Piece] = ()
        if kind == "message.start":
            pieces, told = told.finish(), ThoughtFilter(guarded=guarded)  # thoughts may stand in front of each message
        elif kind == "message.delta":
            pieces = told.feed(document.text("content"))
        elif kind == "reasoning.delta":
            guarded = False
            pieces = [*told.trust(), AnswerReasoning(document.text("content"))]
        elif kind == "error":
            raise connection.error(document.members, status=200, model=request.model) or Nonsense(
                "an error without an error"
            )
        elif kind == "chat.end":
            result = document.record("result")
            if not result.members:
                break  # whether the answer is whole, or was cut, nobody says
            heard(result.text("model_instance_id"))
            yield from ended(told, read_reply(result, request))
            return
        for piece in pieces:
            events.hurry()
            yield piece
    yield from told.finish(whole=False)
    raise StreamBroken(f"{connection.server} ended the answer before it was whole")


def ended(told: ThoughtFilter, reply: ChatReply) -> Iterator[Piece | ChatReply]:
    """Give what was held back, and the whole. An answer that was cut before it was certain to be one is a thought."""
    if reply.cut and told.holding:
        reply = evolve(reply, text="", reasoning=reply.raw)
    yield from told.finish(whole=not reply.cut)
    yield reply


def _told(result: Record, kind: str) -> list[str]:
    return [item.text("content") for item in result.records("output") if item.text("type") == kind]
