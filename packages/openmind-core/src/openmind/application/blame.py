"""Runs the code of strangers: whatever it raises names whose it is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from openmind.application.prints import prints_apart
from openmind.domain.errors import OpenMindError
from openmind.domain.foreign_errors import named


@contextmanager
def blamed(
    whom: str, broken: Callable[[str], OpenMindError], *, what: str = "it", own: BaseException | None = None
) -> Iterator[None]:
    """Let OpenMind's own errors and `own` pass, name who was waited for at a bare Ctrl-C, translate any other error.

    What is printed meanwhile goes to standard error.

    Args:
        whom: whose code it is, as a part of a sentence.
        broken: makes the error that is raised from what was told, such as `it raised KeyError`.
        what: the part of it that is run.
        own: an error of the caller's that passes through.
    """
    try:
        with prints_apart():
            yield
    except OpenMindError:
        raise
    except KeyboardInterrupt as interrupt:
        if interrupt is own or interrupt.args:  # it says already who was waited for
            raise
        raise KeyboardInterrupt(f"Interrupted while {whom} was waited for") from interrupt
    except BaseException as error:  # what is written in Rust panics beside `Exception`
        if error is own:
            raise
        raise broken(f"{what} raised {named(error)}") from error
