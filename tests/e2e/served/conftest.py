"""The command with a model server, and with a person at a terminal."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import define

sys.path.append(str(Path(__file__).parents[2]))

from lmstudio_server import ScriptedServer

UP, DOWN, ENTER, SPACE, CTRL_C, CTRL_D = "\x1b[A", "\x1b[B", "\r", " ", "\x03", "\x04"


@define
class Terminal:
    """A person at a terminal of 100 columns."""

    child: Any

    def sees(self, *texts: str) -> str:
        """Wait for texts, one after the other; returns all that was shown until then."""
        shown = ""
        for text in texts:
            self.child.expect_exact(text)
            shown += self.child.before + self.child.after
        return shown

    def types(self, *keys: str) -> None:
        for key in keys:
            self.child.send(key)

    def ends(self, code: int = 0) -> str:
        """Wait for the end; returns what was shown since the last look."""
        import pexpect

        self.child.expect(pexpect.EOF)
        self.child.close()
        shown = str(self.child.before)
        assert self.child.exitstatus == code, shown
        assert "Traceback" not in shown
        return shown


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """The person's own folder, with documents in it."""
    folder = tmp_path / "person"
    (folder / "Documents").mkdir(parents=True)
    (folder / "Documents" / "harbour.md").write_text(
        "# Harbour\n\nThe ferry leaves an hour before high water.\n", encoding="utf-8"
    )
    return folder


@pytest.fixture
def at_terminal(openmind, person: Path) -> Iterator[Callable[..., Terminal]]:
    """Starts the command at a terminal."""
    pexpect = pytest.importorskip("pexpect")
    started: list[Any] = []

    def start(*arguments: str, env: Mapping[str, str] = {}) -> Terminal:
        # A terminal that nobody looks at does not answer where its cursor is.
        changes = {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "HOME": str(person), "PROMPT_TOOLKIT_NO_CPR": "1"}
        child = pexpect.spawn(
            sys.executable,
            ["-m", "openmind_cli", *arguments],
            env=openmind.environment({**changes, **env}),
            cwd=str(openmind.folder),
            dimensions=(40, 100),
            encoding="utf-8",
            timeout=100,
        )
        started.append(child)
        return Terminal(child)

    yield start
    for child in started:
        child.close(force=True)


@pytest.fixture
def configured(openmind, server: ScriptedServer, person: Path):
    """A memory of the documents, with all models of the server."""
    openmind.done(
        *("setup", "--provider", "lmstudio", "--base-url", server.base_url, "--chat-model", "acme/chat"),
        *("--embedding-model", "text-embedding-acme", "--image-model", "none", "--no-index"),
        *("--folder", str(person / "Documents")),
    )
    openmind.done("index")
    server.requests.clear()
    return openmind


@pytest.fixture
def until(openmind) -> Iterator[Callable[..., dict[str, Any]]]:
    """Waits for a background job to be in one of some states; a job that is left over is stopped."""

    def wait(*states: str) -> dict[str, Any]:
        deadline = time.monotonic() + 100
        while True:
            job = openmind.done("index", "status", "--once", "--json").object
            if job["state"] in states or time.monotonic() > deadline:
                assert job["state"] in states, job
                return job
            time.sleep(0.3)

    yield wait
    if openmind.home.exists():
        openmind("index", "stop")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            job = openmind("index", "status", "--once", "--json")
            if job.code or job.object["state"] in {"idle", "completed", "stopped", "failed"}:
                break
            time.sleep(0.3)
