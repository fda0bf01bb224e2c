"""The C library's heap: a server that lives for weeks keeps no more of it than it needs.

Each thread that allocates gets an arena of its own, up to eight for each core, and what was freed in one stays there.
Searches run in many short-lived threads of the index's engine, so that this would be most of what the server holds.
"""

import ctypes
import sys

M_ARENA_MAX = -8
ARENAS = 2


def bound_arenas() -> None:
    """Let threads share arenas. To be called before any is started; does nothing where the C library is another one."""
    library = _glibc()
    if library is not None:
        library.mallopt(M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Give what is free back to the system; takes milliseconds."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") else None  # musl has none
