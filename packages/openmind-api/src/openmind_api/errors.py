"""Turns every failure into the problem object of the contract; nothing else in the API catches OpenMind's errors."""

from collections.abc import Callable, Mapping

import msgspec
from attrs import evolve
from litestar import Request, Response
from litestar.datastructures import State
from litestar.exceptions import HTTPException, ValidationException
from litestar.types import ExceptionHandlersMap, Scope
from openmind.domain.contract import Object
from openmind.domain.errors import OpenMindError, TooBusy
from openmind.domain.problems import error_object, status_of

from openmind_api import problems
from openmind_api.bodies import BODY, located, worded
from openmind_api.problems import Refusal
from openmind_api.refused import Refused

RETRY_AFTER_S = 2
OURS = {
    404: problems.NOT_FOUND,
    405: problems.WRONG_METHOD,
    413: problems.TOO_LARGE,
}
BAD_REQUEST = 400
LEFT = "client disconnected prematurely"
"""What Litestar raises, as a failure of the server, when a client leaves in the middle of a body."""
DATA = "data"
"""What Litestar calls a body."""

AnyRequest = Request[object, object, State]
BugSink = Callable[[str, BaseException], None]
"""Takes the id of a request and the error that nobody foresaw."""
PACKAGE = "openmind_package"
"""In the options of a route that another package added: the name of that package."""


def exception_handlers(note_bug: BugSink) -> ExceptionHandlersMap:
    """Say how each family of exceptions is answered."""

    def on_bug(request: AnyRequest, error: Exception) -> Response[bytes]:
        return respond(note(error, request.scope, note_bug))

    return {
        OpenMindError: on_openmind_error,
        Refused: on_refused,
        HTTPException: on_http_exception,
        Exception: on_bug,
    }


def note(error: BaseException, scope: Scope, note_bug: BugSink) -> Refusal:
    """Note an error that nobody foresaw; the client learns whose it is and where to look, and no more."""
    id = request_id(scope)
    note_bug(id, error)
    route = scope.get("route_handler")
    package = None if route is None else route.opt.get(PACKAGE)
    bug = problems.BUG if package is None else problems.broken_package(str(package))
    return evolve(bug, hint=f"The log of `openmind serve` says more about the request {id}.")


def request_id(scope: Scope) -> str:
    """The id that the gate gave a request."""
    return str(scope["state"].get("request_id", ""))


def on_refused(_: AnyRequest, error: Refused) -> Response[bytes]:
    """Answer with the refusal that a route decided on."""
    return respond(error.refusal)


def on_openmind_error(_: AnyRequest, error: OpenMindError) -> Response[bytes]:
    """Answer with what OpenMind says."""
    headers = {"Retry-After": str(RETRY_AFTER_S)} if isinstance(error, TooBusy) else {}
    return _problem(error_object(error), status_of(type(error)), headers)


def on_http_exception(_: AnyRequest, error: HTTPException) -> Response[bytes]:
    """Answer with what HTTP has for it."""
    if isinstance(error, ValidationException) or error.status_code == BAD_REQUEST:
        return respond(problems.invalid(_places(error)))
    if error.detail == LEFT:
        return respond(problems.LEFT)
    known = OURS.get(error.status_code)
    if known is None:
        known = evolve(
            problems.BUG,
            status=error.status_code,
            code=f"http.{error.status_code}",
            title=str(error.detail),
            detail=str(error.detail),
        )
    return respond(known, error.headers or {})


def respond(refusal: Refusal, headers: Mapping[str, str] = {}) -> Response[bytes]:
    """Send a refusal."""
    return _problem(refusal.body(), refusal.status, {**dict(refusal.headers), **headers})


def _problem(body: Object, status: int, headers: Mapping[str, str]) -> Response[bytes]:
    return Response(msgspec.json.encode(body), status_code=status, headers=headers, media_type=problems.MEDIA_TYPE)


def _places(error: HTTPException) -> list[tuple[str, str]]:
    """Find the fields that are wrong in what Litestar tells."""
    entries = error.extra if isinstance(error.extra, list) else []
    places = [
        _place(str(entry.get("key", BODY)), str(entry.get("message", error.detail)))
        for entry in entries
        if isinstance(entry, dict)
    ]
    return places or [(BODY, str(error.detail))]


def _place(key: str, message: str) -> tuple[str, str]:
    if key != DATA:
        return key, worded(message)
    missing = message == repr(DATA)  # the key that a dictionary did not have
    return (BODY, "it is missing") if missing else located(message)
