"""The schema and its page. They need no token: nothing in them is about the person."""

from functools import cached_property

import msgspec
from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import SkipValidation

from openmind_api.docs_page import POLICY, page
from openmind_api.schema import Parts, describe


class Documentation:
    """Made when it is first looked at: most servers are never asked for it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @cached_property
    def schema(self) -> bytes:
        """The OpenAPI document."""
        return msgspec.json.encode(describe(self._parts))

    @cached_property
    def page(self) -> str:
        """The page for people."""
        return page(msgspec.json.decode(self.schema))


@get("/openapi.json", sync_to_thread=True, include_in_schema=False)
def schema(documentation: NamedDependency[SkipValidation[Documentation]]) -> Response[bytes]:
    """The OpenAPI document."""
    return Response(documentation.schema, media_type="application/json")


@get("/docs", sync_to_thread=True, include_in_schema=False)
def docs(documentation: NamedDependency[SkipValidation[Documentation]]) -> Response[str]:
    """The same for people."""
    return Response(documentation.page, media_type="text/html", headers={"Content-Security-Policy": POLICY})


ROUTES = (schema, docs)
