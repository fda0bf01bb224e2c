"""Query parameters: one that a route does not know is a mistake worth telling."""

import re

from litestar import Request
from litestar.datastructures import State

from openmind_api import problems
from openmind_api.refused import Refused

WHOLE = re.compile(r"-?[0-9]{1,20}")


async def only_known_parameters(request: Request[object, object, State]) -> None:
    """Refuse query parameters that are unknown, repeated or no plain number where there are known ones.

    Elsewhere they change nothing. Litestar takes the last of several, and `5.0` or `1e0` for a whole number.

    To be called before each request: a guard would be given a copy of the route's handler each time. Awaits nothing,
    but a plain function would be run in a thread of its own.

    Raises:
        Refused
    """
    if not request.scope["query_string"]:
        return
    handler = request.route_handler
    injected = handler.resolve_dependencies().keys() | {"data", "request", "state"} | request.path_params.keys()
    known = handler.parsed_fn_signature.parameters.keys() - injected
    unknown = request.query_params.keys() - known
    if not known:
        return
    told = f"it is unknown; there are: {', '.join(sorted(known))}"
    wrong = [(name, told) for name in sorted(unknown)]
    for name in sorted(known & request.query_params.keys()):
        values = request.query_params.getall(name)
        if len(values) > 1:
            wrong.append((name, "it is there more than once"))
        elif handler.parsed_fn_signature.parameters[name].annotation is int and not WHOLE.fullmatch(values[0]):
            wrong.append((name, "expected a whole number"))
    if wrong:
        raise Refused(problems.invalid(wrong))
