"""`openmind init`."""

from openmind import open_memory
from openmind.domain.errors import HomeMissing
from openmind.domain.search import how_to_begin
from openmind.domain.sources import Source

from openmind_cli.exit_codes import OK
from openmind_cli.parameters import Json
from openmind_cli.render.amounts import count
from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import line, note, print_lines
from openmind_cli.render.objects import print_object


def init(*, json: Json = False) -> int:
    """Make OpenMind's own folder.

    It is `$OPENMIND_HOME`, else `~/.openmind`. Everything OpenMind remembers is kept there. A folder that is there
    already is checked and left as it is.
    """
    home, created, sources, files = _home()
    if json:
        print_object({"home": home, "created": created})
        return OK
    print_lines([line(f"{'Made' if created else 'OpenMind is set up in'} {one_line(home)}")])
    if files:
        note(f"It knows {count(files, 'file')} of {count(len(sources), 'folder')}: `openmind status` tells more.")
    elif sources:
        note(how_to_begin(sources))
    else:
        note("Next: `openmind source add FOLDER` names a folder to read.")
    return OK


def _home() -> tuple[str, bool, tuple[Source, ...], int]:
    """Where the home is, whether it was made, and what it holds."""
    try:
        with open_memory(create=False) as memory:
            return str(memory.home), False, memory.sources.list(), memory.status().indexed_files
    except HomeMissing:
        with open_memory() as memory:
            return str(memory.home), True, (), 0
