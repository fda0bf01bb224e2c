"""A provider of one embedder, for programs that bring their own without a plugin."""

from collections.abc import Sequence

from attrs import frozen

from openmind.domain.embedder_faults import fault_of_identity
from openmind.domain.errors import ModelNotFound, UsageError
from openmind.domain.foreign_errors import named
from openmind.domain.models import EmbedderIdentity, ModelAction, ModelInfo, ModelSelection, ProviderHealth
from openmind.ports.answer_provider import AnswerProvider
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.ports.image_describer import ImageDescriber

OWN_EMBEDDER = "embedder="
"""What registers it, instead of a plugin."""
EXAMPLE = "docs/sdk.md shows one."
PARTS = ("identity", "max_input_chars", "in_process", "profile", "embed")


def identity_of(embedder: object) -> EmbedderIdentity:
    """Return the identity of what a program gives as its embedder.

    Raises:
        UsageError: it is no embedder.
    """
    lacking = [name for name in PARTS if not (hasattr(type(embedder), name) or hasattr(embedder, name))]
    if lacking:
        told = f"{type(embedder).__name__} is no embedder: it has no {', '.join(lacking)}"
        raise UsageError(f"an embedder was to be given, and {told}", hint=EXAMPLE)
    try:
        identity: object = embedder.identity  # type: ignore[attr-defined]  # it is there
    except Exception as error:
        raise UsageError(f"the embedder does not say its identity: {named(error)}", hint=EXAMPLE) from error
    if not isinstance(identity, EmbedderIdentity):
        raise UsageError(
            f"the identity of the embedder is {type(identity).__name__} and not EmbedderIdentity", hint=EXAMPLE
        )
    fault = fault_of_identity(identity)
    if fault:
        raise UsageError(fault, hint=EXAMPLE)
    return identity


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
