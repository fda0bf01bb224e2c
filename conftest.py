"""What every test of the workspace leaves as it found it."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Whoever runs the suite sees what everybody saw; `--hypothesis-profile=default` looks for new counter-examples.
settings.register_profile("same", derandomize=True)
settings.load_profile("same")


def pytest_configure() -> None:
    """Take Ctrl-C again where a shell left it out, as for commands in the background: children would never get it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def what_belongs_to_the_process() -> Iterator[None]:
    """Put back the umask and the folder, which commands run in this process may change: any test may be the next."""
    mask = os.umask(0o022)
    os.umask(mask)
    folder = Path.cwd()
    yield
    os.umask(mask)
    os.chdir(folder)
