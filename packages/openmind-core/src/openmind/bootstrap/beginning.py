"""The way in to what can be chosen before there is a memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from openmind.adapters.home import Home
from openmind.application.setup import Beginning
from openmind.bootstrap.assembly import Assembly
from openmind.bootstrap.opening import is_there, open_memory
from openmind.domain.config import Config
from openmind.plugins.manager import Plugins, load_plugins


@contextmanager
def open_beginning(home: Path | str | None = None, *, plugins: Plugins | None = None) -> Iterator[Beginning]:
    """Look at what can be chosen, whether or not there is a memory yet. Nothing is made.

    Args:
        home: as `open_memory`.
        plugins: as `open_memory`.

    Raises:
        HomeError: the folder cannot be OpenMind's.
        ConfigError: config.toml is wrong.
        StoreError: the memory cannot be opened.
    """
    place = Home.at(home)
    if is_there(place):
        with open_memory(home, create=False, plugins=plugins) as memory:
            yield Beginning(
                home=memory.home,
                config=memory.config,
                models=memory.models,
                sources=memory.sources.list(),
                busy=memory.jobs.busy(),
            )
        return
    assembly = Assembly(home=place, config=Config(), plugins=plugins or load_plugins())
    try:
        models = assembly.providers.models(busy=lambda: False)
        yield Beginning(home=place.folder, config=assembly.config, models=models, sources=(), busy=False)
    finally:
        assembly.close()
