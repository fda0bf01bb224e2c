"""The models of Letters: one embedder, which is always there."""

from collections.abc import Sequence

from attrs import frozen
from openmind.domain.errors import ModelNotFound
from openmind.domain.models import (
    EmbedderIdentity,
    EmbeddingRole,
    ModelAction,
    ModelInfo,
    ModelSelection,
    ProviderHealth,
    RetrievalProfile,
)
from openmind.domain.vectors import Vectors
from openmind.ports.answer_provider import AnswerProvider
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.ports.image_describer import ImageDescriber

from openmind_letters.embeddings import PROFILE, LetterEmbeddings
from openmind_letters.plugin import LettersConfig

LETTERS = "letters"


@frozen
class LettersProvider:
    """See `openmind.ports.model_provider.ModelProvider`."""

    config: LettersConfig
    display_name: str = "Letters"

    def health(self) -> ProviderHealth:
        return ProviderHealth(provider="letters", reachable=True, message="Letters is always there.")

    def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo(key=LETTERS, name="Letters", type="embedding", loaded=True),)

    def load(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        return tuple(
            ModelAction(model=key, status="loaded", skipped=True)
            if key == LETTERS
            else ModelAction(model=key, status="failed: Letters has no such model", skipped=False)
            for key in keys
        )

    def unload(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        return tuple(ModelAction(model=key, status="skipped", skipped=True) for key in keys)

    def embedder(self, model: str) -> EmbeddingProvider:
        return LetterEmbeddings(self.config.dimension) if model == LETTERS else Unknown(model)

    def answerer(self, model: str) -> AnswerProvider:
        raise ModelNotFound("Letters has no chat models")

    def describer(self, model: str) -> ImageDescriber:
        raise ModelNotFound("Letters has no models that see")

    def selection(self) -> ModelSelection | None:
        return ModelSelection(chat_model=None, embedding_model=LETTERS, image_model=None)

    def close(self) -> None:
        """Nothing is held open."""


@frozen
class Unknown:
    """An embedder that is not there, which shows when it is used."""

    model: str
    max_input_chars: int = 1_000
    in_process: bool = True
    profile: RetrievalProfile = PROFILE

    @property
    def identity(self) -> EmbedderIdentity:
        raise self._error()

    def embed(self, texts: Sequence[str], *, role: EmbeddingRole) -> Vectors:
        raise self._error()

    def _error(self) -> ModelNotFound:
        return ModelNotFound(f"Letters has no model “{self.model}”", hint=f"It has one named {LETTERS}.")
