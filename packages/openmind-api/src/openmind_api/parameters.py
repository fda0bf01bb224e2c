"""Query parameters: one that a route does not know is a mistake worth telling."""

import re

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from openmind_api import problems
from openmind_api.refused import Refused

WHOLE = re.compile(r"-?[0-9]{1,20}")


async def only_known_parameters(connection: ASGIConnection, handler: BaseRouteHandler) -> None:  # type: ignore[type-arg]
    """Refuse query parameters that are unknown, repeated or no plain number where there are known ones.

    Elsewhere they change nothing. Litestar takes the last of several, and `5.0` or `1e0` for a whole number.

    Awaits nothing, but a plain function would be run in a thread of its own for each request.

    Raises:
        Refused
    """
    if not connection.scope["query_string"]:
        return
    injected = handler.resolve_dependencies().keys() | {"data", "request", "state"} | connection.path_params.keys()
    known = handler.parsed_fn_signature.parameters.keys() - injected
    unknown = connection.query_params.keys() - known
    if not known:
        return
    told = f"it is unknown; there are: {', '.join(sorted(known))}"
    wrong = [(name, told) for name in sorted(unknown)]
    for name in sorted(known & connection.query_params.keys()):
        values = connection.query_params.getall(name)
        if len(values) > 1:
            wrong.append((name, "it is there more than once"))
        elif handler.parsed_fn_signature.parameters[name].annotation is int and not WHOLE.fullmatch(values[0]):
            wrong.append((name, "expected a whole number"))
    if wrong:
        raise Refused(problems.invalid(wrong))
