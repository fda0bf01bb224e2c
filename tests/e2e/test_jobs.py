"""Indexing in the background, as a person does it. The embedder is a server's, which hangs when a test wants it to."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

from lmstudio_server import ScriptedServer, steps

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")]

FILES = 40
ROUTE = "/v1/embeddings"
PATIENCE_S = 240
"""For what comes at once on a machine that has nothing else to do."""
HANGS_S = 3_600
"""For this long a server says nothing: whoever waited for it would be waited for in vain."""
Write = Callable[[str, str], Path]
Job = dict[str, object]


@pytest.fixture
def server(openmind, write: Write, tmp_path: Path) -> Iterator[ScriptedServer]:
    """A model server in use, a source, and no worker left behind."""
    for number in range(FILES):
        write(f"{number}.md", f"# Note {number}\n\nSentence {number} about harbours.")
    openmind.done("source", "add", str(tmp_path / "notes"))
    with ScriptedServer() as running:
        config = f"""
            [provider]
            name = "lmstudio"
            base_url = "{running.base_url}"
            [models]
            embedding_model = "text-embedding-acme"
        """
        (openmind.home / "config.toml").write_text(config)
        yield running
        openmind("index", "stop")
        until(openmind, finished)


@pytest.fixture
def hanging(server: ScriptedServer) -> ScriptedServer:
    """The same, once it was asked who it is; what comes then is never answered."""
    server.script(ROUTE, steps.normal)
    server.always(ROUTE, steps.stall(HANGS_S))
    return server


def finished(job: Job) -> bool:
    return job["state"] in {"idle", "stopped", "completed", "failed"}


def running(server: ScriptedServer) -> Callable[[Job], bool]:
    """Whether the job has come as far as the server lets it."""
    return lambda job: job["state"] == "running" and len(server.posts(ROUTE)) >= 2


def until(openmind, holds: Callable[[Job], bool]) -> Job:
    """Wait for a state of the job."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds(job := openmind.done("index", "status", "--json").object):
        assert time.monotonic() < deadline, job
        time.sleep(0.1)
    return job


def state_in_catalog(openmind) -> str:
    """The state of the job, without a command's start."""
    import sqlite3

    with sqlite3.connect(f"{(openmind.home / 'openmind.sqlite').as_uri()}?mode=ro", uri=True) as catalog:
        (state,) = catalog.execute("SELECT status FROM index_jobs ORDER BY rowid DESC").fetchone()
    catalog.close()
    return state


