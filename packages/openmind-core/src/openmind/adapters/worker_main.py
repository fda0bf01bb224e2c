"""What a worker process runs: it is told a target, then answers requests until its standard input ends."""

import importlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import BinaryIO, cast

from attrs import frozen

from openmind.adapters.framing import Frame, FrameKind, encode, read_frame
from openmind.domain.foreign_errors import words_of

Reply = tuple[Mapping[str, object], bytes]


@frozen
class Request:
    """What a handler is asked."""

    message: Mapping[str, object]
    payload: bytes
    slow: Callable[[], None]
    """To be called before something that is slow by nature: the request's other limits hold from then on."""
    tell: Callable[[Mapping[str, object]], None]
    """Sends a part at once, from the midst of what makes the next one."""
    retire: Callable[[], None] = lambda: None
    """To be called when this process shall answer nothing after this request: a fresh one does it then."""


class Exhausted(BaseException):
    """This process has no handles left, whatever took them: a fresh one is to have a try."""


Handler = Callable[[Request], Iterable[Reply]]
"""Answers one request with any number of parts; each is sent at once."""
Target = Callable[[Mapping[str, object]], Handler]
"""Makes the handler from the setup; called once."""

NOTHING: Mapping[str, object] = {}
_MAX_REQUEST = 1 << 30
_PARENT_CHECK_S = 0.5


def main() -> None:
    """Serve; the one argument is the process that started this one."""
    serving = os.getpid()
    _die_with(int(sys.argv[1]))
    requests, replies = _take_over_streams()
    try:
        handler = _set_up(_next(requests))
        _send(replies, FrameKind.READY)
        while (frame := _next(requests)) is not None:
            is_retired = _answer(frame, handler, replies)
            if is_retired or os.getpid() != serving:  # a copy may hold requests that were read ahead
                break
    except BrokenPipeError:
        pass
    except BaseException as error:  # noqa: BLE001  the edge of a disposable process: whatever it was, it is told
        _send(replies, FrameKind.FAILED, {"error": type(error).__name__, "detail": words_of(error)})
    # Not `sys.exit`: what libraries do at exit may hang, and there is nothing to save.
    os._exit(0)


def _answer(frame: Frame, handler: Handler, replies: BinaryIO) -> bool:
    """Answer a request, and return whether it was the last one."""
    cpu_s, slow_cpu_s = cast(list[int], frame.message["cpu_s"])
    is_slow = is_retired = False

    def slow() -> None:
        nonlocal is_slow
        is_slow = True
        _limit_cpu(slow_cpu_s)
        _send(replies, FrameKind.SLOW)

    def retire() -> None:
        nonlocal is_retired
        is_retired = True

    def part(message: Mapping[str, object], payload: bytes = b"") -> None:
        _send(replies, FrameKind.PART, message, payload)
        if is_slow:
            _limit_cpu(slow_cpu_s)

    _limit_cpu(cpu_s)
    request = Request(cast(dict[str, object], frame.message["body"]), frame.payload, slow, part, retire)
    for message, payload in handler(request):
        part(message, payload)
    _send(replies, FrameKind.END, {"retired": is_retired})
    return is_retired


def _next(requests: BinaryIO) -> Frame | None:
    read = read_frame(requests, max_bytes=_MAX_REQUEST)
    return read[0] if read else None


def _send(replies: BinaryIO, kind: FrameKind, message: Mapping[str, object] = NOTHING, payload: bytes = b"") -> None:
    replies.write(encode(kind, message, payload))
    replies.flush()


def _set_up(setup: Frame | None) -> Handler:
    if setup is None:
        os._exit(0)
    address_space = cast(int, setup.message.get("address_space", 0))
    _limit_process(address_space)
    module, _, name = str(setup.message["target"]).partition(":")
    target = cast(Target, getattr(importlib.import_module(module), name))
    return target(cast(Mapping[str, object], setup.message["setup"]))


def _take_over_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep the pipes to ourselves: what libraries print goes to the log, what they read is empty."""
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _let_go(requests, replies))
    return os.fdopen(requests, "rb"), os.fdopen(replies, "wb")


def _let_go(*pipes: int) -> None:
    """Keep a copy of this process, which some library forks, from answering in its place.

    What it sends goes nowhere, and there is no next request, so that one that comes back to us ends.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in pipes:
        os.dup2(nothing, pipe, inheritable=False)
    os.close(nothing)


def _die_with(parent: int) -> None:
    """End when the parent ends, also in the middle of native code."""
    if hasattr(signal, "SIGINT"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    else:
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    if os.getppid() != parent:
        os._exit(0)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_S)
    os._exit(0)


def _limit_process(address_space: int) -> None:
    os.umask(0o077)
    if sys.platform != "win32":
        import resource

        _lower(resource.RLIMIT_CORE, 0)  # a core dump would leave people's text on the disk
        if address_space:
            _lower(resource.RLIMIT_AS, address_space)


def _limit_cpu(seconds: int) -> None:
    """Let the kernel end this process when a request takes more processor time than that."""
    if sys.platform != "win32":
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        _lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + seconds + 1)


def _lower(limit: int, value: int) -> None:
    """Set the soft limit only, so that the next request may set a higher one."""
    import resource

    _, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
