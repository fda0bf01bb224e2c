"""A provider of one embedder, for programs that bring their own without a plugin."""

from collections.abc import Sequence

from attrs import frozen

from openmind.domain.errors import ModelNotFound
from openmind.domain.models import ModelAction, ModelInfo, ModelSelection, ProviderHealth
from openmind.ports.answer_provider import AnswerProvider
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.ports.image_describer import ImageDescriber


@frozen
class OwnEmbedder:
    """A `ModelProvider` whose one model is there already."""

    inner: EmbeddingProvider

    @property
    def display_name(self) -> str:
        return self.inner.identity.provider

    def health(self) -> ProviderHealth:
        name = self.display_name
        return ProviderHealth(provider=name, reachable=True, message=f"{name} is part of this program.")

    def models(self) -> tuple[ModelInfo, ...]:
        model = self.inner.identity.model
        return (ModelInfo(key=model, name=model, type="embedding", loaded=True),)

    def load(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        there = self.inner.identity.model
        return tuple(
            ModelAction(model=key, status="loaded", skipped=True)
            if key == there
            else ModelAction(model=key, status="failed: there is no such model")
            for key in keys
        )

    def unload(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        return tuple(ModelAction(model=key, status="unloaded", skipped=True) for key in keys)

    def embedder(self, model: str) -> EmbeddingProvider:
        if model != self.inner.identity.model:
            raise ModelNotFound(f"{self.display_name} has no model “{model}”")
        return self.inner

    def answerer(self, model: str) -> AnswerProvider:
        raise ModelNotFound(f"{self.display_name} has no chat models")

    def describer(self, model: str) -> ImageDescriber:
        raise ModelNotFound(f"{self.display_name} has no models that see")

    def selection(self) -> ModelSelection | None:
        return None

    def close(self) -> None:
        """Whoever made the embedder closes it."""
