"""API.md: its examples run, and it names what there is."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from openmind.domain import errors
from openmind_api import problems

PAGE = next((folder / "API.md" for folder in Path(__file__).parents if (folder / "API.md").exists()), None)
pytestmark = pytest.mark.skipif(PAGE is None, reason="not in the workspace")
TEXT = PAGE.read_text("utf-8") if PAGE else ""
EXAMPLES = re.findall(r"```bash\n(.*?)```\n```(json|text)\n(.*?)```", TEXT, re.DOTALL)
SETUP = re.search(r"<!-- setup -->\n```bash\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def page(world, monkeypatch):
    """The page's own world: a home, notes in ~/Documents/notes, and a server whose port stands for 8765."""
    person = world.home.parent / "ada"
    shutil.copytree(world.notes, person / "Documents" / "notes")
    world.configure(chat="fake-chat")
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("OPENMIND_HOME", str(world.home))
    with world.served() as api:
        yield api


def run(api, script: str) -> str:
    assert SETUP is not None
    whole = f"set -euo pipefail\n{SETUP[1]}\n{script}".replace("8765", str(api.port))
    return subprocess.run(["bash", "-c", whole], capture_output=True, text=True, check=True, timeout=100).stdout


def check(shown: object, found: object, where: str = "$") -> None:
    """Every field that is shown is there, of the same kind; values may differ."""
    if isinstance(shown, dict):
        assert isinstance(found, dict), where
        for key, value in shown.items():
            assert key in found, f"{where}.{key}"
            check(value, found[key], f"{where}.{key}")
    elif isinstance(shown, list) and shown:
        assert isinstance(found, list), where
        assert found, where
        check(shown[0], found[0], f"{where}[0]")
    elif isinstance(shown, str):
        assert isinstance(found, str), where
    elif isinstance(shown, bool | int | float):
        assert isinstance(found, bool) == isinstance(shown, bool), where


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not there")
def test_the_examples_answer_as_shown(page) -> None:
    assert len(EXAMPLES) >= 14
    for script, kind, shown in EXAMPLES:
        found = run(page, script)
        if kind == "json":
            check(json.loads(shown), json.loads(found))
        else:
            names = re.findall(r"^event: (\w+)$", found, re.MULTILINE)
            assert list(dict.fromkeys(names)) == re.findall(r"^event: (\w+)$", shown, re.MULTILINE)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")
def test_the_client_in_twenty_lines_works_while_the_token_is_rotated(page, world, tmp_path) -> None:
    world.index()
    found = re.search(r"<!-- client.mjs -->\n```js\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    script = tmp_path / "client.mjs"
    script.write_text(found[1].replace("8765", str(page.port)))
    assert len([line for line in found[1].splitlines() if line]) <= 20

    from openmind.adapters.token_file import TokenFile

    for _ in range(2):
        printed = subprocess.run(["node", str(script)], capture_output=True, text=True, timeout=100, check=False)
        assert printed.returncode == 0, printed.stderr
        assert printed.stdout.startswith("ok rent.md\nmeta ")
        assert "\ndone " in printed.stdout
        TokenFile(world.home / "api_token").rotate()


def test_it_names_every_route_and_no_other(page) -> None:
    document = page.http.get("/openapi.json").json()
    routes = {f"{method.upper()} {path}" for path, item in document["paths"].items() for method in item}

    assert set(re.findall(r"^\| `((?:GET|POST|PUT|PATCH|DELETE) [^`]+)` \|", TEXT, re.MULTILINE)) == routes


def test_it_names_every_status_and_only_codes_that_there_are() -> None:
    rows = re.findall(r"^\| (\d{3}) \| .* \| (.*) \|$", TEXT, re.MULTILINE)
    refusals = [one for one in vars(problems).values() if isinstance(one, problems.Refusal)]
    ours = {one.code: one.status for one in refusals} | {"request.invalid": 422}
    kinds = {kind.code for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "code")}

    assert {int(status) for status, _ in rows} >= {*ours.values()} - {499}
    told = {code: int(status) for status, codes in rows for code in re.findall(r"`([\w.]+)`", codes)}
    assert told.keys() <= ours.keys() | kinds
    assert all(told[code] == status for code, status in ours.items() if code in told)
    assert ours.keys() - {"request.left"} <= told.keys()


def test_the_plugin_on_the_page_is_served(world, monkeypatch) -> None:
    _, routes = re.findall(r"```python\n# acme/\S+.*?\n(.*?)```", TEXT, re.DOTALL)
    module = ModuleType("acme_routes_of_the_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(routes, "API.md", "exec"), module.__dict__)
    world.routes = {"acme": f"{module.__name__}:router"}

    with world.served() as api:
        assert api.get("/x/acme/count").json() == {"files": 0}
        assert not api.server.application.broken


def test_the_commands_on_the_page_exist() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "openmind_cli", "serve", "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "200"},
    ).stdout

    for option in re.findall(r"openmind serve.*?(--[\w-]+)", TEXT):
        assert option in found
