"""What the standard streams are."""

import io
import subprocess
import sys
from pathlib import Path

from openmind_cli.terminal import same_eyes


def test_outputs_that_lead_to_one_place_are_read_by_the_same_eyes(tmp_path: Path) -> None:
    with (
        (tmp_path / "all.txt").open("w") as out,
        (tmp_path / "all.txt").open("w") as same,
        (tmp_path / "errors.txt").open("w") as other,
    ):
        assert same_eyes(out, same)
        assert not same_eyes(out, other)
        assert not same_eyes(out, io.StringIO())


NOISY = """
import os, subprocess, sys
from openmind_cli.terminal import keep_output_apart, prepare_streams

prepare_streams()
print("first")
keep_output_apart()
os.write(1, b"written\\n")
subprocess.run([sys.executable, "-S", "-c", "print('started')"], check=True)
print("last")
"""


def test_what_goes_round_python_never_gets_between_the_lines_of_our_output() -> None:
    ran = subprocess.run([sys.executable, "-c", NOISY], capture_output=True, text=True, check=True)

    assert ran.stdout.splitlines() == ["first", "last"]
    assert ran.stderr.splitlines() == ["written", "started"]


def test_closed_streams_keep_nothing_from_being_apart() -> None:
    ran = subprocess.run(
        ["/bin/sh", "-c", '"$0" -c "$1" >&- 2>&-', sys.executable, NOISY], capture_output=True, check=True
    )

    assert (ran.stdout, ran.stderr) == (b"", b"")
