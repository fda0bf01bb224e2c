"""Query parameters: one that a route does not know is a mistake worth telling."""

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from openmind_api import problems
from openmind_api.refused import Refused


async def only_known_parameters(connection: ASGIConnection, handler: BaseRouteHandler) -> None:  # type: ignore[type-arg]
    """Refuse unknown query parameters where there are known ones; elsewhere they change nothing.

    Awaits nothing, but a plain function would be run in a thread of its own for each request.

    Raises:
        Refused
    """
    if not connection.scope["query_string"]:
        return
    injected = handler.resolve_dependencies().keys() | {"data", "request", "state"} | connection.path_params.keys()
    known = handler.parsed_fn_signature.parameters.keys() - injected
    unknown = connection.query_params.keys() - known
    if known and unknown:
        told = f"it is unknown; there are: {', '.join(sorted(known))}"
        raise Refused(problems.invalid([(name, told) for name in sorted(unknown)]))
