"""Parameters that several commands share."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from cyclopts import Parameter, Token
from cyclopts.validators import Number


def whole(_: type, tokens: Sequence[Token]) -> int:
    """Read a whole number; `1.5` is none, and would be taken for 1."""
    try:
        return int(tokens[0].value)
    except ValueError as error:
        raise ValueError(f"it must be a whole number, not {tokens[0].value}") from error


def moment(_: type, tokens: Sequence[Token]) -> datetime:
    """Read a date or a time, taken as local where it names no zone."""
    given = tokens[0].value
    try:
        return datetime.fromisoformat(given.strip()).astimezone()
    except (ValueError, OverflowError) as error:
        raise ValueError(f"it must be a date such as 2026-01-31 or 2026-01-31T09:30, not {given}") from error


Json = Annotated[bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON, errors too.")]
SearchLimit = Annotated[int, Parameter(converter=whole, validator=Number(gte=1, lte=50))]
AskLimit = Annotated[int, Parameter(converter=whole, validator=Number(gte=1, lte=20))]
HistoryLimit = Annotated[int, Parameter(converter=whole, validator=Number(gte=1, lte=1_000))]
PerFile = Annotated[int, Parameter(converter=whole, validator=Number(gte=0))]
Moment = Annotated[datetime, Parameter(converter=moment)]
Switch = Annotated[bool, Parameter(negative="", show_default=False)]
"""Off unless it is given; there is no `--no-` form."""
Several = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
"""An option that may be given several times."""
