"""Parameters that several commands share."""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

Json = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON, errors too.")]
SearchLimit = Annotated[int, Parameter(validator=Number(gte=1, lte=50))]
AskLimit = Annotated[int, Parameter(validator=Number(gte=1, lte=20))]
PerFile = Annotated[int, Parameter(validator=Number(gte=0))]
Flag = Annotated[bool, Parameter(negative="")]
"""A switch that has no `--no-` form."""
