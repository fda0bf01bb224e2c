"""The plugins of this environment, without those that this home leaves out."""

from pathlib import Path

from openmind.adapters.home import Home
from openmind.adapters.toml_config import ConfigFile
from openmind.domain.config import Config
from openmind.domain.errors import OpenMindError
from openmind.plugins.manager import Plugins, load_plugins


def installed_plugins(home: Path | str | None = None) -> Plugins:
    """Load the plugins, whether or not there is a home.

    Args:
        home: as `open_memory`.
    """
    return load_plugins(blocked=readable_config(home).blocked_plugins)


def readable_config(home: Path | str | None = None) -> Config:
    """Read the configuration; for one that cannot be read, the defaults: whoever works with it tells what is wrong.

    Args:
        home: as `open_memory`.
    """
    try:
        return ConfigFile(Home.at(home).config_file).load()
    except OpenMindError:
        return Config()
