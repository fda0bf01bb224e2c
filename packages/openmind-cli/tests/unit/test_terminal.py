"""What the standard streams are."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from openmind_cli.terminal import LastingTerminal, keep_output_apart, prepare_streams, same_eyes

RealTerminal = Callable[[], AbstractContextManager[int]]


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
from openmind_cli.terminal import LastingTerminal, keep_output_apart, prepare_streams

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


@pytest.mark.parametrize("prepare_further", [lambda: None, keep_output_apart])
def test_a_terminal_that_was_closed_takes_everything(
    real_terminal: RealTerminal, prepare_further: Callable[[], None]
) -> None:
    with real_terminal() as reader:
        prepare_streams()
        prepare_further()
        with sys.stdout:
            print("seen")
            shown = os.read(reader, 100)
            os.close(reader)

            print("lost")
            print("lost as well", file=sys.stderr)

    assert shown.strip() == b"seen"


def test_any_other_failure_to_write_is_told() -> None:
    unread, pipe = os.pipe()
    os.close(unread)

    with LastingTerminal(pipe, "w") as closed, pytest.raises(BrokenPipeError):
        closed.write(b"x")
