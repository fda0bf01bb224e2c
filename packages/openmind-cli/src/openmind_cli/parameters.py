"""Parameters that several commands share."""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

Json = Annotated[bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON, errors too.")]
SearchLimit = Annotated[int, Parameter(validator=Number(gte=1, lte=50))]
AskLimit = Annotated[int, Parameter(validator=Number(gte=1, lte=20))]
PerFile = Annotated[int, Parameter(validator=Number(gte=0))]
Switch = Annotated[bool, Parameter(negative="", show_default=False)]
"""Off unless it is given; there is no `--no-` form."""
Several = Annotated[tuple[str, ...], Parameter(negative="", show_default=False)]
"""An option that may be given several times."""
