"""`openmind uninstall`."""

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number
from openmind.uninstall import uninstall_service

from openmind_cli.confirming import agreed
from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.parameters import Json, Switch
from openmind_cli.render.lines import note, print_lines
from openmind_cli.render.objects import print_object
from openmind_cli.render.upkeep import farewell_lines, uninstall_lines, uninstall_object

Wait = Annotated[float, Parameter(validator=Number(gte=0, lte=3_600))]


def uninstall(
    *,
    package: Switch = False,
    dry_run: Switch = False,
    yes: Switch = False,
    wait: Wait = 10.0,
    json: Json = False,
) -> int:
    """Delete OpenMind's own data, and with --package the program too.

    Only what OpenMind made goes. Your folders and files, model servers and their models stay, and so does any other
    file that lies in OpenMind's folder.

    Parameters
    ----------
    package
        Remove the installed packages, too.
    dry_run
        Only show what would be deleted.
    yes
        Do not ask.
    wait
        How many seconds a background job is given to stop; when it does not, nothing is deleted.
    """
    service = uninstall_service()
    plan = service.plan(packages=package)
    if not json:
        print_lines(uninstall_lines(plan))
    wanted = not dry_run and agreed("Delete that?", yes=yes, quiet=json)
    if wanted:
        left = service.uninstall(plan, wait_s=wait)
        if not json:
            print_lines(farewell_lines(plan, left))
    if json:
        print_object(uninstall_object(plan, done=wanted))
        return OK
    if not wanted and not dry_run:
        note("Nothing was deleted.")
        return FAILED
    return OK
