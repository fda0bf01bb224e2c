"""Processes are named beyond doubt, and only the one that is meant is ended."""

import subprocess
import sys

import attrs
from openmind.adapters.processes import end_process, is_alive, mark_of, this_process


def test_only_the_process_that_is_meant_is_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        mark = mark_of(process.pid)

        end_process(attrs.evolve(mark, started_at=mark.started_at - 100))  # one that had the number before
        assert is_alive(mark)

        end_process(mark)
        assert process.wait() != 0

    assert not is_alive(mark)
    end_process(mark)


def test_a_process_does_not_end_itself() -> None:
    end_process(this_process())  # else there is nobody left to tell
