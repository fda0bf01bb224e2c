"""The background worker: `python -m openmind.worker --job-id ID` carries out one job and ends.

What it prints goes to the log of its job. Text of documents is never among it. With `--sweep` it takes off the disk
what removed sources left there.
"""

import argparse
import faulthandler
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TextIO

from openmind.adapters.subprocess_launcher import FOR_A_PERSON
from openmind.bootstrap import open_memory, open_worker
from openmind.domain.errors import OpenMindError
from openmind.domain.foreign_errors import words_of
from openmind.domain.ids import JobId
from openmind.domain.jobs import STUCK_S
from openmind.domain.sentences import as_sentence


def main(argv: list[str] | None = None) -> int:
    """Carry out a job, or sweep; 0 when it ended as it should, 1 when it failed."""
    parser = argparse.ArgumentParser(prog="python -m openmind.worker", description=__doc__)
    work = parser.add_mutually_exclusive_group(required=True)
    work.add_argument("--job-id")
    work.add_argument("--sweep", action="store_true")
    asked = parser.parse_args(argv)
    return sweep() if asked.sweep else carry_out(JobId(asked.job_id))


def carry_out(job_id: JobId) -> int:
    """Carry out a job of the home that `$OPENMIND_HOME` names, in this process."""

    def work() -> None:
        with open_worker(beaten=_watch, leave=_leave) as worker:
            _say(f"{job_id}: {worker.carry_out(job_id)}", sys.stdout)

    return _do(work)


def sweep() -> int:
    """Take off the disk what removed sources left in the home that `$OPENMIND_HOME` names."""

    def work() -> None:
        with open_memory(create=False) as memory:
            memory.sources.sweep()

    return _do(work)


def _do(work: Callable[[], None]) -> int:
    os.umask(0o077)
    _end_on_signals()
    try:
        with _told_to_a_person():
            work()
    except OpenMindError as error:
        _say(f"{FOR_A_PERSON}{as_sentence(error.message)} {error.hint}", sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        _say(f"{FOR_A_PERSON}{words_of(interrupt) or 'it was told to end'}", sys.stderr)
        return 1
    except Exception as error:  # noqa: BLE001  the log is all that is left of this process
        _tell(error)
        return 1
    finally:
        faulthandler.cancel_dump_traceback_later()
    return 0


@contextmanager
def _told_to_a_person() -> Iterator[None]:
    """Let what OpenMind logs, such as that a plugin hangs, stand in the log of the job as a sentence for a person."""
    logger, handler = logging.getLogger("openmind"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter(f"{FOR_A_PERSON}%(message)s"))
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _end_on_signals() -> None:
    """Let a polite request to end be noted in the job before it is obeyed."""

    def end(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), end)


def _watch() -> None:
    """Write down where the process hangs when it gives no sign of life for long: lines of code, nothing of a file."""
    faulthandler.dump_traceback_later(STUCK_S, file=sys.stderr)


def _leave() -> None:
    """End without waiting for the store, which may be at work for seconds; the next run takes it for a kill."""
    _say("it was stopped while passages were being written; the next start reads those files again", sys.stdout)
    logging.shutdown()
    os._exit(0)


def _tell(error: BaseException) -> None:
    """Write down where an error came from; its message may quote a document and stays unsaid."""
    for frame in traceback.extract_tb(error.__traceback__):
        _say(f"  {frame.filename}:{frame.lineno} {frame.name}", sys.stderr)
    _say(f"{type(error).__module__}.{type(error).__qualname__}", sys.stderr)


def _say(text: str, stream: TextIO) -> None:
    stream.write(f"{text}\n")
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
