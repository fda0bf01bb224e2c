"""Whether it lives, and how it is."""

from hashlib import blake2b

import msgspec
from litestar import Request, Response, get
from litestar.datastructures import State
from openmind.domain.contract import status_object

from openmind_api.described import answers, unchanged
from openmind_api.injected import Live
from openmind_api.schemas import replies


@get("/health", sync_to_thread=False, security=[{}], responses=answers(replies.Health))
def health(state: State) -> dict[str, str]:
    """Say that the server lives. Needs no token."""
    return {"status": "ok", "version": str(state.version)}


@get("/status", sync_to_thread=True, responses=answers(replies.Status) | unchanged())
def status(live: Live, request: Request[object, object, State]) -> Response[bytes]:
    """The state of the memory. With `If-None-Match`, 304 says that it is as it was."""
    with live.current() as memory:
        body = msgspec.json.encode(status_object(memory.status()))
    tag = f'"{blake2b(body, digest_size=12).hexdigest()}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    known = {each.strip() for each in request.headers.get("if-none-match", "").split(",")}
    if known & {"*", tag, f"W/{tag}"}:
        return Response(b"", status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


ROUTES = (status,)
