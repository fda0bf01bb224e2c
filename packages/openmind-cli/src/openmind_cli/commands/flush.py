"""`openmind flush`."""

from typing import Annotated

from cyclopts import Parameter
from openmind import open_memory

from openmind_cli.confirming import agreed
from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.parameters import Json, Switch
from openmind_cli.render.lines import line, note, print_lines
from openmind_cli.render.objects import print_object
from openmind_cli.render.upkeep import flush_lines, flush_object

LONGEST_WAIT_S = 3_600


def _waitable(_: object, seconds: float) -> None:
    if not 0 <= seconds <= LONGEST_WAIT_S:  # false for what is no number, too
        raise ValueError(f"Must be a number of seconds from 0 to {LONGEST_WAIT_S:,}.")


Wait = Annotated[float, Parameter(validator=_waitable)]


def flush(
    *,
    include_sources: Switch = False,
    dry_run: Switch = False,
    yes: Switch = False,
    wait: Wait = 10.0,
    json: Json = False,
) -> int:
    """Empty the memory; your files, the sources and the configuration stay.

    A background job is stopped first. The next index run reads everything again.

    Parameters
    ----------
    include_sources
        Forget which folders are sources, too. The folders and their files stay.
    dry_run
        Only show what would be deleted.
    yes
        Do not ask.
    wait
        How many seconds a job is given to stop; when it does not, nothing is deleted.
    """
    with open_memory(create=False) as memory:
        plan = memory.maintenance.plan_flush(include_sources=include_sources)
        if not json:
            print_lines(flush_lines(plan))
        wanted = not dry_run and agreed("Empty the memory?", yes=yes, quiet=json)
        clean = memory.maintenance.flush(plan, wait_s=wait) if wanted else True
    if json:
        print_object({**flush_object(plan, done=wanted), "traces_left": not clean})
        return OK
    if dry_run:
        return OK
    if not wanted:
        note("Nothing was deleted.")
        return FAILED
    print_lines([line("The memory is empty.")])
    if not clean:
        note("Another program still reads the catalog; what was deleted leaves its file when that ends.")
    if plan.sources and not include_sources:
        note("Next: `openmind index start` reads the sources again.")
    else:
        note("Next: `openmind source add FOLDER` names a folder to read.")
    return OK
