"""Runs that are stopped, killed or kept out: nothing is lost, and everybody is told the truth."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from openmind import open_memory

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")]

FILES = 1_500


@pytest.fixture
def run(openmind, write: Callable[[str, str], Path], tmp_path: Path) -> subprocess.Popen[str]:
    """An index run in the midst of its work."""
    for number in range(FILES):
        write(f"{number % 50}/{number}.md", f"# Note {number}\n\n" + f"Sentence {number} about harbours. " * 30)
    openmind.done("source", "add", str(tmp_path / "notes"))
    process = subprocess.Popen(
        [sys.executable, "-m", "openmind_cli", "index"],
        env=openmind.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while "running" not in process.stderr.readline():
        assert process.poll() is None
    return process


def test_ctrl_c_stops_a_run_and_the_next_one_finishes_it(openmind, run: subprocess.Popen[str]) -> None:
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)

    # Python ends by the signal itself when it came in the middle of an `exec`; a shell shows 130 for both.
    assert run.returncode in {130, -signal.SIGINT}, (out, err)
    assert "Traceback" not in out + err
    assert "Interrupted" in err
    done = openmind.done("index", "--json").object
    assert done["indexed_files"] + done["already_indexed_files"] == FILES


def test_status_shows_a_run_under_way_and_tells_when_it_was_killed(openmind, run: subprocess.Popen[str]) -> None:
    run.send_signal(signal.SIGSTOP)  # it must not be done before we have looked
    assert openmind.done("status", "--json").object["indexing_state"] == "running"

    run.kill()
    run.communicate(timeout=60)

    killed = openmind.done("status", "--json").object
    assert killed["indexing_state"] == "idle"
    assert killed["last_run"]["state"] == "failed"
    assert killed["last_run"]["error"]
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
