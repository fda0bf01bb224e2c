"""`openmind init`."""

from openmind import open_memory
from openmind.domain.errors import HomeMissing

from openmind_cli.exit_codes import OK
from openmind_cli.parameters import Json
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import line, note, print_lines
from openmind_cli.render.objects import print_object


def init(*, json: Json = False) -> int:
    """Make OpenMind's own folder.

    It is `$OPENMIND_HOME`, else `~/.openmind`. Everything OpenMind remembers is kept there. A folder that is there
    already is checked and left as it is.
    """
    home, created = _home()
    if json:
        print_object({"home": home, "created": created})
        return OK
    print_lines([line(f"{'Made' if created else 'OpenMind is set up in'} {one_line(home)}")])
    note("Next: `openmind source add FOLDER` names a folder to read.")
    return OK


def _home() -> tuple[str, bool]:
    try:
        with open_memory(create=False) as memory:
            return str(memory.home), False
    except HomeMissing:
        with open_memory() as memory:
            return str(memory.home), True
