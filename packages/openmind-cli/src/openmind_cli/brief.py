"""How the process of a command begins and ends that asks the memory one thing: without what only pays off later.

Of the CPU that `openmind search` takes from cold, a quarter would go to looking for rubbish among the modules that are
being imported, to threads for matrices that nobody multiplies, and to taking everything apart at the end, piece by
piece, of which the system frees the memory at once.
"""

import atexit
import gc
import os
import sys
import threading

BRIEF = frozenset({"search"})
"""The commands that write nothing, start nothing and soon end."""


def begin() -> None:
    """Spare this process, before numpy is imported, what only a longer life pays off."""
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def end(code: int) -> None:
    """End the process, with everything done that was asked for at its end; return where a thread still works."""
    if threading.active_count() > 1:
        return
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except OSError:  # Python says so in its own way
        return
    os._exit(code)
