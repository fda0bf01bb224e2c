"""Registers the built-in provider."""

from openmind.plugins.hookspecs import hookimpl
from openmind.plugins.registries import ProviderRegistry

from openmind_wordllama.provider import BuiltinProvider


@hookimpl
def openmind_register_providers(registry: ProviderRegistry) -> None:
    registry.add("builtin", lambda _: BuiltinProvider())
