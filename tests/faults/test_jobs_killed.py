"""Workers of background jobs are killed at any moment; the long run is `benchmarks/kill.py --jobs`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a system that can fork")
KILL = Path(__file__).parents[2] / "benchmarks" / "kill.py"


@pytest.mark.timeout(1_900)
def test_a_worker_that_is_killed_at_any_moment_loses_nothing_and_its_job_says_so() -> None:
    limits = ("--kills", "3", "--seconds", "40", "--seed", "17")
    command = [sys.executable, str(KILL), "--json", "--jobs", "--no-steps", *limits]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1_800, check=False)
    assert ran.stdout, ran.stderr[-2000:]
    found = json.loads(ran.stdout.splitlines()[-1])

    assert found["violations"] == []
    assert found["kills"] > 0
    assert found["searches"] > 0
