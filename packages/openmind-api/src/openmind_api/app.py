"""The application: routes behind the gate."""

from collections.abc import Callable, Sequence

from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.di import Provide
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import Components, SecurityScheme
from litestar.types import ControllerRouterHandler
from openmind.live import LiveMemory

from openmind_api.errors import BugSink, exception_handlers
from openmind_api.gate import MAX_BODY_BYTES
from openmind_api.routes import system

PREFIX = "/api/v1"
PRIVATE: Sequence[ControllerRouterHandler] = (system.status,)


def build_app(live: LiveMemory, *, version: str, note_bug: BugSink) -> Litestar:
    """Build the application, without its gate."""
    return Litestar(
        route_handlers=[system.health, Router(PREFIX, route_handlers=PRIVATE, security=[{"bearer": []}])],
        dependencies={"live": Provide(_always(live), sync_to_thread=False)},
        exception_handlers=exception_handlers(note_bug),
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=OpenAPIConfig(
            title="OpenMind",
            version=version,
            use_handler_docstrings=True,
            components=Components(security_schemes={"bearer": SecurityScheme(type="http", scheme="bearer")}),
        ),
        state=State({"version": version}),
        logging_config=None,
    )


def _always(live: LiveMemory) -> Callable[[], LiveMemory]:
    def provide() -> LiveMemory:
        return live

    return provide
