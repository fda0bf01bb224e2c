"""How much a command costs before it does anything.

CPU seconds of whole processes, each the least of several that take turns, against a bare cyclopts app with as many
commands in the same environment. `python benchmarks/startup.py [--runs N]`
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from processes import ENVIRONMENT, cpu_seconds

BARE = """
import sys
from cyclopts import App
app = App(name="bare", version="1")
for name in "init source index search ask status plugins demo".split():
    app.command(f"bare.{name}:run", name=name, help=f"Does what {name} does.")
app(sys.argv[1:])
"""
MODULES = """
import json, sys
from openmind_cli.main import main
main(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    json.dump(sorted(sys.modules), file)
"""
HEAVY = ("lance", "lancedb", "pyarrow", "pandas", "numpy", "httpx", "litestar", "onnxruntime")
COMMANDS = (["--help"], ["--version"], ["source", "list"], ["status"])


def heavy_modules(arguments: list[str], environment: Mapping[str, str], folder: Path) -> list[str]:
    """The heavy packages that a command imports."""
    listing = folder / "modules.json"
    command = [sys.executable, "-c", MODULES, str(listing), *arguments]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    loaded = set(json.loads(listing.read_text()))
    return [name for name in HEAVY if name in loaded]


def main() -> int:
    """Print the table; the exit code is 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    missed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        home = str(folder / "home")
        environment = {**ENVIRONMENT, "OPENMIND_HOME": home}
        notes = folder / "notes"
        notes.mkdir()
        for arguments in (["init"], ["source", "add", str(notes)]):
            subprocess.run(
                [sys.executable, "-m", "openmind_cli", *arguments], env=environment, check=True, capture_output=True
            )
        commands = {" ".join(each): [sys.executable, "-m", "openmind_cli", *each] for each in COMMANDS}
        bare_help = [sys.executable, "-c", BARE, "--help"]
        taken = cpu_seconds({"bare": bare_help, **commands}, runs=runs, OPENMIND_HOME=home)
        bare = taken["bare"]
        print(f"| {'command':<28} | CPU s | × bare help | bar | heavy imports |")
        print("|---|---|---|---|---|")
        print(f"| {'bare cyclopts app --help':<28} | {bare:.3f} | 1.00 | | |")
        for arguments in COMMANDS:
            spent = taken[" ".join(arguments)]
            bar = 1.3 if arguments == ["--help"] else None
            heavy = heavy_modules(arguments, environment, folder)
            missed |= bool(heavy) or (bar is not None and spent > bar * bare)
            shown = "openmind " + " ".join(arguments)
            print(
                f"| {shown:<28} | {spent:.3f} | {spent / bare:.2f} | {f'≤ {bar}' if bar else ''} "
                f"| {', '.join(heavy) or 'none'} |"
            )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
