"""The way in to a memory that is to be filled as a whole."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from openmind.adapters.home import Home
from openmind.adapters.home_contents import HomeKeeper
from openmind.application.memory import OpenMind
from openmind.bootstrap.opening import is_there, open_memory
from openmind.plugins.manager import Plugins


@contextmanager
def open_empty_memory(home: Path | str | None = None, *, plugins: Plugins | None = None) -> Iterator[OpenMind]:
    """Open a memory to fill it as a whole. A home that was made for that goes again when the filling fails.

    Args:
        home: as `open_memory`.
        plugins: as `open_memory`.

    Raises:
        HomeError, ConfigError, StoreError: as `open_memory`.
    """
    place = Home.at(home)
    is_new, had_folder = not is_there(place), place.folder.is_dir()
    unused = is_new
    try:
        with open_memory(home, plugins=plugins) as memory:
            try:
                yield memory
            finally:
                unused = is_new and not memory.sources.list() and not memory.jobs.busy()
    except BaseException:
        if unused:
            _take_back(place, keep_folder=had_folder)
        raise


def _take_back(place: Home, *, keep_folder: bool) -> None:
    """Delete what was made of a home a moment ago; where somebody put something into it meanwhile, that stays."""
    keeper = HomeKeeper(place.folder)
    with suppress(OSError):  # what went wrong before is what has to be told
        keeper.remove(keeper.contents())
        if keep_folder:
            place.folder.mkdir(mode=0o700, exist_ok=True)
