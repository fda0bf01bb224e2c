"""Registers the providers of this package."""

from typing import TYPE_CHECKING

from openmind.plugins.hookspecs import hookimpl
from openmind.plugins.registries import ProviderRegistry
from openmind.ports.notebook import FORGETFUL, Notebook

from openmind_lmstudio.config import LMStudioConfig, OpenAICompatibleConfig

if TYPE_CHECKING:  # the port knows most of the domain, and `openmind --help` nothing of it
    from openmind.ports.model_provider import ModelProvider


@hookimpl
def openmind_register_providers(registry: ProviderRegistry) -> None:
    registry.add("lmstudio", _lmstudio, config=LMStudioConfig, noting=_lmstudio)
    registry.add("openai-compatible", _openai_compatible, config=OpenAICompatibleConfig, noting=_openai_compatible)


def _lmstudio(config: LMStudioConfig, notebook: Notebook = FORGETFUL) -> "ModelProvider":
    from openmind_lmstudio.provider import LMStudioProvider

    return LMStudioProvider(config, notebook=notebook)


def _openai_compatible(config: OpenAICompatibleConfig, notebook: Notebook = FORGETFUL) -> "ModelProvider":
    from openmind_lmstudio.openai_compatible import OpenAICompatibleProvider

    return OpenAICompatibleProvider(config, notebook=notebook)
