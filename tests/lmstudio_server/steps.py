"""What a server can do with a request instead of answering it well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable

    from lmstudio_server.server import Exchange, Step

Json = dict[str, Any]


def flat(text: str) -> Json:
    """The envelope of `/v1/embeddings` and of unknown routes."""
    return {"error": text}


def native(message: str, *, type: str = "invalid_request", **more: str) -> Json:
    """The envelope of `/api/v1`."""
    return {"error": {"type": type, "message": message, **more}}


def openai(message: str, *, code: str | None = None, param: str | None = None) -> Json:
    """The envelope of `/v1`."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def normal(exchange: Exchange) -> None:
    """Answer well."""
    exchange.answer_normally()


def reply(status: int, document: object) -> Step:
    """Answer with a document."""
    return lambda exchange: exchange.json(document, status=status)


def raw(body: bytes, *, content_type: str = "text/html", status: int = 200) -> Step:
    """Answer with bytes."""
    return lambda exchange: exchange.send(body, content_type=content_type, status=status)


def redirect(location: str) -> Step:
    """Send the caller elsewhere."""
    return lambda exchange: exchange.send(b"", content_type="text/plain", status=302, headers={"Location": location})


def drop(exchange: Exchange) -> None:
    """Close the connection without a word."""
    exchange.drop()


def stall(seconds: float) -> Step:
    """Say nothing for a while, then close."""

    def step(exchange: Exchange) -> None:
        exchange.wait(seconds)
        exchange.drop()

    return step


def held(let_go: threading.Event) -> Step:
    """Answer well, but not before it is let go."""

    def step(exchange: Exchange) -> None:
        while not (let_go.wait(0.02) or exchange.server.closing.is_set()):
            pass
        exchange.answer_normally()

    return step


def changed(change: Callable[[Json], object]) -> Step:
    """Answer well, but for a change to the document."""

    def step(exchange: Exchange) -> None:
        exchange.change = change
        exchange.answer_normally()

    return step


def events(*parts: Json | str | bytes, stall_s: float = 0.0, cut: bool = False) -> Step:
    """Stream events.

    Args:
        parts: a native event as a document, an unnamed `data:` line as a string, or bytes as they are.
        stall_s: how long the stream stays open and silent after the last of them.
        cut: whether the connection breaks instead of ending.
    """

    def step(exchange: Exchange) -> None:
        exchange.begin_stream()
        _write(exchange, parts)
        exchange.wait(stall_s)
        if cut:
            exchange.drop()
        else:
            exchange.end_stream()

    return step


def endless(*parts: Json | str | bytes) -> Step:
    """Stream events as `events` does, and then something again and again until the client leaves."""

    def step(exchange: Exchange) -> None:
        exchange.begin_stream()
        _write(exchange, parts)
        while not exchange.server.closing.is_set():
            exchange.event({"type": "prompt_processing.progress", "progress": 0.1})
            exchange.wait(0.05)

    return step


def _write(exchange: Exchange, parts: Iterable[Json | str | bytes]) -> None:
    for part in parts:
        if isinstance(part, bytes):
            exchange.write(part)
        elif isinstance(part, str):
            exchange.write(f"data: {part}\n\n".encode())
        else:
            exchange.event(part)
