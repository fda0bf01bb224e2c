"""Turns every failure into the problem object of the contract; nothing else in the API catches OpenMind's errors."""

import traceback
from collections.abc import Callable, Mapping

import msgspec
from attrs import evolve
from litestar import Request, Response
from litestar.datastructures import State
from litestar.exceptions import HTTPException, ValidationException
from litestar.types import ExceptionHandlersMap
from openmind.domain.contract import Object, error_object, status_of
from openmind.domain.errors import OpenMindError, TooBusy

from openmind_api import problems
from openmind_api.problems import Refusal

RETRY_AFTER_S = 2
OURS = {
    404: problems.NOT_FOUND,
    405: problems.WRONG_METHOD,
    413: problems.TOO_LARGE,
}
BAD_REQUEST = 400

AnyRequest = Request[object, object, State]
BugSink = Callable[[str, str], None]
"""Takes the id of a request and where its error came from."""


def exception_handlers(note_bug: BugSink) -> ExceptionHandlersMap:
    """Say how each family of exceptions is answered."""

    def on_bug(request: AnyRequest, error: Exception) -> Response[bytes]:
        request_id = str(request.scope["state"].get("request_id", ""))
        note_bug(request_id, "".join(traceback.format_exception(error)))
        hint = f"The log of `openmind serve` says more under the request id {request_id}."
        return respond(evolve(problems.BUG, hint=hint))

    return {OpenMindError: on_openmind_error, HTTPException: on_http_exception, Exception: on_bug}


def on_openmind_error(_: AnyRequest, error: OpenMindError) -> Response[bytes]:
    """Answer with what OpenMind says."""
    headers = {"Retry-After": str(RETRY_AFTER_S)} if isinstance(error, TooBusy) else {}
    return _problem(error_object(error), status_of(type(error)), headers)


def on_http_exception(_: AnyRequest, error: HTTPException) -> Response[bytes]:
    """Answer with what HTTP has for it."""
    if isinstance(error, ValidationException) or error.status_code == BAD_REQUEST:
        return respond(problems.invalid(_places(error)))
    known = OURS.get(error.status_code)
    if known is None:
        known = evolve(
            problems.BUG,
            status=error.status_code,
            code=f"http.{error.status_code}",
            title=error.detail,
            detail=error.detail,
        )
    return respond(known, error.headers or {})


def respond(refusal: Refusal, headers: Mapping[str, str] = {}) -> Response[bytes]:
    """Send a refusal."""
    return _problem(refusal.body(), refusal.status, {**dict(refusal.headers), **headers})


def _problem(body: Object, status: int, headers: Mapping[str, str]) -> Response[bytes]:
    return Response(msgspec.json.encode(body), status_code=status, headers=headers, media_type=problems.MEDIA_TYPE)


def _places(error: HTTPException) -> list[tuple[str, str]]:
    """Find the fields that are wrong in what Litestar tells."""
    places = [
        (str(entry.get("key", "body")), str(entry.get("message", error.detail)))
        for entry in (error.extra if isinstance(error.extra, list) else [])
        if isinstance(entry, dict)
    ]
    return places or [("body", error.detail)]
