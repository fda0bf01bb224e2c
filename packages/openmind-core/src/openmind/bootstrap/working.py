"""The way in for a background worker."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from openmind.adapters.home import Home
from openmind.adapters.processes import is_alive, this_process
from openmind.adapters.toml_config import ConfigFile
from openmind.application.jobs.worker import JobWorker, MemoryAtWork, Workplace
from openmind.bootstrap.assembly import Assembly
from openmind.bootstrap.contained_storage import open_storage
from openmind.bootstrap.services import utc_now
from openmind.configuration import readable_config
from openmind.plugins.manager import Plugins, load_plugins


@contextmanager
def open_worker(
    home: Path | str | None = None,
    *,
    plugins: Plugins | None = None,
    beaten: Callable[[], None] = lambda: None,
    leave: Callable[[], None] | None = None,
) -> Iterator[JobWorker]:
    """Open what carries out a background job; the home must exist.

    Args:
        home: as `open_memory`.
        plugins: as `open_memory`.
        beaten: called now and then, several times a minute, while the worker is well.
        leave: see `JobWorker`.

    Raises:
        HomeError, StoreError
        ConfigError: the storage is not installed.
    """
    place = Home.at(home)
    place.require()
    config = readable_config(home)  # what is wrong with it is told by the job
    known = plugins or load_plugins(blocked=config.blocked_plugins)
    storage = open_storage(known.stores, config.storage.name, place.folder)
    try:
        storage.initialise()
        yield JobWorker(
            catalog=storage.catalog,
            workplace=lambda: _open_workplace(place, known),
            process=this_process,
            alive=is_alive,
            now=utc_now,
            beaten=beaten,
            leave=leave,
        )
    finally:
        storage.close()


@contextmanager
def _open_workplace(home: Home, plugins: Plugins) -> Iterator[Workplace]:
    """Open the memory with the configuration of this moment, for one pass of a job.

    Raises:
        ConfigError, StoreError
    """
    assembly = Assembly(home=home, config=ConfigFile(home.config_file).load(), plugins=plugins)
    try:
        yield MemoryAtWork(assembly.memory())
    finally:
        assembly.close()
