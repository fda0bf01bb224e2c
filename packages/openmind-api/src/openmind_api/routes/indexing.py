"""Indexing in the background."""

from litestar import get, post
from litestar.params import JSONBody
from openmind.domain.contract import Object, job_object

from openmind_api.bodies import StrictBody
from openmind_api.described import answers, events, fails
from openmind_api.injected import Lasting, Live
from openmind_api.schemas import replies
from openmind_api.schemas.requests import Nothing
from openmind_api.sse import EventStream

Empty = JSONBody[Nothing | None]


@post(
    "/index/start",
    status_code=202,
    sync_to_thread=True,
    dto=StrictBody[Nothing],
    return_dto=None,
    responses=answers(replies.Job, status=202) | fails(409),
)
def start_index(live: Live, data: Empty = None) -> Object:
    """Read what is new or changed in the sources; the active job is given when one is running."""
    with live.current() as memory:
        return job_object(memory.jobs.start())


@get("/index/status", sync_to_thread=True, responses=answers(replies.Job))
def index_status(live: Live) -> Object:
    """The job that was made last."""
    with live.current() as memory:
        return job_object(memory.jobs.current())


@post(
    "/index/pause",
    status_code=200,
    sync_to_thread=True,
    dto=StrictBody[Nothing],
    return_dto=None,
    responses=answers(replies.Job) | fails(404, 409),
)
def pause_index(live: Live, data: Empty = None) -> Object:
    """Let the job rest after the file it is at."""
    with live.current() as memory:
        return job_object(memory.jobs.pause())


@post(
    "/index/resume",
    status_code=200,
    sync_to_thread=True,
    dto=StrictBody[Nothing],
    return_dto=None,
    responses=answers(replies.Job) | fails(404, 409),
)
def resume_index(live: Live, data: Empty = None) -> Object:
    """Let the job that rests go on."""
    with live.current() as memory:
        return job_object(memory.jobs.resume())


@post(
    "/index/stop",
    status_code=200,
    sync_to_thread=True,
    dto=StrictBody[Nothing],
    return_dto=None,
    responses=answers(replies.Job) | fails(404, 409),
)
def stop_index(live: Live, data: Empty = None) -> Object:
    """End the job after the file it is at; what is indexed stays searchable."""
    with live.current() as memory:
        return job_object(memory.jobs.stop())


@get("/index/events", sync_to_thread=False, responses=events("Events `job`, and last `done` or `error`.") | fails(429))
def index_events(streams: Lasting) -> EventStream:
    """Watch the job: one event now, one for each change, and the last when it is finished."""
    return streams.job()


ROUTES = (start_index, index_status, pause_index, resume_index, stop_index, index_events)
