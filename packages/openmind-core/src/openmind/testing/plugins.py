"""Loads one plugin alone, as OpenMind would."""

from importlib.metadata import EntryPoint

from openmind.plugins.hookspecs import GROUP
from openmind.plugins.manager import Plugins, load_plugins


def load_plugin(value: str, *, name: str = "tested") -> Plugins:
    """Load what an entry point would name, installed or not; a plugin that is broken fails the test.

    Args:
        value: such as `openmind_acme.plugin`.
        name: of the entry point.
    """
    plugins = load_plugins((EntryPoint(name=name, value=value, group=GROUP),))
    assert not plugins.broken, plugins.broken[0].error
    return plugins
