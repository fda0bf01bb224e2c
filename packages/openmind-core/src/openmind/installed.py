"""The plugins of this environment, without those that this home leaves out."""

from pathlib import Path

from openmind.adapters.home import Home
from openmind.adapters.toml_config import ConfigFile
from openmind.domain.errors import OpenMindError
from openmind.plugins.manager import Plugins, load_plugins


def installed_plugins(home: Path | str | None = None) -> Plugins:
    """Load the plugins, whether or not there is a home.

    A configuration that cannot be read blocks nothing: whoever works with it tells what is wrong.

    Args:
        home: as `open_memory`.
    """
    try:
        blocked = ConfigFile(Home.at(home).config_file).load().blocked_plugins
    except OpenMindError:
        blocked = frozenset()
    return load_plugins(blocked=blocked)
