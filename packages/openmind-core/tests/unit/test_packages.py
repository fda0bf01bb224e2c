"""How the installed packages would be removed, in each kind of environment."""

import sys
from pathlib import Path

import pytest
from openmind.adapters.packages import (
    install_command,
    installed_packages,
    plan_packages,
    remove_packages,
    require_remover,
)
from openmind.domain.errors import PluginError
from openmind.domain.upkeep import PackagePlan


def test_every_distribution_of_openmind_is_named_once() -> None:
    names = installed_packages()

    assert list(names) == sorted(set(names))
    assert {"openmind-core", "openmind-cli"} <= set(names)
    assert all(name.startswith("openmind-") for name in names)


@pytest.mark.parametrize(
    ("file", "text", "has_pip", "kind", "command"),
    [
        ("uv-receipt.toml", "", False, "uv tool", ("uv", "tool", "uninstall", "env")),
        ("pipx_metadata.json", "{}", True, "pipx", ("pipx", "uninstall", "env")),
        ("pyvenv.cfg", "home = /usr/bin\nuv = 0.9.1\n", False, "uv", ("uv", "pip", "uninstall", "--python")),
        ("pyvenv.cfg", "home = /usr/bin\nuv = 0.9.1\n", True, "pip", (sys.executable, "-m", "pip", "uninstall", "-y")),
        ("pyvenv.cfg", "home = /usr/bin\n", False, "pip", (sys.executable, "-m", "pip", "uninstall", "-y")),
        ("nothing", "", True, "pip", (sys.executable, "-m", "pip", "uninstall", "-y")),
    ],
)
def test_the_environment_decides_what_removes_them(
    tmp_path: Path, file: str, text: str, has_pip: bool, kind: str, command: tuple[str, ...]
) -> None:
    place = tmp_path / "env"
    place.mkdir()
    (place / file).write_text(text)

    plan = plan_packages(prefix=place, has_pip=has_pip)

    assert plan.kind == kind
    assert plan.place == str(place)
    [planned] = plan.commands
    assert planned[: len(command)] == command
    assert kind in {"uv tool", "pipx"} or set(plan.names) <= set(planned)


@pytest.mark.parametrize("has_pip", [True, False])
def test_the_command_that_installs_a_package_runs_from_any_folder(tmp_path: Path, has_pip: bool) -> None:
    uv = tmp_path / ".uv" / "bin" / "uv"
    uv.parent.mkdir(parents=True)
    uv.touch(mode=0o700)

    program, *rest = install_command(Path("openmind-songs"), prefix=tmp_path / ".venv", has_pip=has_pip)

    assert Path(program).is_absolute()
    assert rest[-2:] == ["--editable", str(Path.cwd() / "openmind-songs")]
    assert sys.executable in (program, *rest)


def a_plan(*command: str) -> PackagePlan:
    return PackagePlan(names=("openmind-core",), kind="pip", place="/env", commands=(command,))


def test_the_command_is_run() -> None:
    remove_packages(a_plan(sys.executable, "-c", ""))


def test_a_command_that_fails_or_is_not_there_is_told_with_what_to_run() -> None:
    with pytest.raises(PluginError) as refused:
        remove_packages(a_plan(sys.executable, "-c", "raise SystemExit(2)"))
    with pytest.raises(PluginError) as missing:
        require_remover(a_plan("no-such-program", "uninstall"))

    require_remover(a_plan(sys.executable, "-c", "raise SystemExit(2)"))
    assert "raise SystemExit(2)" in refused.value.hint
    assert "no-such-program uninstall" in missing.value.hint


def test_a_uv_beside_the_environment_is_used_where_none_is_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, uv = tmp_path / ".venv", tmp_path / ".uv" / "bin" / "uv"
    place.mkdir()
    (place / "pyvenv.cfg").write_text("uv = 0.9.1\n")
    uv.parent.mkdir(parents=True)
    uv.touch(mode=0o700)
    monkeypatch.setenv("PATH", "")

    assert plan_packages(prefix=place, has_pip=False).commands[0][0] == str(uv)
