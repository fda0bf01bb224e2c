"""Arguments of calls from Python: what a type checker would have refused is refused in words."""

from collections.abc import Iterable
from typing import TypeVar

from openmind.domain.errors import UsageError

T = TypeVar("T")


def text(value: object, name: str) -> str:
    """Take a text.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(value, str):
        raise UsageError(f"{name.capitalize()} must be a text, not {value!r}", hint="Pass a str.")
    return value


def texts(values: object, name: str) -> tuple[str, ...]:
    """Take several texts; a single one is refused, for its characters would be taken for them.

    Raises:
        UsageError: they are none.
    """
    found = tuple(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else None
    if found is None or not all(isinstance(value, str) for value in found):
        raise UsageError(f"{name.capitalize()} must be a list of texts, not {values!r}", hint=f"Such as `{name}=[…]`.")
    return found


def whole_number(value: object, name: str) -> int:
    """Take a whole number.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise UsageError(f"{name.capitalize()} must be a whole number, not {value!r}", hint="Pass an int.")
    return value


def yes_or_no(value: object, name: str) -> bool:
    """Take True or False.

    Raises:
        UsageError: it is neither.
    """
    if not isinstance(value, bool):
        raise UsageError(f"{name.capitalize()} must be True or False, not {value!r}", hint="Pass a bool.")
    return value


def of_kind(value: object, kind: type[T], name: str) -> T:
    """Take an object of a class.

    Raises:
        UsageError: it is of another one.
    """
    if not isinstance(value, kind):
        raise UsageError(f"{name.capitalize()} must be of {kind.__name__}, not {value!r}")
    return value


def function(value: object, name: str) -> None:
    """Make sure that something can be called.

    Raises:
        UsageError: it cannot.
    """
    if not callable(value):
        raise UsageError(f"{name.capitalize()} must be a function, not {value!r}", hint="Pass its name, without ().")
