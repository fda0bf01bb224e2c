"""Registers the commands of OpenMind, exactly like any other plugin does."""

from openmind.plugins.hookspecs import hookimpl
from openmind.plugins.registries import CommandRegistry

from openmind_cli.commands import COMMANDS


@hookimpl
def openmind_register_commands(registry: CommandRegistry) -> None:
    for name, target, line in COMMANDS:
        registry.add(name, target, help=line)
