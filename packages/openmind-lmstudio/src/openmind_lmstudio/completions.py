"""OpenAI's chat route, as LM Studio before 0.4 and other servers have it."""

from openmind.domain.answers import AnswerReasoning

from openmind_lmstudio.chat import ChatReply, ChatRequest, Hear, Talk, ended
from openmind_lmstudio.connection import Connection, EventStream
from openmind_lmstudio.errors import StreamBroken
from openmind_lmstudio.lifeline import Lifeline
from openmind_lmstudio.thinking import ThoughtFilter, without_thoughts
from openmind_lmstudio.wire import Record, decode

ROUTE = "/v1/chat/completions"

_DONE = "[DONE]"
_REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where servers put thoughts; inside the text, as `<think>`, is the third place."""


def body_of(request: ChatRequest, *, stream: bool) -> dict[str, object]:
    """Write the request. There is no way to go on from an earlier turn."""
    messages = [{"role": "user", "content": request.text}]
    if request.system:
        messages.insert(0, {"role": "system", "content": request.system})
    body: dict[str, object] = {"model": request.model, "messages": messages, "stream": stream}
    if request.max_output_tokens is not None:
        body["max_tokens"] = request.max_output_tokens
    return body


def read_completion(reply: Record) -> ChatReply:
    """Read an answer that came as a whole."""
    choice = next(reply.records("choices"), Record.of(None))
    message = choice.record("message")
    return ChatReply(
        text=without_thoughts(message.text("content")),
        reasoning=_reasoning(message),
        cut=choice.text("finish_reason") == "length",
    )


def stream_completion(
    connection: Connection, request: ChatRequest, heard: Hear, lifeline: Lifeline | None = None
) -> Talk:
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
    told = ThoughtFilter(guarded=request.guarded)
    text, thoughts, finish = "", "", ""
    for event in events:
        if event.data.strip() == _DONE:
            reply = ChatReply(text=without_thoughts(text), raw=text, reasoning=thoughts, cut=finish == "length")
            yield from ended(told, reply)
            return
        chunk = Record.of(decode(event.data))
        error = connection.error(chunk.members, status=200, model=request.model)
        if error is not None:
            raise error
        heard(chunk.text("model"))
        choice = next(chunk.records("choices"), Record.of(None))
        delta = choice.record("delta")
        finish = choice.text("finish_reason") or finish
        thought, piece = _reasoning(delta), delta.text("content")
        if thought or piece:
            events.hurry()
        if thought:
            thoughts += thought
            yield from told.trust()
            yield AnswerReasoning(thought)
        text += piece
        yield from told.feed(piece)
    yield from told.finish(whole=False)
    raise StreamBroken(f"{connection.server} ended the answer before it was whole")


def _reasoning(message: Record) -> str:
    return next((told for name in _REASONING_FIELDS if (told := message.text(name))), "")
