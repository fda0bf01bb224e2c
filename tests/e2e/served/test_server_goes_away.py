"""A model server that stops while files are read: nothing is lost, and everybody is told."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lmstudio_server import steps

pytestmark = pytest.mark.e2e

EMBED = "/v1/embeddings"
FILES = 60


@pytest.fixture
def many(configured, person: Path) -> None:
    """Files that came after the last run."""
    for number in range(FILES):
        (person / "Documents" / f"{number}.md").write_text(f"# Note {number}\n\n" + f"Sentence {number} again. " * 150)


@pytest.mark.usefixtures("many")
def test_a_job_waits_for_its_server_and_goes_on(configured, server, until: Callable[..., dict[str, object]]) -> None:
    server.always(EMBED, steps.stall(600))
    configured.done("index", "start")
    server.wait_for(EMBED)

    server.stop()

    waiting = until("paused")
    assert "does not answer" in str(waiting["error"])
    assert "59.md" in configured.done("search", "sentence 59").out

    server.always(EMBED, None)
    server.start()
    done = until("completed")
    assert done["error"] is None
    assert configured.done("status", "--json").object["missing_vectors"] == 0
    assert not configured.done("search", "sentence 59", "--json").object["degraded"]


@pytest.mark.usefixtures("many")
def test_a_run_in_the_foreground_ends_and_the_next_one_completes_it(configured, server) -> None:
    server.stop()

    told = configured("index")

    assert told.code == 1
    assert "does not answer" in told.out + told.err
    assert "Stopped early" in told.out
    assert "Done" not in told.out
    ended = configured.done("index", "status", "--json").object
    assert (ended["state"], ended["job_id"]) == ("completed", None)
    assert "does not answer" in str(ended["error"])
    assert "59.md" in configured.done("search", "sentence 59").out
    server.start()
    configured.done("index")
    assert configured.done("status", "--json").object["missing_vectors"] == 0
