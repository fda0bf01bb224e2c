"""Routes of other packages: what they are given, and that broken ones cost nobody else anything."""

import sys
from types import ModuleType
from typing import Annotated

import msgspec
import pytest
from litestar import Response, Router, get, post
from litestar.params import JSONBody, Parameter
from openmind.application.lookout import Wait
from openmind.domain.errors import UsageError
from openmind.plugins.registries import Registered
from openmind.testing.fakes.hanging import Hanging
from openmind_api.bodies import StrictBody
from openmind_api.extensions import load_extensions
from openmind_api.injected import Memory


class Greeting(msgspec.Struct, forbid_unknown_fields=True):
    """Whom to greet."""

    name: str


@get("/count", sync_to_thread=True)
def count(memory: Memory, most: Annotated[int, Parameter(ge=1)] = 5) -> dict[str, int]:
    """Count files."""
    return {"files": memory.status().files, "most": most}


@get("/fails", sync_to_thread=False)
def fails() -> None:
    """Fail as OpenMind does."""
    raise UsageError("That makes no sense", hint="Try something else.")


@get("/breaks", sync_to_thread=False)
def breaks() -> None:
    """Fail as a bug does."""
    raise RuntimeError("secret")


@get("/exits", sync_to_thread=True)
def exits() -> None:
    """Fail as a script does."""
    raise SystemExit(3)


@post("/greet", sync_to_thread=False, dto=StrictBody[Greeting], return_dto=None)
def greet(data: JSONBody[Greeting]) -> dict[str, str]:
    """Greet somebody."""
    return {"hello": data.name}


@post("/numbers", sync_to_thread=False)
def numbers(data: JSONBody[dict[str, int]]) -> Response[dict[str, int]]:
    """Take a body without named fields, and try to decide on what is not for a route to decide."""
    return Response(data, headers={"Access-Control-Allow-Origin": "*", "Set-Cookie": "a=b"})


@get("/wants", sync_to_thread=False)
def wants(unknown_thing: Annotated[object, "what is this"]) -> str:
    """Ask for something that nobody gives."""
    return "never"


@pytest.fixture
def acme(monkeypatch) -> ModuleType:
    """A package with routes of all sorts."""
    module = ModuleType("acme_routes")
    module.router = Router("/", route_handlers=[count, fails, breaks, exits, greet, numbers])
    module.handler = get("/", sync_to_thread=False)(lambda: "alone")
    module.nothing = 7
    monkeypatch.setitem(sys.modules, "acme_routes", module)
    return module


def test_routes_that_hang_at_their_import_are_told(tmp_path, monkeypatch) -> None:
    night = Hanging()
    monkeypatch.setitem(sys.modules, "night", night)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "routes_that_hang.py").write_text("import night\nnight.hang()\nrouter = 7\n")
    entry = Registered("acme", "routes_that_hang:router", "openmind-acme", "tune")

    load_extensions({"acme": entry}, {}, night.lookout())

    whom = "the plugin “tune” of the package openmind-acme"
    assert night.said == [Wait(whom, "the import of its routes “acme”", "tune").told]


def test_a_router_is_served_below_its_name(world, acme) -> None:
    world.routes = {"acme": "acme_routes:router"}
    world.index()

    with world.served() as api:
        assert api.get("/x/acme/count").json() == {"files": 3, "most": 5}
        assert api.post("/x/acme/greet", {"name": "Ada"}).json() == {"hello": "Ada"}
        assert api.get("/x/acme").status_code == 404
        assert api.get("/x").status_code == 404


def test_a_route_that_ends_the_program_is_a_bug_of_its_package(world, acme) -> None:
    world.routes = {"acme": "acme_routes:router"}

    with world.served() as api:
        response = api.get("/x/acme/exits")
        alive = api.get("/x/acme/fails")

    assert response.status_code == 500
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "openmind-acme" in response.json()["detail"]
    assert alive.status_code == 400
    id = response.headers["x-request-id"]
    [bug, line] = [entry for entry in world.log if entry["request_id"] == id]
    assert (bug["event"], line["status"]) == ("bug", 500)


def test_a_body_of_any_shape_is_in_the_docs_and_wrong_ones_are_told_by_their_place(world, acme) -> None:
    world.routes = {"acme": "acme_routes:router"}

    with world.served() as api:
        page = api.http.get("/docs")
        wrong, list_, none = (api.http.post("/api/v1/x/acme/numbers", **body) for body in WRONG_NUMBERS)

    assert page.status_code == 200
    assert "/api/v1/x/acme/numbers" in page.text
    assert "body (application/json)" in page.text
    assert [answer.json()["errors"][0] for answer in (wrong, list_, none)] == [
        {"path": "body", "message": "expected `int`, got `str`"},
        {"path": "body", "message": "expected `object`, got `array`"},
        {"path": "body", "message": "it is missing"},
    ]


WRONG_NUMBERS = ({"json": {"a": "x"}}, {"json": [1]}, {"headers": {"Content-Type": "application/json"}})


def test_no_route_opens_the_answers_to_other_origins_or_sets_cookies(world, acme) -> None:
    world.routes = {"acme": "acme_routes:router"}

    with world.served() as api:
        answer = api.post("/x/acme/numbers", {"a": 1})

    assert answer.json() == {"a": 1}
    assert not {"access-control-allow-origin", "set-cookie"} & set(answer.headers)


def test_its_failures_look_like_ours(world, acme) -> None:
    world.routes = {"acme": "acme_routes:router"}

    with world.served() as api:
        failed, broke = api.get("/x/acme/fails"), api.get("/x/acme/breaks")
        unknown = api.post("/x/acme/greet", {"name": "Ada", "nope": 1})
        form = api.http.post("/api/v1/x/acme/greet", data={"name": "Ada"})
        bounds = api.get("/x/acme/count", params={"most": 0})

    assert (failed.status_code, failed.json()["hint"]) == (400, "Try something else.")
    assert (broke.status_code, broke.json()["code"]) == (500, "internal")
    assert broke.json()["detail"] == "A route of the package openmind-acme failed: an unexpected error."
    assert "secret" not in broke.text + str(world.log)
    assert any(entry["event"] == "bug" and "breaks" in str(entry["errors"]) for entry in world.log)
    assert unknown.json()["errors"][0]["path"] == "nope"
    assert form.status_code == 415
    assert bounds.json()["errors"][0]["path"] == "most"


def test_its_routes_are_in_the_schema_and_need_the_bearer(world, acme) -> None:
    world.routes = {"acme": "acme_routes:router"}

    with world.served() as api:
        document = api.http.get("/openapi.json").json()
        page = api.http.get("/docs").text

    operation = document["paths"]["/api/v1/x/acme/greet"]["post"]
    assert operation["security"] == [{"bearer": []}]
    assert operation["responses"].keys() >= {"201", "401", "403", "413", "415", "422", "500"}
    assert "/api/v1/x/acme/count" in page


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("acme", "acme_gone:router"),
        ("acme", "acme_routes:gone"),
        ("acme", "acme_routes:nothing"),
        ("acme", "acme_panics:router"),
    ],
)
def test_broken_routes_are_named_and_left_out(world, acme, name, target, tmp_path, monkeypatch) -> None:
    (tmp_path / "acme_panics.py").write_text("raise BaseException('panicked')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    world.routes = {name: target, "good": "acme_routes:router"}

    with world.served() as api:
        [sentence] = api.server.application.broken
        assert f"“{name}”" in sentence
        assert api.get("/x/good/count").status_code == 200
        assert api.get("/status").status_code == 200
        assert next(line for line in world.log if line["event"] == "warning")["message"] == sentence
