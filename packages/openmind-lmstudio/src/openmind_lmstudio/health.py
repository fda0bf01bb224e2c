"""What is said about a server as a whole."""

from attrs import evolve
from openmind.domain.errors import ConfigError, ProviderError
from openmind.domain.models import ModelInfo

from openmind_lmstudio.connection import Connection
from openmind_lmstudio.models import Dialect, Listing


def told_of(connection: Connection, listing: Listing) -> str:
    """Say where a server answers and how much it has."""
    count = len(listing.models)
    models = "1 model" if count == 1 else f"{count} models"
    told = f"{connection.server} answers at {connection.address.shown} and has {models}."
    return told if count else f"{told} Download one there first."


def infos_of(listing: Listing) -> tuple[ModelInfo, ...]:
    """Describe the models of a server; whether one is loaded only LM Studio tells."""
    infos = (model.info for model in listing.models)
    return tuple(evolve(info, loaded=None) if listing.dialect is Dialect.OPENAI else info for info in infos)


def sentence(error: ProviderError | ConfigError) -> str:
    """Put message and hint of an error into sentences."""
    return f"{error.message}. {error.hint}".strip()
