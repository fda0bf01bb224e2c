"""The application: routes, and what they work with."""

from typing import TypeVar

from attrs import frozen
from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.di import Provide
from litestar.types import ControllerRouterHandler
from openmind.live import LiveMemory

from openmind_api.answer_events import AnswerEvents
from openmind_api.asks import Asks
from openmind_api.errors import BugSink, exception_handlers
from openmind_api.extensions import Extensions, load_extensions
from openmind_api.gate import MAX_BODY_BYTES
from openmind_api.job_events import JobWatch
from openmind_api.json_reply import JsonReply
from openmind_api.parameters import only_known_parameters
from openmind_api.routes import docs, documents, indexing, models, searching, sources, system
from openmind_api.routes.docs import Documentation
from openmind_api.schema import Parts
from openmind_api.slots import Slots
from openmind_api.sse import Pace
from openmind_api.streams import Streams
from openmind_api.visits import Visits

T = TypeVar("T")

PREFIX = "/api/v1"
MOST_LOADS = 2
"""Loads of models at once: each keeps a thread for as long as it takes."""


@frozen(kw_only=True)
class Application:
    """The routes, and the visits that are to be ended before the server is."""

    routes: Litestar
    visits: Visits
    asks: Asks
    broken: tuple[str, ...] = ()
    """A sentence for each package whose routes cannot be served."""


def build_app(live: LiveMemory, *, version: str, note_bug: BugSink, pace: Pace | None = None) -> Application:
    """Build the application, without its gate."""
    chosen = pace or Pace()
    visits = Visits()
    asks = Asks(visits)
    streams = Streams(
        answers=AnswerEvents(live=live, asks=asks, pace=chosen),
        jobs=JobWatch(live, visits, chosen),
        note_bug=note_bug,
    )
    dependencies = {
        "live": _always(live),
        "asks": _always(asks),
        "streams": _always(streams),
        "loads": _always(Slots(MOST_LOADS, "Models are being loaded already")),
    }
    extensions = load_extensions(live.plugins.routes.entries, dependencies)
    described: list[ControllerRouterHandler] = [system.health, private_routes(), *added_routes(extensions)]
    documentation = Documentation(Parts(described, dependencies, version))
    routes = Litestar(
        route_handlers=[*described, *docs.ROUTES],
        dependencies={**dependencies, "documentation": _always(documentation)},
        exception_handlers=exception_handlers(note_bug),
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=None,
        state=State({"version": version}),
        logging_config=None,
    )
    return Application(routes=routes, visits=visits, asks=asks, broken=extensions.broken)


def private_routes() -> Router:
    """All routes that need the token."""
    modules = (system, models, sources, indexing, searching, documents)
    return Router(
        PREFIX,
        route_handlers=[route for module in modules for route in module.ROUTES],
        before_request=only_known_parameters,
        response_class=JsonReply,
        security=[{"bearer": []}],
    )


def added_routes(extensions: Extensions) -> list[ControllerRouterHandler]:
    """The routes of other packages."""
    if not extensions.routers:
        return []
    return [Router(PREFIX, route_handlers=list(extensions.routers), security=[{"bearer": []}], tags=["plugins"])]


def _always(value: T) -> Provide:
    def provide() -> T:
        return value

    return Provide(provide, sync_to_thread=False)
