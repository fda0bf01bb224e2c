"""Search, ask, conversations."""

from typing import Annotated

from litestar import Request, delete, post
from litestar.datastructures import State
from litestar.params import JSONBody
from openmind.domain.contract import Object, answer_object, search_object
from openmind.domain.ids import SessionId

from openmind_api.answer_events import whole_answer
from openmind_api.bodies import StrictBody
from openmind_api.described import SESSION_ID, answers, events, fails
from openmind_api.injected import Lasting, Live, Questions
from openmind_api.schemas import replies
from openmind_api.schemas.requests import Ask, Search
from openmind_api.sse import EventStream


@post(
    "/search",
    status_code=200,
    sync_to_thread=True,
    dto=StrictBody[Search],
    return_dto=None,
    responses=answers(replies.SearchAnswer) | fails(404),
)
def search(data: JSONBody[Search], live: Live) -> Object:
    """Find passages by words and by meaning, best first."""
    with live.current() as memory:
        return search_object(memory.searching.search(data.request()), explain=data.explain)


@post(
    "/ask",
    status_code=200,
    dto=StrictBody[Ask],
    return_dto=None,
    responses=answers(replies.Answer) | fails(404, 429, 503),
)
async def ask(
    data: JSONBody[Ask],
    request: Request[object, object, State],
    live: Live,
    asks: Questions,
) -> Object:
    """Answer a question from the files; without a chat model the passages that fit best are the answer."""
    async with asks.begin(live, data.request(), request.receive) as run:
        return answer_object(await whole_answer(run), include_sources=data.include_sources)


@post(
    "/ask/stream",
    status_code=200,
    sync_to_thread=False,
    dto=StrictBody[Ask],
    return_dto=None,
    responses=events("Events `meta`, `delta`, `reasoning`, `sources`, and last `done` or `error`.")
    | fails(404, 429, 503),
)
def ask_stream(data: JSONBody[Ask], streams: Lasting) -> EventStream:
    """Answer a question piece by piece."""
    return streams.answer(data)


@delete(
    "/chat/sessions/{session_id:str}",
    status_code=200,
    sync_to_thread=True,
    responses=answers(replies.EndedSession) | fails(404),
)
def end_session(session_id: Annotated[str, SESSION_ID], live: Live) -> Object:
    """Forget a conversation."""
    with live.current() as memory:
        memory.asking.conversations.end(SessionId(session_id))
    return {"session_id": session_id, "ended": True}


ROUTES = (search, ask, ask_stream, end_session)
