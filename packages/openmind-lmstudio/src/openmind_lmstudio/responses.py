"""OpenAI's responses route: how LM Studio before 0.4 is told how hard to think."""

from openmind_lmstudio.chat import ChatReply, ChatRequest
from openmind_lmstudio.thinking import without_thoughts
from openmind_lmstudio.wire import Record

ROUTE = "/v1/responses"


def body_of(request: ChatRequest, effort: str) -> dict[str, object]:
    """Write the request."""
    body: dict[str, object] = {
        "model": request.model,
        "input": request.text,
        "reasoning": {"effort": effort},
        "store": request.keep,
        "stream": False,
    }
    if request.system:
        body["instructions"] = request.system
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    return body


def read_response(reply: Record) -> ChatReply:
    """Read a whole answer."""
    return ChatReply(
        text=without_thoughts(_joined(reply, "message", "output_text")),
        reasoning=_joined(reply, "reasoning", "reasoning_text"),
        response_id=reply.text("id") or None,
        cut=reply.text("status") == "incomplete",
    )


def _joined(reply: Record, kind: str, part: str) -> str:
    items = (item for item in reply.records("output") if item.text("type") == kind)
    texts = (told.text("text") for item in items for told in item.records("content") if told.text("type") == part)
    return "\n\n".join(texts)
