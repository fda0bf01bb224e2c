"""Finds out how the installed packages would be removed, and by what."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import distributions
from pathlib import Path

from openmind.domain.errors import PluginError
from openmind.domain.upkeep import PackagePlan

PREFIX = "openmind-"


def installed_packages() -> tuple[str, ...]:
    """Name OpenMind's distributions in this environment, plugins included."""
    names = {(found.name or "").lower().replace("_", "-") for found in distributions()}
    return tuple(sorted(name for name in names if name.startswith(PREFIX)))


def plan_packages(*, prefix: Path | None = None, has_pip: bool | None = None) -> PackagePlan:
    """Say how the packages would be removed from this environment.

    Args:
        prefix: the environment; for tests.
        has_pip: whether pip is installed in it; for tests.
    """
    place = Path(sys.prefix) if prefix is None else prefix
    names = installed_packages()
    if (place / "uv-receipt.toml").is_file():
        return _plan("uv tool", place, names, ("uv", "tool", "uninstall", place.name))
    if (place / "pipx_metadata.json").is_file():
        return _plan("pipx", place, names, ("pipx", "uninstall", place.name))
    with_pip = importlib.util.find_spec("pip") is not None if has_pip is None else has_pip
    if not with_pip and _is_made_by_uv(place):
        return _plan("uv", place, names, (_uv(place), "pip", "uninstall", "--python", sys.executable, *names))
    return _plan("pip", place, names, (sys.executable, "-m", "pip", "uninstall", "-y", *names))


def install_command(package: Path, *, prefix: Path | None = None, has_pip: bool | None = None) -> tuple[str, ...]:
    """Say how a package is installed into this environment so that changes of its files count at once.

    Args:
        package: its folder.
        prefix: the environment; for tests.
        has_pip: whether pip is installed in it; for tests.
    """
    what = ("--editable", str(package.resolve()))
    if importlib.util.find_spec("pip") is not None if has_pip is None else has_pip:
        return (sys.executable, "-m", "pip", "install", *what)
    uv = _uv(Path(sys.prefix) if prefix is None else prefix)
    return (shutil.which(uv) or uv, "pip", "install", "--python", sys.executable, *what)


def require_remover(plan: PackagePlan) -> None:
    """Refuse what cannot be done before anything is deleted.

    Raises:
        PluginError: the program that manages the environment is not there.
    """
    for command in plan.commands:
        _program(plan, command)


def remove_packages(plan: PackagePlan) -> None:
    """Remove the packages; this process can hardly load anything of them afterwards.

    Raises:
        PluginError: the program that manages the environment is not there, or refused.
    """
    for command in plan.commands:
        program = _program(plan, command)
        if subprocess.run([program, *command[1:]], check=False).returncode != 0:
            raise PluginError(
                f"{plan.kind} did not remove the packages", hint=f"Run it yourself: `{' '.join(command)}`."
            )


def _program(plan: PackagePlan, command: Sequence[str]) -> str:
    program = shutil.which(command[0])
    if program is None:
        raise PluginError(
            f"The packages are managed by {plan.kind}, and no program {command[0]} is found on the PATH",
            hint=f"Where it is found, run: `{' '.join(command)}`. Without `--package` only the data is deleted.",
        )
    return program


def _uv(place: Path) -> str:
    """The program uv; one that was installed beside the environment need not be on the PATH."""
    beside = (place / "bin" / "uv", place.parent / ".uv" / "bin" / "uv")
    return "uv" if shutil.which("uv") else next((str(path) for path in beside if os.access(path, os.X_OK)), "uv")


def _plan(kind: str, place: Path, names: Sequence[str], command: tuple[str, ...]) -> PackagePlan:
    return PackagePlan(names=tuple(names), kind=kind, place=str(place), commands=(command,) if names else ())


def _is_made_by_uv(place: Path) -> bool:
    try:
        lines = (place / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    return any(line.split("=")[0].strip() == "uv" for line in lines)
