"""`openmind plugins`."""

from typing import Any

from openmind.domain.plugins import PluginReport
from openmind.plugins.manager import Plugins, load_plugins
from openmind.plugins.registries import Registry

from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.parameters import Json
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import note, print_columns
from openmind_cli.render.objects import print_list


def plugins(*, json: Json = False) -> int:
    """List the installed plugins, what each one adds, and what is wrong with it.

    Exit code 1 means that one is broken.
    """
    found = load_plugins()
    if json:
        print_list("plugins", (_object(report, found) for report in found.reports))
    else:
        rows = [
            (report.name, report.distribution, report.version, _adds(report, found), _state(report))
            for report in found.reports
        ]
        print_columns(rows, heads=("name", "package", "version", "adds", "state"), wide=("adds", "state"))
        if not rows:
            note("There is no plugin, so OpenMind cannot read or store anything. Install `openmind-cli[all]`.")
    return FAILED if found.broken else OK


def _object(report: PluginReport, found: Plugins) -> dict[str, object]:
    return {
        "name": report.name,
        "distribution": report.distribution,
        "version": report.version,
        "adds": provided_by(report.distribution, found),
        "error": report.error or None,
    }


def provided_by(distribution: str, found: Plugins) -> dict[str, list[str]]:
    """The names that a package registered, by kind; kinds without any are left out."""
    registries: dict[str, Registry[Any]] = {
        "extractors": found.extractors,
        "ocr": found.extractors.ocr,
        "providers": found.providers,
        "stores": found.stores,
        "commands": found.commands,
        "routes": found.routes,
    }
    names = {
        kind: sorted(name for name, entry in registry.entries.items() if entry.distribution == distribution)
        for kind, registry in registries.items()
    }
    return {kind: listed for kind, listed in names.items() if listed}


def _adds(report: PluginReport, found: Plugins) -> str:
    groups = provided_by(report.distribution, found)
    return "; ".join(f"{kind}: {', '.join(map(one_line, names))}" for kind, names in groups.items())


def _state(report: PluginReport) -> str:
    return f"broken: {one_line(report.error)}" if report.error else "ok"
