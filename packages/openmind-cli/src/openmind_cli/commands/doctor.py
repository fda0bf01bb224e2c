"""`openmind doctor`."""

from openmind.bootstrap import open_checkup

from openmind_cli.exit_codes import FAILED, OK
from openmind_cli.parameters import Json, Switch
from openmind_cli.render.lines import print_lines
from openmind_cli.render.objects import print_object
from openmind_cli.render.upkeep import checkup_lines, checkup_object, repair_lines, repair_object
from openmind_cli.render.working import working


def doctor(*, repair: Switch = False, json: Json = False) -> int:
    """Look whether everything is sound, and mend what is not.

    Exit code 1 means that something is wrong, or that not everything could be looked at, unless that is for a pause.

    Parameters
    ----------
    repair
        Mend what can be mended. No file of yours is read, changed or deleted for that.
    """
    with open_checkup() as maintenance:
        if repair:
            with working("Repairing; after a loss that takes as long as reading the kept text.", quiet=json):
                done = maintenance.repair()
            (print_object(repair_object(done)) if json else print_lines(repair_lines(done)))
            return FAILED if done.left else OK
        found = maintenance.examine()
    (print_object(checkup_object(found)) if json else print_lines(checkup_lines(found)))
    return FAILED if found.needs_attention else OK
