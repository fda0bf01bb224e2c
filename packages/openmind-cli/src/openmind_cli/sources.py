"""Sources as people name them on the command line."""

import os
from pathlib import Path

from openmind import OpenMind
from openmind.domain.ids import SourceId


def find_source(memory: OpenMind, named: str) -> SourceId:
    """The id that was given, or the id of the source at the path that was given.

    What is neither is passed on as an id, for the service to refuse.
    """
    sources = memory.sources.list()
    if any(source.id == named for source in sources):
        return SourceId(named)
    path = os.fsencode(Path(named).expanduser().resolve())
    unresolved = os.fsencode(Path(named).expanduser().absolute())
    # The folder may be gone, and then a link on the way to it can no longer be followed: both forms count.
    found = [source.id for source in sources if source.path_bytes in {path, unresolved}]
    return found[0] if found else SourceId(named)
