"""Starts worker processes: never by forking, with nothing of ours but what they need."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO, cast

from openmind.application.lookout import BLOCKED_VARIABLE

PIPE_BYTES = 1 << 20
"""How far a worker's replies can be ahead of us, where the system lets us say so."""

_KEPT_VARIABLES = {
    "PATH",
    "LANG",
    "TZ",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "TESSDATA_PREFIX",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    BLOCKED_VARIABLE,
}
_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "RAYON_NUM_THREADS",
)
_START = "import sys; sys.path[:] = sys.argv[2:]; from openmind.adapters.worker_main import main; main()"


def spawn(folder: Path, log: BinaryIO) -> subprocess.Popen[bytes]:
    """Start a process that runs `worker_main`, in a group of its own.

    Args:
        folder: its working folder, its home, and where it puts temporary files.
        log: where its messages go.

    Raises:
        OSError: it cannot be started.
    """
    search_path = [entry for entry in sys.path if entry]
    process = subprocess.Popen(
        [sys.executable, "-I", "-X", "utf8", "-c", _START, str(os.getpid()), *search_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        bufsize=1 << 16,
        cwd=folder,
        env=environment(folder),
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    _widen(cast(BinaryIO, process.stdout))
    return process


def environment(folder: Path) -> dict[str, str]:
    """Build the environment from what is known to be harmless: no token, no way to a home, one thread each."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT_VARIABLES or name.startswith("LC_")}
    own = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), str(folder))
    return {**kept, **own, **dict.fromkeys(_ONE_THREAD, "1"), "TOKENIZERS_PARALLELISM": "false"}


def _widen(pipe: BinaryIO) -> None:
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):  # the account may have used up its share of wide pipes
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
