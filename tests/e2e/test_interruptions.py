"""Runs that are stopped, killed or kept out: nothing is lost, and everybody is told the truth."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from openmind import open_memory

sys.path.append(str(Path(__file__).parents[1]))

from lmstudio_server import ScriptedServer, steps

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")]

FILES = 330
"""Enough that they are prepared in processes of their own."""
ROUTE = "/v1/embeddings"
PATIENCE_S = 240


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A model server that says who it is and then takes a request that it never answers."""
    with ScriptedServer() as running:
        running.script(ROUTE, steps.normal)
        running.always(ROUTE, steps.stall(3_600))
        yield running


@pytest.fixture
def run(
    openmind, server: ScriptedServer, write: Callable[[str, str], Path], tmp_path: Path
) -> Iterator[subprocess.Popen[str]]:
    """An index run in the midst of its work, which cannot be done before it was looked at."""
    for number in range(FILES):
        write(f"{number % 50}/{number}.md", f"# Note {number}\n\nSentence {number} about harbours.")
    openmind.done("source", "add", str(tmp_path / "notes"))
    (openmind.home / "config.toml").write_text(
        f'[provider]\nname = "lmstudio"\nbase_url = "{server.base_url}"\n'
        '[models]\nembedding_model = "text-embedding-acme"\n'
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "openmind_cli", "index"],
        env=openmind.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + PATIENCE_S
    while len(server.posts(ROUTE)) < 2:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield process
    process.kill()
    process.communicate()


def test_ctrl_c_stops_a_run_and_the_next_one_finishes_it(openmind, server, run: subprocess.Popen[str]) -> None:
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=PATIENCE_S)

    # Python ends by the signal itself when it came in the middle of an `exec`; a shell shows 130 for both.
    assert run.returncode in {130, -signal.SIGINT}, (out, err)
    assert "Traceback" not in out + err
    assert "Interrupted" in err
    server.always(ROUTE, None)
    done = openmind.done("index", "--json").object
    assert done["indexed_files"] + done["already_indexed_files"] == FILES
    assert openmind.done("status", "--json").object["missing_vectors"] == 0


def test_status_shows_a_run_under_way_and_tells_when_it_was_killed(
    openmind, server, run: subprocess.Popen[str]
) -> None:
    assert openmind.done("status", "--json").object["indexing_state"] == "running"

    run.kill()
    run.communicate(timeout=PATIENCE_S)

    killed = openmind.done("status", "--json").object
    assert killed["indexing_state"] == "idle"
    assert killed["last_run"]["state"] == "failed"
    assert killed["last_run"]["error"]
    server.always(ROUTE, None)
    done = openmind.done("index", "--json").object
    assert done["indexed_files"] + done["already_indexed_files"] == FILES
    assert f"{FILES:,} files" in openmind.done("status").out


def test_a_second_run_says_who_is_at_work(openmind, write: Callable[[str, str], Path], tmp_path: Path) -> None:
    write("a.md", "Alpha.")
    openmind.done("source", "add", str(tmp_path / "notes"))

    with open_memory(openmind.home) as memory, memory.storage.index_lock():
        openmind("index").refused(1, str(os.getpid()))
        assert openmind("search", "alpha").code == 0

    openmind.done("index")
