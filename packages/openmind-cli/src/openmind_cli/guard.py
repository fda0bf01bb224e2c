"""The one place where failures become a sentence, a next step and an exit code."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from openmind.domain.errors import OpenMindError

from openmind_cli import exit_codes
from openmind_cli.dispatch import dispatch


def guarded(arguments: list[str], run: Callable[[list[str]], int] = dispatch) -> int:
    """Run the command that the arguments name; nothing is raised, whatever happens in it."""
    try:
        code = run(arguments)
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001  a process main: no one is owed a traceback
        return _failed(error, as_json=wants_json(arguments))
    return code


def wants_json(arguments: list[str]) -> bool:
    """Whether `--json` was given, also when the rest of the arguments makes no sense."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _failed(error: BaseException, *, as_json: bool) -> int:
    """Tell what happened; the answer is the exit code."""
    # Not at the top: what is good needs no words for what is not.
    from openmind_cli import failures

    lost = _lost_output() if isinstance(error, OSError) else None
    if isinstance(lost, BrokenPipeError):
        return exit_codes.OK  # whoever read the output, as `head` does, has enough
    try:
        if lost is not None:
            failures.tell(failures.unwritten(lost), as_json=False)  # an object on standard output would be lost, too
        else:
            failures.tell(failures.failure_object(error), as_json=as_json)
    except OSError:
        _lost_output()
    if isinstance(error, KeyboardInterrupt):
        return exit_codes.INTERRUPTED
    return exit_codes.exit_code_of(type(error)) if isinstance(error, OpenMindError) else exit_codes.FAILED


def _lost_output() -> OSError | None:
    """What keeps a standard stream from being written, if anything does; nothing more is written to it then."""
    for stream in (sys.stdout, sys.stderr):
        try:
            # A flush is not enough: unbuffered, what could not be written is forgotten already. The price is an empty
            # line before the report of a bug that has to do with the system.
            stream.write("\n")
            stream.flush()
        except OSError as error:
            with Path(os.devnull).open("wb") as nowhere:
                # Python flushes once more at exit, and would complain then.
                os.dup2(nowhere.fileno(), stream.fileno())
            return error
    return None
