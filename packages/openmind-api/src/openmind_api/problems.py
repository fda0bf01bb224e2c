"""Failures that are none of OpenMind's own: what HTTP has for them, as the problem object of the contract."""

from collections.abc import Sequence

import msgspec
from attrs import evolve, field, frozen
from openmind.domain.contract import Object
from openmind.domain.problems import problem

MEDIA_TYPE = "application/problem+json"


@frozen(kw_only=True)
class Refusal:
    """An answer that refuses a request."""

    status: int
    code: str
    title: str
    detail: str
    hint: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    errors: Sequence[tuple[str, str]] = field(default=())
    """Where a body is malformed, and how: (path of the field, message)."""

    def body(self) -> Object:
        """The problem object."""
        found = problem(self.detail, code=self.code, title=self.title, status=self.status, hint=self.hint)
        if self.errors:
            found["errors"] = [{"path": path, "message": message} for path, message in self.errors]
        return found

    def encoded(self) -> bytes:
        """The problem object as it is sent."""
        return msgspec.json.encode(self.body())


NO_HTTP = Refusal(
    status=400,
    code="request.no_http",
    title="The request is no HTTP",
    detail="What was sent is no HTTP request that can be read.",
    hint="Use an HTTP client, with http:// in the address and headers of at most 32 KiB.",
)
NO_TOKEN = Refusal(
    status=401,
    code="auth.token",
    title="The token is missing or wrong",
    detail="This needs the token of this OpenMind.",
    hint="Send `Authorization: Bearer TOKEN`; the token is in the file api_token in OpenMind's folder.",
    headers=(("WWW-Authenticate", "Bearer"),),
)
FOREIGN_HOST = Refusal(
    status=403,
    code="request.host",
    title="The request is for another host",
    detail="OpenMind answers only as 127.0.0.1 or localhost, with its own port.",
    hint="Use the address that `openmind serve` prints.",
)
FOREIGN_ORIGIN = Refusal(
    status=403,
    code="request.origin",
    title="The request comes from a web page that is not allowed",
    detail="Web pages may not use this OpenMind unless their origin was allowed.",
    hint="Start it with `openmind serve --allow-origin ORIGIN` to allow one.",
)
NOT_FOUND = Refusal(
    status=404,
    code="route.not_found",
    title="There is no such route",
    detail="There is nothing at this path.",
    hint="/docs lists the routes.",
)
WRONG_METHOD = Refusal(
    status=405,
    code="route.method",
    title="The route has no such method",
    detail="This path does not take this method.",
    hint="/docs lists the routes.",
)
TOO_LARGE = Refusal(
    status=413,
    code="request.too_large",
    title="The body is too large",
    detail="The body is larger than 1 MiB.",
    hint="Send less at once; a query needs no more than its most telling sentence.",
)
LONG_ADDRESS = Refusal(
    status=414,
    code="request.long_address",
    title="The address is too long",
    detail="Path and query together are longer than 16 KiB.",
    hint="Send long values in the body, where the route takes one.",
)
NO_JSON = Refusal(
    status=415,
    code="request.media_type",
    title="The body is of another kind",
    detail="A body must be `application/json` in UTF-8.",
    hint="Send `Content-Type: application/json`.",
)
ENCODED = Refusal(
    status=415,
    code="request.encoding",
    title="The body is compressed",
    detail="A body must be sent as it is, without `Content-Encoding`.",
    hint="Send plain JSON; it goes no further than this machine.",
)
LONG_HEADERS = Refusal(
    status=431,
    code="request.long_headers",
    title="The headers are too long",
    detail="All headers together are longer than 32 KiB.",
    hint="Send only the headers that API.md names, no cookies, and nothing beside the body in its chunks.",
)
LEFT = Refusal(
    status=499,
    code="request.left",
    title="The client left",
    detail="The client closed the connection.",
)
TOKEN_UNREADABLE = Refusal(
    status=503,
    code="server.short",
    title="The token cannot be read for now",
    detail="The server cannot read its token at the moment, so that it cannot tell whether this one is right.",
    hint="Try again; the terminal of `openmind serve` and its log say what is in the way.",
)
STOPPING = Refusal(
    status=503,
    code="server.stopping",
    title="The server is ending",
    detail="This OpenMind is being stopped.",
    hint="Ask again when it runs.",
)
BUG = Refusal(
    status=500,
    code="internal",
    title="Something went wrong that OpenMind did not foresee",
    detail="OpenMind could not do this: an unexpected error.",
)


def broken_package(package: str) -> Refusal:
    """Say that it is not OpenMind that failed."""
    return evolve(BUG, detail=f"A route of the package {package} failed: an unexpected error.")


def invalid(errors: Sequence[tuple[str, str]]) -> Refusal:
    """Refuse a body or parameter that breaks the schema."""
    [(path, message), *_] = errors
    return Refusal(
        status=422,
        code="request.invalid",
        title="The request is not valid",
        detail=f"{path}: {message}",
        hint="/docs says what each route takes.",
        errors=errors,
    )
