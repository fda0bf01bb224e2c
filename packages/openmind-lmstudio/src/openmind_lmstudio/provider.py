"""LM Studio as a provider of models."""

from collections.abc import Sequence

from openmind.domain.errors import ConfigError, ProviderError
from openmind.domain.models import ModelAction, ModelInfo, ModelSelection, ProviderHealth
from openmind.ports.notebook import FORGETFUL, Notebook

from openmind_lmstudio.address import Address
from openmind_lmstudio.answers import ServedAnswers
from openmind_lmstudio.client import LMStudioClient
from openmind_lmstudio.config import LMStudioConfig
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.embedding_requests import EmbeddingRequests
from openmind_lmstudio.embeddings import ServedEmbeddings
from openmind_lmstudio.habits import Habits
from openmind_lmstudio.health import infos_of, sentence, told_of
from openmind_lmstudio.images import ServedDescriber
from openmind_lmstudio.models import Dialect, Listing
from openmind_lmstudio.readiness import Ready
from openmind_lmstudio.turns import Turns

NAME = "lmstudio"
DISPLAY_NAME = "LM Studio"
OPENAI_COMPATIBLE = "openai-compatible"
"""What the provider for other servers is registered as."""


class LMStudioProvider:
    """Offers the models of one LM Studio.

    Args:
        config: the section `[provider]`.
        connection: to the server; made from the config when it is not given.
        notebook: where what is learnt of its models is kept.

    Raises:
        ConfigError: the server is on another machine and that was not allowed.
    """

    def __init__(
        self, config: LMStudioConfig, *, connection: Connection | None = None, notebook: Notebook = FORGETFUL
    ) -> None:
        address = Address.parse(config.base_url)
        address.require_local(allow_remote=config.allow_remote)
        self._connection = connection or Connection(address, server=DISPLAY_NAME, token_env=config.api_token_env)
        self._client = LMStudioClient(self._connection)
        self._turns = Turns()
        self._habits = Habits(notebook, server=address.shown)

    @property
    def display_name(self) -> str:
        return DISPLAY_NAME

    def health(self) -> ProviderHealth:
        """Ask for the list of models, which every version has."""
        notices = self._connection.address.notices
        try:
            listing = self._client.list_models()
        except (ProviderError, ConfigError) as error:
            return ProviderHealth(provider=NAME, reachable=False, message=sentence(error), notices=notices, error=error)
        if listing.dialect is Dialect.V0:
            notices += ("This is an older version of LM Studio; 0.4 and later can do more.",)
        if listing.dialect is Dialect.OPENAI:
            notices += ("This is not LM Studio. For other servers choose the provider openai-compatible.",)
        return ProviderHealth(
            provider=NAME,
            reachable=True,
            message=told_of(self._connection, listing),
            notices=notices,
            models=infos_of(listing),
            fits_better=OPENAI_COMPATIBLE if listing.dialect is Dialect.OPENAI else None,
        )

    def models(self) -> tuple[ModelInfo, ...]:
        return infos_of(self._client.list_models())

    def load(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        """Load one after the other: LM Studio loads models in turn anyway."""
        loaded = self._loaded() if keys else frozenset()
        return tuple(
            ModelAction(model=key, status="loaded", skipped=True) if key in loaded else self._load(key) for key in keys
        )

    def unload(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        """Unload by instance, as one key may have several and another client's may bear another name."""
        if not keys:
            return ()
        try:
            listing = self._client.list_models()
        except ProviderError as error:
            return tuple(ModelAction(model=key, status=f"failed: {error.message}") for key in keys)
        return tuple(self._unload(key, listing) for key in keys)

    def embedder(self, model: str) -> ServedEmbeddings:
        requests = EmbeddingRequests(self._connection, model=model, prepare=self._ready_to_embed)
        return ServedEmbeddings(requests, connection=self._connection, provider=NAME, model=model, turns=self._turns)

    def answerer(self, model: str) -> ServedAnswers:
        return ServedAnswers(self._connection, model=model, prepare=self._ready_to_chat, habits=self._habits)

    def describer(self, model: str) -> ServedDescriber:
        return ServedDescriber(self._connection, model=model, prepare=self._ready_to_chat)

    def selection(self) -> ModelSelection | None:
        """Choose nothing: the person has to."""
        return None

    def close(self) -> None:
        self._connection.close()

    def _ready_to_embed(self, key: str) -> Ready:
        return self._client.load_model_if_needed(key, kind="embedding")

    def _ready_to_chat(self, key: str) -> Ready:
        return self._client.load_model_if_needed(key, kind="llm")

    def _loaded(self) -> frozenset[str]:
        """The models that need no loading; what is wrong with the server shows when one does."""
        try:
            listing = self._client.list_models()
        except ProviderError:
            return frozenset()
        return frozenset(model.key for model in listing.models if model.loaded)

    def _load(self, key: str) -> ModelAction:
        try:
            ready = self._client.load_model_if_needed(key)
        except ProviderError as error:
            return ModelAction(model=key, status=f"failed: {error.message}")
        return ModelAction(model=key, status="loaded", skipped=ready.dialect is not Dialect.NATIVE)

    def _unload(self, key: str, listing: Listing) -> ModelAction:
        try:
            model = listing.find(key)
            instances = () if model is None else model.instances
            gone = [self._client.unload(instance.id) for instance in instances]
        except ProviderError as error:
            return ModelAction(model=key, status=f"failed: {error.message}")
        return ModelAction(model=key, status="unloaded", skipped=not any(gone))
