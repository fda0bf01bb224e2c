"""The way in to the configuration."""

from collections.abc import Mapping
from pathlib import Path

from openmind.adapters.home import Home
from openmind.adapters.toml_config import ConfigFile
from openmind.application.settings import Settings
from openmind.bootstrap.assembly import Assembly
from openmind.bootstrap.opening import is_there, open_memory
from openmind.domain.config import Config
from openmind.plugins.manager import Plugins, load_plugins


def open_settings(home: Path | str | None = None, *, plugins: Plugins | None = None) -> Settings:
    """Read and change the configuration; the home is made when something is written.

    Args:
        home: as `open_memory`.
        plugins: as `open_memory`.
    """
    place = Home.at(home)
    file = ConfigFile(place.config_file)

    def assembly(config: Config) -> Assembly:
        known = plugins or load_plugins(blocked=config.blocked_plugins)
        return Assembly(home=place, config=config, plugins=known)

    def provider_settings(config: Config) -> Mapping[str, object]:
        return assembly(config).providers.settings()

    def provider_notices(config: Config) -> tuple[str, ...]:
        return assembly(config).providers.notices()

    def busy() -> bool:
        if not is_there(place):
            return False
        config = file.load()
        known = plugins or load_plugins(blocked=config.blocked_plugins)
        if config.storage.name not in known.stores.entries:  # who wants to mend that must not need it
            return False
        with open_memory(home, create=False, plugins=known) as memory:
            return memory.jobs.busy()

    def load() -> Config:
        place.check()
        return file.load()

    def update(changes: Mapping[tuple[str, ...], object]) -> None:
        place.create()
        of_provider = any(path[0] == "provider" for path in changes)

        def check(config: Config) -> None:
            there = assembly(config)
            try:
                there.check_settings()
                if of_provider:
                    there.providers.require_allowed()
            finally:
                there.close()

        file.update(changes, check=check)

    return Settings(
        path=place.config_file,
        load=load,
        update=update,
        provider_settings=provider_settings,
        provider_notices=provider_notices,
        busy=busy,
    )
