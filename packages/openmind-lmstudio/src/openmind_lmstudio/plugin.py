"""Registers the providers of this package."""

from openmind.plugins.hookspecs import hookimpl
from openmind.plugins.registries import ProviderRegistry
from openmind.ports.model_provider import ModelProvider

from openmind_lmstudio.config import LMStudioConfig, OpenAICompatibleConfig


@hookimpl
def openmind_register_providers(registry: ProviderRegistry) -> None:
    registry.add("lmstudio", _lmstudio, config=LMStudioConfig)
    registry.add("openai-compatible", _openai_compatible, config=OpenAICompatibleConfig)


def _lmstudio(config: LMStudioConfig) -> ModelProvider:
    from openmind_lmstudio.provider import LMStudioProvider

    return LMStudioProvider(config)


def _openai_compatible(config: OpenAICompatibleConfig) -> ModelProvider:
    from openmind_lmstudio.openai_compatible import OpenAICompatibleProvider

    return OpenAICompatibleProvider(config)
