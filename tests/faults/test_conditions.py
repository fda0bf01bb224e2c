"""A memory lives through bad conditions: each is said, nothing is lost, and the next run goes on."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs a system that can fork")


@pytest.fixture(scope="module")
def violations() -> dict[str, list[str]]:
    """What went wrong, by condition; one world goes through all, which costs a second each."""
    command = [sys.executable, str(Path(__file__).with_name("conditions.py"))]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1_800, check=False)
    assert ran.stdout, ran.stderr[-2000:]
    found = json.loads(ran.stdout.splitlines()[-1])
    assert isinstance(found, dict)
    return found


@pytest.mark.timeout(1_900)
@pytest.mark.parametrize(
    "condition",
    [
        "a_full_disk",
        "a_home_that_may_not_be_written",
        "twenty_runs_at_once",
        "a_catalog_that_another_program_locks",
        "a_folder_that_goes_between_runs",
        "a_folder_that_goes_during_a_run",
        "reader",
    ],
)
def test_nothing_goes_wrong_under(violations: dict[str, list[str]], condition: str) -> None:
    assert violations[condition] == []
