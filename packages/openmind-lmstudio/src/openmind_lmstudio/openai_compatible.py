"""Ollama, llama.cpp, vLLM and their like as a provider of models.

What they share are three routes: `/v1/models`, `/v1/embeddings` and `/v1/chat/completions`. They load models by
themselves and tell little of them.
"""

from collections.abc import Sequence

from openmind.domain.errors import ConfigError, ModelNotFound, ProviderError
from openmind.domain.models import ModelAction, ModelInfo, ModelSelection, ProviderHealth
from openmind.ports.notebook import FORGETFUL, Notebook

from openmind_lmstudio import policy
from openmind_lmstudio.address import Address
from openmind_lmstudio.answers import ServedAnswers
from openmind_lmstudio.config import OpenAICompatibleConfig
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.embedding_requests import EmbeddingRequests
from openmind_lmstudio.embeddings import ServedEmbeddings
from openmind_lmstudio.habits import Habits
from openmind_lmstudio.health import infos_of, sentence, told_of
from openmind_lmstudio.images import ServedDescriber
from openmind_lmstudio.models import Dialect, Listing, read_openai
from openmind_lmstudio.readiness import Ready
from openmind_lmstudio.turns import Turns

NAME = "openai-compatible"
_SERVER = "The model server"


class OpenAICompatibleProvider:
    """Offers the models of one server with OpenAI's routes.

    Args:
        config: the section `[provider]`.
        connection: to the server; made from the config when it is not given.
        notebook: where what is learnt of its models is kept.

    Raises:
        ConfigError: the server is on another machine and that was not allowed.
    """

    def __init__(
        self, config: OpenAICompatibleConfig, *, connection: Connection | None = None, notebook: Notebook = FORGETFUL
    ) -> None:
        address = Address.parse(config.base_url)
        address.require_local(allow_remote=config.allow_remote)
        self._connection = connection or Connection(address, server=_SERVER, token_env=config.api_token_env)
        self._turns = Turns()
        self._habits = Habits(notebook, server=address.shown)

    @property
    def display_name(self) -> str:
        return "OpenAI-compatible server"

    def health(self) -> ProviderHealth:
        """Ask for the list of models."""
        notices = self._connection.address.notices
        try:
            listing = self._list()
        except (ProviderError, ConfigError) as error:
            return ProviderHealth(provider=NAME, reachable=False, message=sentence(error), notices=notices, error=error)
        return ProviderHealth(
            provider=NAME,
            reachable=True,
            message=told_of(self._connection, listing),
            notices=notices,
            models=infos_of(listing),
        )

    def models(self) -> tuple[ModelInfo, ...]:
        return infos_of(self._list())

    def load(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        """Load nothing: what the server lists, it has or loads when it is asked."""
        try:
            listing = self._list()
        except ProviderError as error:
            return tuple(ModelAction(model=key, status=f"failed: {error.message}") for key in keys)
        return tuple(
            ModelAction(model=key, status="loaded", skipped=True)
            if listing.find(key) is not None
            else ModelAction(model=key, status="failed: The model server has no such model")
            for key in keys
        )

    def unload(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        """Unload nothing: the server decides what it keeps."""
        return tuple(ModelAction(model=key, status="unloaded", skipped=True) for key in keys)

    def embedder(self, model: str) -> ServedEmbeddings:
        requests = EmbeddingRequests(self._connection, model=model, prepare=self._ready)
        return ServedEmbeddings(requests, connection=self._connection, provider=NAME, model=model, turns=self._turns)

    def answerer(self, model: str) -> ServedAnswers:
        return ServedAnswers(self._connection, model=model, prepare=self._ready, habits=self._habits)

    def describer(self, model: str) -> ServedDescriber:
        return ServedDescriber(self._connection, model=model, prepare=self._ready)

    def selection(self) -> ModelSelection | None:
        """Choose nothing: the person has to."""
        return None

    def close(self) -> None:
        self._connection.close()

    def _list(self) -> Listing:
        return Listing(dialect=Dialect.OPENAI, models=read_openai(self._connection.get("/v1/models", policy.LIST)))

    def _ready(self, key: str) -> Ready:
        """Look a model up; names tell nothing certain of its kind, so it is tried as what it is wanted for."""
        listing = self._list()
        model = listing.find(key)
        if model is None:
            raise ModelNotFound(
                f"The model server has no model “{key}”",
                hint="`openmind models list` shows what is there, `openmind models update` chooses anew.",
            )
        return Ready.of(model, listing)
