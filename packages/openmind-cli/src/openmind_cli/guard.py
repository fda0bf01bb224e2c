"""The one place where failures become a sentence, a next step and an exit code."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from openmind.domain.contract import Object, error_object, problem
from openmind.domain.errors import OpenMindError

from openmind_cli import exit_codes
from openmind_cli.dispatch import dispatch
from openmind_cli.render.clean import one_line
from openmind_cli.render.objects import print_object


def guarded(arguments: list[str], run: Callable[[list[str]], int] = dispatch) -> int:
    """Run the command that the arguments name; nothing is raised, whatever happens in it."""
    as_json = wants_json(arguments)
    try:
        code = run(arguments)
        sys.stdout.flush()
    except OpenMindError as error:
        return _told(error_object(error), exit_codes.exit_code_of(type(error)), as_json=as_json)
    except KeyboardInterrupt:
        return _told(_interrupted(), exit_codes.INTERRUPTED, as_json=as_json)
    except Exception as error:  # noqa: BLE001  a process main: a person is owed a sentence, not a traceback
        lost = _lost_output() if isinstance(error, OSError) else None
        if isinstance(lost, BrokenPipeError):
            return exit_codes.OK  # whoever read it, as `head` does, has enough
        return _told(_unwritten(lost) if lost else _bug(error), exit_codes.FAILED, as_json=as_json)
    return code


def wants_json(arguments: list[str]) -> bool:
    """Whether `--json` was given, also when the rest of the arguments makes no sense."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _told(failure: Object, code: int, *, as_json: bool) -> int:
    try:
        if as_json:
            print_object(failure)
        else:
            print(f"openmind: {one_line(str(failure['detail']))}", file=sys.stderr)
            if failure["hint"]:
                print(f"  {one_line(str(failure['hint']))}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        _lost_output()
    return code


def _interrupted() -> Object:
    return problem(
        "Interrupted.",
        code="interrupted",
        title="The command was interrupted",
        status=499,
        hint="What was finished is kept; run the command again to go on.",
    )


def _bug(error: Exception) -> Object:
    # Not at the top: only a failing command needs the log.
    from openmind_cli.crash_log import record_crash

    where = record_crash(error)
    return problem(
        f"This is a bug in OpenMind ({type(error).__name__}).",
        code="internal",
        title="Something went wrong that OpenMind did not foresee",
        status=500,
        hint=f"Details are in {where}." if where else "",
    )


def _unwritten(error: OSError) -> Object:
    return problem(
        f"The output cannot be written: {error.strerror or error}.",
        code="output",
        title="The output cannot be written",
        status=500,
        hint="Check where it goes to.",
    )


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
