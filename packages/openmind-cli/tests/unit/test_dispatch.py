"""Finding the command that was asked for."""

import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from openmind.application.lookout import Wait
from openmind.domain.errors import PluginError, UsageError
from openmind.plugins.manager import load_plugins
from openmind.plugins.registries import CommandEntry, Registered
from openmind.testing.fakes.hanging import Hanging
from openmind_cli.commands import COMMANDS
from openmind_cli.dispatch import Strangers, dispatch
from openmind_cli.failures import failure_object


def stranger(target: str, name: str = "acme") -> Strangers:
    return {name: Registered(name, CommandEntry(target=target, help="Does what Acme does."), "openmind-acme")}


def test_a_command_that_hangs_at_its_import_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    night = Hanging()
    monkeypatch.setitem(sys.modules, "night", night)  # type: ignore[arg-type]  # anything can be imported
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "command_that_hangs.py").write_text("import night\nnight.hang()\ndef run() -> int:\n    return 4\n")
    entry = CommandEntry(target="command_that_hangs:run", help="Hangs.")

    code = dispatch(["acme"], lambda: {"acme": Registered("acme", entry, "openmind-acme", "tune")}, night.lookout)

    assert code == 4
    whom = "the plugin “tune” of the package openmind-acme"
    assert night.said == [Wait(whom, "the import of its command “acme”", "tune").told]


def none() -> Strangers:
    return {}


def test_the_help_lists_every_command_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["--help"], lambda: stranger("json:dumps")) == 0

    shown = capsys.readouterr().out
    for name, _, line in COMMANDS:
        assert name in shown
        assert line in shown
    assert "Does what Acme does." in shown


def test_without_arguments_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch([], none) == 0
    assert "Usage: openmind COMMAND" in capsys.readouterr().out


@pytest.mark.parametrize("name", [name for name, _, _ in COMMANDS])
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch([name, "--help"], none) == 0
    assert f"Usage: openmind {name}" in capsys.readouterr().out


def test_a_mistyped_command_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        dispatch(["serch", "x"], none)

    assert "serch" in caught.value.message
    assert "`openmind search`" in caught.value.hint


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "x", "--limit", "0"],
        ["search", "x", "--limit", "51"],
        ["search", "x", "--limit", "many"],
        ["ask", "x", "--limit", "21"],
        ["search", "x", "--after", "yesterday-ish"],
        ["search", "x", "--per-file", "-1"],
        ["search", "x", "--nope"],
        ["source", "add"],
        ["source", "nope"],
        ["index", "extra"],
        ["status", "--files"],
    ],
)
def test_arguments_that_make_no_sense_are_usage_errors(arguments: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        dispatch(arguments, none)

    assert caught.value.message
    assert "--help`" in caught.value.hint


def test_a_switch_and_its_opposite_are_refused_as_what_they_are() -> None:
    with pytest.raises(UsageError, match="--no-ocr comes after the same option, or its opposite"):
        dispatch(["source", "set", "src_1", "--ocr", "--no-ocr"], none)


def test_a_command_of_another_package_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_command.py").write_text("def run(number: int) -> int:\n    return number\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    assert dispatch(["acme", "7"], lambda: stranger("acme_command:run")) == 7


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("1 / 0", "of the package openmind-acme failed (ZeroDivisionError)"),
        ("raise BaseException", "of the package openmind-acme failed (BaseException)"),
        ("raise GeneratorExit", "of the package openmind-acme failed (GeneratorExit)"),
        ("raise SystemExit('no song')", "of the package openmind-acme ended: no song"),
        ("return 'done'", "returned str and not"),
        ("return True", "returned bool and not"),
        ("return 256", "returned 256 and not"),
        ("return -1", "returned -1 and not"),
        ("async def sing(): pass\n    return sing()", "returned coroutine and not"),
    ],
)
def test_a_command_of_another_package_that_fails_names_it(
    body: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_fails.py").write_text(f"def run():\n    {body}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acme_fails", raising=False)
    monkeypatch.setenv("OPENMIND_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    with pytest.raises(PluginError, match=re.escape(told)) as caught:
        dispatch(["acme"], lambda: stranger("acme_fails:run"))

    found = failure_object(caught.value)
    assert found["code"] == "plugin.broken"
    assert ("Details are in" in str(found["hint"])) == ("failed" in told)


@pytest.mark.parametrize(("end", "code"), [("SystemExit", 0), ("SystemExit(0)", 0), ("SystemExit(7)", 7)])
def test_a_command_of_another_package_may_end_the_process(
    end: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_ends.py").write_text(f"def run():\n    raise {end}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acme_ends", raising=False)

    assert dispatch(["acme"], lambda: stranger("acme_ends:run")) == code


def test_a_command_that_panics_when_it_is_loaded_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_panics.py").write_text("raise BaseException('panicked')\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(PluginError, match="openmind-acme cannot be loaded from acme_panics:run: BaseException: pan"):
        dispatch(["acme"], lambda: stranger("acme_panics:run"))


@pytest.mark.parametrize("target", ["acme_is_not_installed:run", "json:no_such_attribute", "nonsense"])
def test_a_command_that_cannot_be_loaded_names_its_package(target: str) -> None:
    with pytest.raises(PluginError) as caught:
        dispatch(["acme"], lambda: stranger(target))

    assert "openmind-acme" in caught.value.message
    assert target.partition(":")[0] in caught.value.message


def test_a_stranger_cannot_take_a_name_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    def asked() -> Strangers:
        raise AssertionError("our own commands need no plugins")

    assert dispatch(["search", "--help"], asked) == 0
    assert "Find passages by meaning" in capsys.readouterr().out


def test_the_commands_are_registered_like_those_of_any_plugin() -> None:
    plugins = load_plugins((EntryPoint(name="cli", value="openmind_cli.plugin", group="openmind"),))

    assert not plugins.broken
    assert set(plugins.commands.entries) == {name for name, _, _ in COMMANDS}


def test_the_help_imports_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    before = {name for name in sys.modules if name.startswith("openmind_cli.commands.")}

    dispatch(["--help"], none)

    assert {name for name in sys.modules if name.startswith("openmind_cli.commands.")} == before
