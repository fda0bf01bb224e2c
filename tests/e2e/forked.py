"""Runs the `openmind` command again and again without importing it each time.

A process that has loaded everything and opened nothing forks a child for each command: what the command does, it does
in a process of its own, with its own streams, folder and environment. Only the start of Python and the imports are
spared. Tests that are about starting, terminals, encodings or signals start the real program instead.
"""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

LOADED = ("openmind_cli", "openmind_stores", "openmind_wordllama")


class Forker:
    """The process that forks, from the outside."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self, arguments: Sequence[str], *, environment: Mapping[str, str], folder: Path, streams: Path
    ) -> tuple[int, bytes, bytes]:
        """Run a command; returns the exit code and what it wrote.

        Args:
            arguments: without the program's name.
            environment: the whole of it.
            folder: the current one.
            streams: a folder for what it writes.
        """
        out, err = streams / "stdout", streams / "stderr"
        asked = [list(arguments), dict(environment), str(folder), str(out), str(err)]
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        return code, out.read_bytes(), err.read_bytes()

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def serve() -> None:
    """Fork for each line of standard input."""
    for package in LOADED:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    importlib.import_module("openmind.bootstrap")
    warnings.filterwarnings("ignore", "lance is not fork-safe")
    for asked in sys.stdin:
        child = os.fork()
        if child == 0:
            carry_out(*json.loads(asked))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def carry_out(arguments: list[str], environment: dict[str, str], folder: str, out: str, err: str) -> None:
    """Be the command."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for path, number in ((os.devnull, 0), (out, 1), (err, 2)):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0)
    sys.argv = ["openmind", *arguments]
    try:
        from openmind_cli.main import main

        code = main()
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001  as Python itself would end
        traceback.print_exc()
        code = 1
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    serve()
