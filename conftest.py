"""What every test of the workspace leaves as it found it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Whoever runs the suite sees what everybody saw; `--hypothesis-profile=default` looks for new counter-examples.
# What a slow machine takes for an example says nothing.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")


def pytest_configure() -> None:
    """Take the signals again that a shell or `nohup` left out, as for commands in the background."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def what_belongs_to_the_process() -> Iterator[None]:
    """Put back the umask and the folder, which commands run in this process may change: any test may be the next."""
    mask = os.umask(0o022)
    os.umask(mask)
    folder = Path.cwd()
    yield
    os.umask(mask)
    os.chdir(folder)


@pytest.fixture
def tests_of(tmp_path: Path) -> Callable[[Path], subprocess.CompletedProcess[str]]:
    """Run the tests of a folder, as somebody does who has just written them."""
    # A folder of its own: pytest closes the common one to others, and tests beside this one act as another user.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command.append(f"--basetemp={tmp_path / 'temp'}")
    return lambda folder: subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
