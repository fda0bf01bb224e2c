"""The built-in provider: one embedding model, no chat, no eyes, no server."""

from collections.abc import Sequence
from typing import NoReturn

from attrs import frozen
from openmind.domain.errors import ModelNotFound, ProviderError
from openmind.domain.models import ModelAction, ModelInfo, ModelSelection, ProviderHealth

from openmind_wordllama.embeddings import MODEL, WordLlamaEmbeddings
from openmind_wordllama.model_files import find_model_files


@frozen
class BuiltinProvider:
    """Implements `ModelProvider` with what comes in a wheel."""

    @property
    def display_name(self) -> str:
        return "Built-in"

    def health(self) -> ProviderHealth:
        try:
            find_model_files()
        except ProviderError as error:
            return ProviderHealth(provider="builtin", reachable=False, message=f"{error.message}. {error.hint}")
        return ProviderHealth(provider="builtin", reachable=True, message="The built-in embedder is ready.")

    def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo(key=MODEL, name="WordLlama l2_supercat, 256 dimensions", type="embedding", loaded=True),)

    def load(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        return tuple(
            ModelAction(model=key, status="loaded", skipped=True)
            if key == MODEL
            else ModelAction(model=key, status="failed: the built-in provider has no such model")
            for key in keys
        )

    def unload(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        return tuple(ModelAction(model=key, status="unloaded", skipped=True) for key in keys)

    def embedder(self, model: str) -> WordLlamaEmbeddings:
        return WordLlamaEmbeddings(model)

    def answerer(self, model: str) -> NoReturn:
        raise ModelNotFound(
            f"the built-in provider cannot chat, so there is no model “{model}”",
            hint="Run `openmind setup` to choose a provider with chat models.",
        )

    def describer(self, model: str) -> NoReturn:
        raise ModelNotFound(
            f"the built-in provider cannot describe pictures, so there is no model “{model}”",
            hint="Run `openmind setup` to choose a provider with models that see.",
        )

    def selection(self) -> ModelSelection:
        return ModelSelection(embedding_model=MODEL)

    def close(self) -> None:
        """Nothing is held open."""