def until_in_catalog(openmind, state: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while state_in_catalog(openmind) != state:
        assert time.monotonic() < deadline, state
        time.sleep(0.02)


def test_a_job_is_paused_resumed_killed_and_started_again(openmind, hanging, tmp_path: Path) -> None:
    started = openmind.done("index", "start", "--json").object
    job = until(openmind, running(hanging))
    assert job["job_id"] == started["job_id"]
    assert (job["processed_files"], job["total_files"]) == (0, FILES)  # nothing is kept yet
    assert openmind.done("index", "start", "--json").object["job_id"] == started["job_id"]
    openmind("index").refused(1, str(job["pid"]), started["job_id"])
    openmind("source", "remove", str(tmp_path / "notes")).refused(1, "background")
    assert openmind.done("status", "--json").object["indexing_state"] == "running"

    openmind.done("index", "pause")
    until_in_catalog(openmind, "paused")  # the call that hangs is abandoned
    paused = until(openmind, lambda job: job["processed_files"] == FILES)  # what was read is found by its words
    assert paused["state"] == "paused"
    searched = openmind.done("search", "harbours")
    assert "harbours" in searched.out
    assert f"Indexing is paused ({FILES} of {FILES} files)" in searched.err
    asked = len(hanging.posts(ROUTE))
    time.sleep(1.0)
    assert len(hanging.posts(ROUTE)) == asked

    openmind.done("index", "resume")
    until_in_catalog(openmind, "running")

    os.kill(job["pid"], signal.SIGKILL)
    dead = openmind.done("index", "status", "--once")
    assert "failed" in dead.out
    assert "ended without a word" in dead.out
    assert openmind.done("status", "--json").object["indexing_state"] == "idle"

    hanging.always(ROUTE, None)
    again = openmind.done("index", "start", "--json").object
    done = until(openmind, finished)
    assert (done["job_id"], done["state"], done["progress"]) == (again["job_id"], "completed", 100)
    assert done["already_indexed_files"] == FILES
    assert openmind.done("status", "--json").object["missing_vectors"] == 0
    history = openmind.done("index", "history", "--json").object["runs"]
    assert [run["state"] for run in history] == ["completed", "failed"]
    log = openmind.home / "logs" / f"index-{again['job_id']}.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert "harbours" not in log.read_text()


def test_a_job_outlives_the_terminal_and_stops_within_a_moment(openmind, hanging) -> None:
    pexpect = pytest.importorskip("pexpect")
    shell = pexpect.spawn(
        sys.executable, ["-m", "openmind_cli", "index", "start"], env=openmind.environment(), encoding="utf-8"
    )
    shell.expect(pexpect.EOF, timeout=PATIENCE_S)
    shell.close(force=True)  # hangs up
    until(openmind, running(hanging))

    openmind.done("index", "stop")

    until_in_catalog(openmind, "stopped")
    # All were read and wait for their vectors; what the store does not take within a moment is left to the next start.
    assert openmind.done("status", "--json").object["indexed_files"] in {0, FILES}
    hanging.always(ROUTE, None)
    openmind.done("index", "start")
    done = until(openmind, finished)
    assert (done["state"], done["indexed_files"] + done["already_indexed_files"]) == ("completed", FILES)


def test_a_lost_server_pauses_the_job_which_goes_on_when_it_is_back(openmind, server) -> None:
    server.stop()

    openmind.done("index", "start")
    paused = until(openmind, lambda job: job["state"] == "paused")
    assert "does not answer" in paused["error"]
    assert paused["processed_files"] == FILES
    assert "reason" in openmind.done("index", "status").out

    server.start()
    done = until(openmind, finished)
    assert (done["state"], done["error"]) == ("completed", None)
    assert openmind.done("status", "--json").object["missing_vectors"] == 0


def test_a_worker_that_is_told_to_end_says_so_in_its_job(openmind, hanging) -> None:
    openmind.done("index", "start")
    job = until(openmind, running(hanging))

    os.kill(job["pid"], signal.SIGTERM)

    assert "told to end" in until(openmind, finished)["error"]


def test_twenty_starts_at_once_make_one_worker(openmind, hanging) -> None:
    command = [sys.executable, "-m", "openmind_cli", "index", "start", "--json"]
    starts = [
        subprocess.Popen(command, env=openmind.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(20)
    ]
    told = [start.communicate(timeout=PATIENCE_S) for start in starts]

    assert [start.returncode for start in starts] == [0] * 20, told
    assert len(list((openmind.home / "logs").glob("index-*.log"))) == 1


def test_the_live_table_follows_a_job_until_it_ends(openmind, hanging) -> None:
    pexpect = pytest.importorskip("pexpect")
    openmind.done("index", "start")
    until(openmind, running(hanging))
    watch = pexpect.spawn(
        sys.executable,
        ["-m", "openmind_cli", "index", "status"],
        env=openmind.environment({"TERM": "xterm-256color"}),
        dimensions=(40, 100),
        encoding="utf-8",
        timeout=PATIENCE_S,
    )
    watch.expect("it goes on")

    openmind.done("index", "stop")

    watch.expect("Indexing has ended")
    watch.expect(pexpect.EOF)
    watch.close()
    assert watch.exitstatus == 0


def test_ctrl_c_leaves_the_live_table_and_nothing_else(openmind, hanging) -> None:
    pexpect = pytest.importorskip("pexpect")
    openmind.done("index", "start")
    until(openmind, running(hanging))
    watch = pexpect.spawn(
        sys.executable,
        ["-m", "openmind_cli", "index", "status"],
        env=openmind.environment({"TERM": "xterm-256color"}),
        dimensions=(40, 100),
        encoding="utf-8",
        timeout=PATIENCE_S,
    )
    watch.expect("total files")

    watch.sendintr()

    watch.expect(pexpect.EOF)
    watch.close()
    assert watch.exitstatus == 0
    assert "Interrupted" not in watch.before
    assert state_in_catalog(openmind) == "running"
    openmind.done("index", "stop")


def test_what_cannot_be_is_told(openmind) -> None:
    openmind("index", "status").refused(1, "source add")
    openmind.done("init")

    openmind("index", "start").refused(1, "source add")
    openmind("index", "pause").refused(1, "no indexing job", "index start")
    assert openmind("index", "worker", "--job-id", "job_000000000000").code == 1
    assert openmind.done("index", "status").out == "state            idle: nothing was indexed yet\n"
    assert openmind.done("index", "history").out == ""
