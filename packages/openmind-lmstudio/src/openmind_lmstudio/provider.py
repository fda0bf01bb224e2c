"""LM Studio as a provider of models."""

from openmind.domain.errors import ConfigError, ProviderError
from openmind.domain.models import ModelInfo, ProviderHealth

from openmind_lmstudio.address import Address
from openmind_lmstudio.client import LMStudioClient
from openmind_lmstudio.config import LMStudioConfig
from openmind_lmstudio.connection import Connection
from openmind_lmstudio.models import Dialect, Listing

NAME = "lmstudio"
DISPLAY_NAME = "LM Studio"


class LMStudioProvider:
    """Offers the models of one LM Studio.

    Raises:
        ConfigError: the server is on another machine and that was not allowed.
    """

    def __init__(self, config: LMStudioConfig) -> None:
        address = Address.parse(config.base_url)
        address.require_local(allow_remote=config.allow_remote)
        self._connection = Connection(address, server=DISPLAY_NAME, token_env=config.api_token_env)
        self._client = LMStudioClient(self._connection)

    @property
    def display_name(self) -> str:
        return DISPLAY_NAME

    def health(self) -> ProviderHealth:
        """Ask for the list of models, which every version has."""
        try:
            listing = self._client.list_models()
        except (ProviderError, ConfigError) as error:
            told = f"{error.message}. {error.hint}".strip()
            return ProviderHealth(provider=NAME, reachable=False, message=told)
        return ProviderHealth(provider=NAME, reachable=True, message=self._describe(listing))

    def models(self) -> tuple[ModelInfo, ...]:
        return tuple(model.info for model in self._client.list_models().models)

    def selection(self) -> None:
        """Choose nothing: the person has to."""

    def close(self) -> None:
        self._connection.close()

    def _describe(self, listing: Listing) -> str:
        count = len(listing.models)
        told = f"{DISPLAY_NAME} answers at {self._connection.address.shown}"
        if listing.dialect is not Dialect.NATIVE:
            told += ", in an older version: 0.4 or later can do more"
        told += f". It has {count} model{'' if count == 1 else 's'}."
        return told if count else f"{told} Download one in LM Studio first."
