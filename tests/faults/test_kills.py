"""Runs are killed at every step of the storage protocol, and at any moment; the long run is `benchmarks/kill.py`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a system that can fork")
KILL = Path(__file__).parents[2] / "benchmarks" / "kill.py"


def killed(*arguments: str) -> dict[str, object]:
    """What the harness tells; it runs in a process of its own, since it forks."""
    command = [sys.executable, str(KILL), "--json", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1_800, check=False)
    assert ran.stdout, ran.stderr[-2000:]
    found = json.loads(ran.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found


@pytest.mark.timeout(1_900)
def test_a_kill_at_any_step_loses_nothing_and_shows_nothing_half_done() -> None:
    found = killed("--kills", "0", "--seed", "11")

    assert found["violations"] == []
    assert found["steps"] >= 15
    assert found["kills"] == found["steps"]
    assert found["searches"] > 0
    assert found["removed_words"] > 0


@pytest.mark.timeout(1_900)
def test_a_kill_at_any_moment_also_while_recovering_loses_nothing() -> None:
    found = killed("--kills", "4", "--seconds", "40", "--no-steps", "--seed", "12")

    assert found["violations"] == []
    assert found["kills"] > 0
