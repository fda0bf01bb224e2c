"""`openmind provider`: where the models come from."""

from cyclopts import App
from openmind import open_memory
from openmind.domain.contract import health_object

from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.parameters import Json
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import Span, line, print_lines
from openmind_cli.render.objects import print_object
from openmind_cli.suggestions import BUILTIN, advice_for_none

app = App(name="provider", help="Look at where the models come from.")


@app.command
def status(*, json: Json = False) -> int:
    """Say whether the provider answers, and what there is to know of it.

    Exit code 1 means that it does not.
    """
    with open_memory(create=False) as memory:
        health = memory.models.health()
    if json:
        print_object(health_object(health))
    else:
        state = Span("ready", "bold green") if health.reachable else Span("not ready", "bold red")
        notices = [line(Span("note: ", "bold yellow"), one_line(notice)) for notice in health.notices]
        advised = advice_for_none(health.models) if health.reachable and health.models is not None else ()
        told = (health.message, *advised) if health.provider != BUILTIN else (health.message,)
        print_lines(
            [
                line(f"{one_line(health.provider)}: ", state),
                *(line(one_line(sentence), wraps=True) for sentence in told),
                *notices,
            ]
        )
    return OK if health.reachable else FAILED
