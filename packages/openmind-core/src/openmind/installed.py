"""The plugins of this environment, without those that this home leaves out."""

from pathlib import Path

from openmind.adapters.home import Home
from openmind.adapters.toml_file import read_toml
from openmind.domain.errors import OpenMindError
from openmind.domain.plugins import names_blocked
from openmind.plugins.manager import Plugins, load_plugins


def installed_plugins(home: Path | str | None = None) -> Plugins:
    """Load the plugins, whether or not there is a home.

    Of the configuration only the list of those to leave out is read: to check all of it takes longer than
    `openmind --help`, which needs no more. What is wrong with the rest is told by whoever works with it.

    Args:
        home: as `open_memory`.
    """
    try:
        document = read_toml(Home.at(home).config_file)
    except OpenMindError:
        document = {}
    plugins = document.get("plugins")
    return load_plugins(blocked=names_blocked(plugins if isinstance(plugins, dict) else {}))
