"""Opens files in the application that the system has for them."""

import os
import subprocess
import sys
import threading
from pathlib import Path

from openmind.domain.errors import NoOpener


def open_path(path: Path) -> None:
    """Hand a file to the desktop; never through a shell.

    Raises:
        NoOpener: this machine has nothing that opens files.
    """
    try:
        if sys.platform == "win32":
            os.startfile(path)
            return
        program = "/usr/bin/open" if sys.platform == "darwin" else "xdg-open"
        process = subprocess.Popen(
            [program, str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        # Somebody has to take note of its end, else a server would keep it as a zombie.
        threading.Thread(target=process.wait, daemon=True, name="openmind-opener").start()
    except OSError as error:
        raise NoOpener(
            "This machine has no program that opens files",
            hint="Open the file yourself; on Linux, the package xdg-utils brings such a program.",
        ) from error
