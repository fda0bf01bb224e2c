"""The port to a model provider: it lists and loads models, and makes what works with them."""

from collections.abc import Sequence
from typing import Protocol

from openmind.domain.models import ModelAction, ModelInfo, ModelSelection, ProviderHealth
from openmind.ports.answer_provider import AnswerProvider
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.ports.image_describer import ImageDescriber


class ModelProvider(Protocol):
    """Offers models. Built from its config section; building does no I/O. Thread-safe."""

    @property
    def display_name(self) -> str:
        """What people call it."""
        ...

    def health(self) -> ProviderHealth:
        """Ask whether it answers. Never raises a `ProviderError`: the sentence says what is wrong."""
        ...

    def models(self) -> tuple[ModelInfo, ...]:
        """List what is there, loaded or not. May be empty.

        Raises:
            ProviderUnreachable, ProviderError
        """
        ...

    def load(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        """Load models, one action a key in order; what is loaded is skipped. A failure is a status."""
        ...

    def unload(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        """Unload all instances of models, one action a key in order; what is not loaded is skipped."""
        ...

    def embedder(self, model: str) -> EmbeddingProvider:
        """Make an embedder. No I/O; an unknown model shows when it is used."""
        ...

    def answerer(self, model: str) -> AnswerProvider:
        """Make a chat model. No I/O.

        Raises:
            ModelNotFound: this provider has no chat models at all.
        """
        ...

    def describer(self, model: str) -> ImageDescriber:
        """Make an image describer. No I/O.

        Raises:
            ModelNotFound: this provider has no models that see.
        """
        ...

    def selection(self) -> ModelSelection | None:
        """The models it would choose by itself; None when the person has to."""
        ...

    def close(self) -> None:
        """Give back connections. Safe to call twice."""
        ...
