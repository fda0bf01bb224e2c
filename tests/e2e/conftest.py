"""Runs `openmind` as a process with a home of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from tests.e2e.forked import Forker

PROGRAM = Path(sys.executable).with_name("openmind.exe" if os.name == "nt" else "openmind")


@frozen
class Told:
    """What a command told."""

    code: int
    out: str
    err: str

    @property
    def object(self) -> dict[str, Any]:
        """Standard output as the one JSON object that it is."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    def refused(self, code: int, *words: str) -> None:
        """Check that it failed as a person may expect: a sentence, a next step, and no traceback."""
        shown = f"{self.code}\n--- out\n{self.out}\n--- err\n{self.err}"
        lines = self.err.rstrip().splitlines()[-2:]  # progress may stand before them
        assert self.code == code, shown
        assert "Traceback" not in self.out + self.err, shown
        assert "bug in OpenMind" not in self.err, shown
        assert self.out == "", shown
        assert len(lines) == 2, shown
        assert lines[0].startswith("openmind: "), shown
        assert lines[1].startswith("  "), shown
        for word in words:
            assert word.lower() in self.err.lower(), shown


@frozen
class Cli:
    """The `openmind` command of one home."""

    home: Path
    folder: Path
    """Current folder of the commands."""
    forker: Forker | None = None
    """Runs commands without starting the program anew; not where the environment is under test."""

    def environment(self, changes: Mapping[str, str] | None = None) -> dict[str, str]:
        return {**clean_environment(), "OPENMIND_HOME": str(self.home), **(changes or {})}

    def __call__(self, *arguments: str | bytes, env: Mapping[str, str] | None = None) -> Told:
        words = [argument for argument in arguments if isinstance(argument, str)]
        if self.forker is not None and env is None and len(words) == len(arguments):
            code, out, err = self.forker.run(
                words, environment=self.environment(), folder=self.folder, streams=self.folder.parent
            )
            return Told(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
        ran = subprocess.run(
            [str(PROGRAM), *arguments],
            env=self.environment(env),
            cwd=self.folder,
            capture_output=True,
            timeout=240,
            check=False,
        )
        # Only the encoding of the locale is under test where a test asks for one.
        return Told(ran.returncode, ran.stdout.decode("utf-8", "replace"), ran.stderr.decode("utf-8", "replace"))

    def done(self, *arguments: str | bytes) -> Told:
        """Run a command that must succeed."""
        told = self(*arguments)
        assert told.code == 0, f"{arguments}: {told}"
        assert "Traceback" not in told.err
        return told


SET_BY_TESTS = ("OPENMIND_", "LC_", "LANG", "COLUMNS", "LINES")
"""Begin the names of what tests set themselves, or the program that runs them for its own terminal."""


def clean_environment() -> dict[str, str]:
    """What a command finds around it, whoever runs the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith(SET_BY_TESTS)}


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker | None]:
    """What runs commands in forks of one process that has loaded them."""
    if not hasattr(os, "fork"):
        yield None
        return
    forker = Forker(clean_environment())
    yield forker
    forker.close()


@pytest.fixture
def openmind(tmp_path: Path, forker: Forker | None) -> Cli:
    """The command, with a home that is not there yet."""
    work = tmp_path / "work"
    work.mkdir()
    return Cli(home=tmp_path / "home", folder=work, forker=forker)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Writes a file below the folder `notes`."""

    def make(name: str, text: str) -> Path:
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return make
