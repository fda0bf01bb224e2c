"""The OpenAPI document: made from the routes, and made as strict as the routes are."""

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec
from attrs import frozen
from litestar import Litestar
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import Components, SecurityScheme
from litestar.types import ControllerRouterHandler, Method
from litestar.types.internal_types import PathParameterDefinition

from openmind_api.described import MEANING
from openmind_api.problems import MEDIA_TYPE
from openmind_api.schemas import replies, requests

Node = dict[str, object]

BEARER = SecurityScheme(
    type="http", scheme="bearer", description="The content of the file api_token in OpenMind's folder, trimmed."
)
PROBLEM: Node = {"$ref": "#/components/schemas/Problem"}
COMMON = {requests.Body, requests.Narrowed, replies.Reply}
"""What bodies and answers are made from; none is sent by itself."""
METHODS = ("get", "post", "put", "patch", "delete")


@frozen
class Parts:
    """What the document is made from."""

    routes: Sequence[ControllerRouterHandler]
    dependencies: Mapping[str, Provide]
    version: str


def describe(parts: Parts) -> Node:
    """Write the document. An application of its own is made for it, since the one that serves needs no docs routes."""
    config = OpenAPIConfig(
        title="OpenMind",
        version=parts.version,
        summary="The loopback API of a local memory over the folders a person approves.",
        use_handler_docstrings=True,
        components=Components(security_schemes={"bearer": BEARER}),
        operation_id_creator=_operation_id,
    )
    routes, dependencies = list(parts.routes), dict(parts.dependencies)
    app = Litestar(routes, dependencies=dependencies, openapi_config=config, logging_config=None)
    document = cast(Node, app.openapi_schema.to_schema())
    schemas = _node(_node(document, "components"), "schemas")
    schemas |= exact_schemas()
    for path in _node(document, "paths").values():
        for method in METHODS:
            if method in cast(Node, path):
                _complete(_node(cast(Node, path), method))
    return document


def exact_schemas() -> Node:
    """Describe our own bodies and answers as the decoder sees them; Litestar loses bounds and strictness."""
    kinds = [
        kind
        for module in (requests, replies)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind not in COMMON
    ]
    _, components = msgspec.json.schema_components(
        kinds,
        schema_hook=lambda _: {"description": "Anything."},
        ref_template="#/components/schemas/{name}",
    )
    return dict(components)


def _operation_id(_: HTTPRouteHandler, method: Method, path: list[str | PathParameterDefinition]) -> str:
    names = [part if isinstance(part, str) else "one" for part in path]
    return "_".join([method.lower(), *(name.replace("-", "_") for name in names if name not in {"api", "v1"})])


def _complete(operation: Node) -> None:
    """Tell what every route of its kind has in common, and what Litestar does not know."""
    responses = _node(operation, "responses")
    responses.pop("400", None) if _is_litestar_s(responses.get("400")) else None
    private = operation.get("security") != [{}]
    common = {401, 403, 409, 500, 507} if private else {403, 500}
    body = operation.get("requestBody")
    if body is not None:
        common |= {413, 415, 422}
        _loosen(cast(Node, body))
    if operation.get("parameters"):
        common |= {414, 422}
    for status in sorted(common):
        problem: Node = {"description": MEANING[status], "content": {MEDIA_TYPE: {"schema": PROBLEM}}}
        responses.setdefault(str(status), problem)


def _is_litestar_s(response: object) -> bool:
    """Whether this is what Litestar takes for the answer to a body that breaks the schema."""
    return response is not None and "Validation Exception" in str(response)


def _loosen(body: Node) -> None:
    """Say that a body that may be null may be left out."""
    media = _node(_node(body, "content"), "application/json")
    choices = cast(list[Node], _node(media, "schema").get("oneOf", []))
    named = [kind for kind in choices if "$ref" in kind]
    if named:
        media["schema"] = named[0]
        body["required"] = False


def _node(parent: Node, name: str) -> Node:
    return cast(Node, parent[name])
