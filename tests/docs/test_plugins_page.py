import inspect
import json
import re
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import openmind.testing.contracts
import pytest
from openmind import open_memory
from openmind.bootstrap import open_settings
from openmind.domain.errors import ConfigError, UsageError
from openmind.plugins import hookspecs
from openmind.plugins.implementations import HOOKS, check_implementations
from openmind.plugins.manager import Plugins, load_plugins
from openmind.plugins.registries import CommandEntry, Registered
from openmind_cli.dispatch import dispatch
from openmind_cli.guard import guarded

PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def section(hook: str) -> str:
    return PAGE.split(f"\n## {hook}\n", 1)[1].split("\n## ", 1)[0]


def registered_by(hook: str) -> set[str]:
    """What the example of a hook registers."""
    code = re.findall(r"```python\n(.*?)```", section(hook), re.DOTALL)[0]
    names: dict[str, object] = {}
    exec(compile(code, "docs/plugins.md", "exec"), names)
    check_implementations(
        type(
            "Plugin",
            (),
            {key: staticmethod(value) if callable(value) else value for key, value in names.items() if key == hook},
        )
    )
    registry = Plugins().by_hook()[hook]
    names[hook](registry=registry)  # type: ignore[operator]
    return set(registry.entries)


def test_every_hook_has_a_heading_and_no_other() -> None:
    assert set(HOOKS) == set(re.findall(r"^## (openmind_register_\w+)$", PAGE, re.MULTILINE))


def test_every_hook_has_a_test() -> None:
    tests = {name.removeprefix("test_hook_") for name in globals() if name.startswith("test_hook_")}

    assert tests == {hook.removeprefix("openmind_register_") for hook in HOOKS}


def test_hook_extractors() -> None:
    assert registered_by("openmind_register_extractors") == {"lyrics"}


def test_hook_providers() -> None:
    assert registered_by("openmind_register_providers") == {"acme"}


def test_hook_stores() -> None:
    assert registered_by("openmind_register_stores") == {"attic"}


def test_the_storage_of_the_example_is_used_when_it_is_chosen(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", section("openmind_register_stores"), re.DOTALL)[0], names)
    plugins = load_plugins()
    names["openmind_register_stores"](registry=plugins.stores)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "song.md").write_text("Row your boat gently down the stream.")
    home = tmp_path / "home"

    settings = open_settings(home, plugins=plugins)
    with pytest.raises(UsageError, match="no store “cellar”"):
        settings.set("storage.name", "cellar")
    settings.set("storage.name", "attic")
    with open_memory(home, plugins=plugins) as memory:
        memory.sources.add(tmp_path / "notes")
        memory.index()

        assert [hit.file_name for hit in memory.search("boat").hits] == ["song.md"]
    with pytest.raises(ConfigError, match="no store “attic”"), open_memory(home):
        """The plugin is gone, and nothing else is taken for it."""
    open_settings(home).set("storage.name", "local")
    with open_memory(home) as memory:
        assert memory.sources.list() == ()


def test_hook_commands() -> None:
    assert registered_by("openmind_register_commands") == {"hum"}


def test_the_command_of_the_example_runs_with_json_and_says_when_there_is_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = re.findall(r"```python\n(.*?)```", section("openmind_register_commands"), re.DOTALL)[1]
    (tmp_path / "page_hum.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "page_hum", raising=False)
    monkeypatch.setenv("OPENMIND_HOME", str(tmp_path / "home"))
    entry = Registered("hum", CommandEntry(target="page_hum:hum", help="Hum a song."), "openmind-acme")

    def run(*arguments: str) -> int:
        return guarded(["hum", *arguments], lambda given: dispatch(given, lambda: {"hum": entry}))

    assert run("boat") == 1
    assert "openmind: " in capsys.readouterr().err

    with open_memory(tmp_path / "home"):
        pass
    assert run("boat", "--json") == 1
    assert json.loads(capsys.readouterr().out) == {"song": None}
    assert run("boat", "--loud") == 2


def test_hook_routes() -> None:
    assert registered_by("openmind_register_routes") == {"acme"}


def test_the_version_of_the_hooks_is_told() -> None:
    assert f"`OPENMIND_HOOKS = {hookspecs.VERSION}`" in PAGE


def test_the_examples_keep_every_promise_of_an_extractor_and_of_a_storage(tmp_path: Path, tests_of) -> None:
    (tmp_path / "test_page.py").write_text("\n".join(BLOCKS), encoding="utf-8")

    ran = tests_of(tmp_path)

    assert ran.returncode == 0, ran.stdout


def suites() -> dict[str, type]:
    found = {}
    for module in iter_modules(openmind.testing.contracts.__path__):
        if not module.ispkg:
            for name, kind in vars(import_module(f"openmind.testing.contracts.{module.name}")).items():
                if name.endswith("Contract"):
                    found[f"{module.name}.{name}"] = kind
    return found


def test_every_suite_is_listed_and_no_other() -> None:
    assert set(suites()) == set(re.findall(r"^\| `(\w+\.\w+Contract)` \|", PAGE, re.MULTILINE))


@pytest.mark.parametrize("name", suites())
def test_the_fixtures_of_a_suite_are_told(name: str) -> None:
    kind = suites()[name]
    [row] = re.findall(rf"^\| `{re.escape(name)}` \| (.*) \|$", PAGE, re.MULTILINE)
    given = {
        known
        for known, value in inspect.getmembers(kind)
        if not known.startswith("test_") and "fixture" in type(value).__name__.lower()
    }
    asked = {
        argument
        for known, value in inspect.getmembers(kind)
        if callable(value) and (known.startswith("test_") or known in given)
        for argument in inspect.signature(
            inspect.unwrap(getattr(value, "_get_wrapped_function", lambda v=value: v)())
        ).parameters
    }
    known = {argument for argument in asked if argument not in {"self", "tmp_path", "request"} | given}
    parametrised = {
        argument
        for _, value in inspect.getmembers(kind, callable)
        for mark in getattr(value, "pytestmark", ())
        if mark.name == "parametrize"
        for argument in (mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0])
    }

    assert set(re.findall(r"`(\w+)`", row)) == known - {each.strip() for each in parametrised}


def test_installing_names_a_clone_and_nothing_that_others_publish() -> None:
    root = Path(__file__).parents[2]
    pages = [
        *(root / "docs").glob("*.md"),
        *root.glob("*.md"),
        *root.glob("examples/*/README.md"),
        *root.glob("packages/openmind-cli/src/openmind_cli/templates/*/README.md.template"),
    ]
    commands = [
        command
        for page in pages
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        for line in block.splitlines()
        for command in line.split(" && ")
    ]
    installs = [command for command in commands if "pip install" in command and "openmind" in command]

    assert len(installs) >= 5
    for command in installs:
        for path in re.findall(r"\S*openmind-core\S*", command):
            assert re.fullmatch(r'"\$CLONE/packages/openmind-core\[testing\]"', path), command
    assert all("--inexact" in command for command in commands if "uv sync" in command)
