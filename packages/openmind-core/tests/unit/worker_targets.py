"""What the worker processes of these tests run: each request names one way to behave."""

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from openmind.adapters.worker_main import Handler, Reply, Request


def obedient(setup: Mapping[str, object]) -> Handler:
    def handle(request: Request) -> Iterator[Reply]:
        return WAYS[str(request.message["do"])](request, setup)

    return handle


def late(setup: Mapping[str, object]) -> Handler:
    """Be ready when there is a file."""
    while not Path(str(setup["until"])).exists():
        time.sleep(0.01)
    return obedient(setup)


def hanging_setup(setup: Mapping[str, object]) -> Handler:
    """Say why, and hang."""
    sys.stderr.write("the plugin “acme” is waited for\n")
    sys.stderr.flush()
    time.sleep(3_600)
    raise AssertionError("nobody ended this process")


def broken_setup(setup: Mapping[str, object]) -> Handler:
    raise RuntimeError("no such thing here")


def _echo(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    yield dict(request.message), request.payload


def _say_setup(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    yield {"pid": os.getpid(), "setup": setup, "environment": dict(os.environ), "folder": str(Path.cwd())}, b""


def _abort(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    yield {"page": 1}, b""
    yield {"page": 2}, b""
    os.abort()


def _loop(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    yield {"pid": os.getpid()}, b""
    while True:
        pass


def _sleep(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    time.sleep(float(str(request.message["seconds"])))
    yield {"slept": True}, b""


def _meet(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    """Wait until so many workers are there."""
    folder = Path(str(request.message["folder"]))
    (folder / f"{os.getpid()}").touch()
    while len(list(folder.iterdir())) < int(str(request.message["number"])):
        time.sleep(0.01)
    yield {}, b""


def _swell(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    held = b"x" * 300_000_000
    time.sleep(600)  # until somebody looks on
    yield {"held": len(held)}, b""


def _allocate(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    yield {"bytes": len(bytearray(int(str(request.message["bytes"]))))}, b""


def _flood(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    while True:
        yield {"text": "x" * 1_000_000}, b""


def _crumbs(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    while True:
        yield {}, b""


def _chatter(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    while True:
        os.write(2, b"blah\n" * 20_000)
        yield {}, b""


def _print(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    print("printed by a library")
    sys.stdout.flush()
    os.write(1, b"written by native code\n")
    yield {"read": sys.stdin.read()}, b""


def _garbage(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    os.write(_reply_pipe(), b"hello, this is not a frame, it is only text")
    time.sleep(30)
    yield {}, b""


def _half_a_frame(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    yield {"page": 1}, b""
    os.write(_reply_pipe(), b"P\x00\x00\x03\xe8\x00\x00\x00\x00{")
    os._exit(0)


def _last_words(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    print("first line\nlibfoo: bad page", file=sys.stderr, flush=True)
    os._exit(3)
    yield {}, b""


def _raise(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    yield {"page": 1}, b""
    raise LookupError("what is this?")


def _run_out(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    raise MemoryError
    yield {}, b""


def _ocr(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    request.slow()
    for page in range(int(str(request.message["pages"]))):
        while not Path(str(request.message["until"])).exists():
            time.sleep(0.01)
        yield {"page": page}, b""


def _leave_a_child(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    pid = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "600")
    yield {"pid": pid}, b""
    time.sleep(600)


def _fork(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    """Let a copy come back to what called this, as an extractor does that forgets to end its child."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    yield {"is_copy": child == 0}, b""


def _terminate(request: Request, setup: Mapping[str, object]) -> Iterator[Reply]:
    os.kill(os.getpid(), signal.SIGTERM)
    yield {}, b""


def _reply_pipe() -> int:
    """Find the pipe that `worker_main` keeps for itself, as wild native code might."""
    return max(fd for fd in range(3, 20) if _is_writable_pipe(fd))


def _is_writable_pipe(fd: int) -> bool:
    try:
        return os.write(fd, b"") == 0
    except OSError:
        return False


WAYS = {
    "echo": _echo,
    "say setup": _say_setup,
    "abort": _abort,
    "loop": _loop,
    "sleep": _sleep,
    "meet": _meet,
    "swell": _swell,
    "allocate": _allocate,
    "flood": _flood,
    "crumbs": _crumbs,
    "chatter": _chatter,
    "print": _print,
    "garbage": _garbage,
    "half a frame": _half_a_frame,
    "last words": _last_words,
    "raise": _raise,
    "run out": _run_out,
    "ocr": _ocr,
    "leave a child": _leave_a_child,
    "fork": _fork,
    "terminate": _terminate,
}
