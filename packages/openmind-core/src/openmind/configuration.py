"""The configuration of a home, whatever state it is in."""

from pathlib import Path

from openmind.adapters.home import Home
from openmind.adapters.toml_config import ConfigFile
from openmind.domain.config import Config
from openmind.domain.errors import OpenMindError


def readable_config(home: Path | str | None = None) -> Config:
    """Read the configuration; for one that cannot be read, the defaults: whoever works with it tells what is wrong.

    Args:
        home: as `open_memory`.
    """
    try:
        return ConfigFile(Home.at(home).config_file).load()
    except OpenMindError:
        return Config()
