"""Registers the built-in provider."""

from typing import TYPE_CHECKING

from openmind.plugins.hookspecs import hookimpl
from openmind.plugins.registries import ProviderRegistry

if TYPE_CHECKING:
    from openmind_wordllama.provider import BuiltinProvider


@hookimpl
def openmind_register_providers(registry: ProviderRegistry) -> None:
    registry.add("builtin", _builtin)


def _builtin(_: object) -> "BuiltinProvider":
    from openmind_wordllama.provider import BuiltinProvider  # waits until it is asked for

    return BuiltinProvider()
