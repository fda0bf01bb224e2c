"""Registers the commands of the loopback API."""

from openmind.plugins.hookspecs import hookimpl
from openmind.plugins.registries import CommandRegistry


@hookimpl
def openmind_register_commands(registry: CommandRegistry) -> None:
    registry.add("serve", "openmind_api.cli:serve", help="Serve the loopback API to other programs on this machine.")
    registry.add("api", "openmind_api.cli:api", help="Show or change the token of the loopback API.")
