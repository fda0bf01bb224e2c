"""The background worker: `python -m openmind.worker --job-id ID` carries out one job and ends.

What it prints goes to the log of its job. Text of documents is never among it.
"""

import argparse
import faulthandler
import os
import signal
import sys
import threading
import traceback
from types import FrameType
from typing import TextIO

from openmind.bootstrap import open_worker
from openmind.domain.errors import OpenMindError
from openmind.domain.ids import JobId
from openmind.domain.jobs import STUCK_S


def main(argv: list[str] | None = None) -> int:
    """Carry out a job; 0 when it ended as it should, 1 when it failed."""
    parser = argparse.ArgumentParser(prog="python -m openmind.worker", description=__doc__)
    parser.add_argument("--job-id", required=True)
    return carry_out(JobId(parser.parse_args(argv).job_id))


def carry_out(job_id: JobId) -> int:
    """Carry out a job of the home that `$OPENMIND_HOME` names, in this process."""
    os.umask(0o077)
    _end_on_signals()
    try:
        with open_worker(beaten=_watch) as worker:
            state = worker.carry_out(job_id)
    except OpenMindError as error:
        _say(f"{error.message}. {error.hint}", sys.stderr)
        return 1
    except KeyboardInterrupt:
        _say("it was told to end", sys.stderr)
        return 1
    except Exception as error:  # noqa: BLE001  the log is all that is left of this process
        _tell(error)
        return 1
    finally:
        faulthandler.cancel_dump_traceback_later()
    _say(f"{job_id}: {state}", sys.stdout)
    return 0


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
