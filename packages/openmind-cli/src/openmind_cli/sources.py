"""Sources as people name them on the command line."""

import os
from pathlib import Path

from openmind import OpenMind
from openmind.domain.ids import SourceId
from openmind.domain.sources import Source

from openmind_cli.render.clean import one_line


def find_source(memory: OpenMind, named: str) -> SourceId:
    """The source with the id that was given, or at the path that was given.

    Raises:
        SourceNotFound: there is none.
    """
    path = Path(named).expanduser()
    # The folder may be gone, and then a link on the way to it can no longer be followed: both forms count.
    forms = {os.fsencode(path.resolve()), os.fsencode(path.absolute())}
    found = [source.id for source in memory.sources.list() if source.id == named or source.path_bytes in forms]
    return found[0] if found else memory.sources.get(SourceId(named)).id


def disabled_notice(source: Source) -> str:
    """Say that a source is neither read nor searched, and how that is changed."""
    return f"{one_line(source.path)} is disabled: `openmind source set {source.id} --enable` has it read and searched."
