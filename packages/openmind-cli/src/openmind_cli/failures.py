"""Words for what went wrong."""

import sys

from openmind.domain.contract import Object
from openmind.domain.errors import OpenMindError, PluginError
from openmind.domain.foreign_errors import words_of
from openmind.domain.problems import error_object, problem

from openmind_cli.crash_log import record_crash
from openmind_cli.render.clean import one_line
from openmind_cli.render.objects import print_object


def tell(failure: Object, *, as_json: bool) -> None:
    """Print an error: the sentence and the next step on standard error, or the error object on standard output."""
    if as_json:
        print_object(failure)
    else:
        print(f"openmind: {one_line(str(failure['detail']))}", file=sys.stderr)
        if failure["hint"]:
            print(f"  {one_line(str(failure['hint']))}", file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()


def failure_object(error: BaseException) -> Object:
    """The error object of anything that can end a command."""
    match error:
        case PluginError(__cause__=BaseException()):
            return _with_log(error_object(error), error)
        case OpenMindError():
            return error_object(error)
        case KeyboardInterrupt():
            return problem(
                words_of(error) or "Interrupted",
                code="interrupted",
                title="The command was interrupted",
                status=499,
            )
        case _:
            return _bug(error)


def unwritten(error: OSError) -> Object:
    """The error object for output that goes nowhere."""
    return problem(
        f"The output cannot be written: {error.strerror or error}",
        code="output",
        title="The output cannot be written",
        status=500,
        hint="Check where it goes to.",
    )


def _bug(error: BaseException) -> Object:
    told = problem(
        f"This is a bug in OpenMind ({type(error).__name__})",
        code="internal",
        title="Something went wrong that OpenMind did not foresee",
        status=500,
    )
    return _with_log(told, error)


def _with_log(told: Object, error: BaseException) -> Object:
    """Note where an error came from, and say where that is noted."""
    where = record_crash(error)
    told["hint"] = " ".join(filter(None, (str(told["hint"]), f"Details are in {where}." if where else "")))
    return told
