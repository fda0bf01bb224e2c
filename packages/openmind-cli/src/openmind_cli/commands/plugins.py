"""`openmind plugins`."""

import shlex
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from openmind.adapters.packages import install_command
from openmind.configuration import readable_config
from openmind.installed import installed_plugins

from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.installed import Installed, look_at, names_taken
from openmind_cli.parameters import Json, Switch
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import line, note, print_columns, print_lines
from openmind_cli.render.objects import print_list, print_object
from openmind_cli.scaffold import Kind, write_package

app = App(name="plugins", help="List the installed plugins.")


@app.default
def plugins(*, trace: Switch = False, json: Json = False) -> int:
    """List the installed plugins, what each one adds, and what is wrong with it.

    Exit code 1 means that one is broken.

    Parameters
    ----------
    trace
        Show each hook that was called, what it added, and the CPU time it took.
    """
    found = installed_plugins()
    shown = look_at(found, storage=readable_config().storage.name)
    if json:
        print_list("plugins", (each.as_object(trace=trace) for each in shown))
    elif trace:
        print_columns(
            [row for each in shown for row in _calls(each)],
            heads=("plugin", "called", "ms", "added"),
            wide=("added",),
        )
    else:
        rows = [
            (each.report.name, each.report.distribution, each.report.version, _adds(each), _state(each))
            for each in shown
        ]
        print_columns(rows, heads=("name", "package", "version", "adds", "state"), wide=("adds", "state"))
        if not rows:
            note("There is no plugin, so OpenMind cannot read or store anything. Install `openmind-cli[all]`.")
    return FAILED if found.broken else OK


@app.command
def new(
    name: str,
    /,
    *,
    kind: Kind = "extractor",
    into: Annotated[Path, Parameter(show_default=False)] = Path(),
    json: Json = False,
) -> int:
    """Write a package with a plugin that works, and tests that pass, to go on from.

    Parameters
    ----------
    name
        What it is for, such as `lyrics`; the package is then `openmind-lyrics`.
    kind
        `extractor` reads a file format, `provider` brings models.
    into
        The folder in which the package gets its own; the present one unless it is given.
    """
    folder = write_package(name, kind, into, taken=names_taken(installed_plugins()))
    install = install_command(folder)
    if json:
        print_object({"folder": str(folder), "install": list(install)})
        return OK
    print_lines(
        [
            line(f"Wrote {one_line(str(folder))}. Its README.md says how its tests are run, which pass already."),
            line("Install it beside OpenMind, and `openmind plugins` lists it:"),
            line(one_line(shlex.join(install)), indent=2),
        ]
    )
    return OK


def _adds(each: Installed) -> str:
    return "; ".join(f"{kind}: {', '.join(map(one_line, names))}" for kind, names in each.adds.items())


def _state(each: Installed) -> str:
    if each.report.blocked:
        return "blocked"
    if each.report.error:
        return f"broken: {one_line(each.report.error)}"
    return "; ".join(["ok", *map(one_line, each.notes)])


def _calls(each: Installed) -> list[tuple[str, ...]]:
    report = each.report
    if report.blocked:
        return [(report.name, "nothing: it is blocked", "", "")]
    rows: list[tuple[str, ...]] = [(report.name, "import", f"{report.import_milliseconds:.1f}", "")]
    rows += [
        (report.name, call.hook, f"{call.milliseconds:.1f}", ", ".join(map(one_line, call.added)))
        for call in report.calls
    ]
    return [*rows, (report.name, "failed", "", one_line(report.error))] if report.error else rows
