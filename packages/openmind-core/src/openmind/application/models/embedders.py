"""Finds the embedder that the configuration names, and the one that an index was made with."""

from collections.abc import Callable

from attrs import frozen

from openmind.domain.errors import ConfigError, ProviderError
from openmind.domain.models import EmbedderIdentity
from openmind.domain.plugins import provider_of
from openmind.ports.embedding_provider import EmbeddingProvider

BUILTIN = "builtin"
"""Name of the provider, and of its one model, that come with OpenMind."""
REMAKE = "`openmind index` makes the vectors anew; no file is read again."


@frozen(kw_only=True)
class Embedders:
    """The embedders within reach. Asking for one does no I/O."""

    provider_name: str
    """The configured provider."""
    model: str
    """The configured embedding model."""
    embedder: Callable[[str, str], EmbeddingProvider]
    """Makes, once, the embedder of a provider and a model."""
    package: Callable[[str], str] = lambda _: ""
    """Names the package of a provider; empty where it has none."""

    def whom(self, provider: str) -> str:
        """Name a provider that is waited for, as a part of a sentence."""
        return provider_of(provider, self.package(provider))

    @property
    def chosen_provider(self) -> str:
        """The name of the provider of the embedder that the configuration names."""
        return BUILTIN if self.model == BUILTIN else self.provider_name

    def chosen(self) -> EmbeddingProvider:
        """Return the embedder that the configuration names."""
        return self.embedder(self.chosen_provider, self.model)

    def builtin(self) -> EmbeddingProvider:
        """Return the embedder that is always there."""
        return self.embedder(BUILTIN, BUILTIN)

    def is_chosen(self, identity: EmbedderIdentity) -> bool:
        """Whether an index with this identity was made by the model that the configuration names."""
        return (identity.provider, identity.model) == (self.chosen_provider, self.model)

    def matching(self, identity: EmbedderIdentity) -> EmbeddingProvider:
        """Return an embedder whose vectors can be compared with those of an index.

        Raises:
            ProviderError: there is none, and why.
        """
        if identity.provider not in {BUILTIN, self.provider_name}:
            raise ProviderError(f"{identity.model} belongs to the provider {identity.provider}, which is not chosen")
        try:
            embedder = self.embedder(identity.provider, identity.model)
        except ConfigError as error:
            raise ProviderError(error.message, hint=error.hint) from error
        if embedder.identity != identity:
            raise ProviderError(_change(identity, embedder.identity), hint=REMAKE)
        return embedder


def _change(made_with: EmbedderIdentity, now: EmbedderIdentity) -> str:
    """Say in what an embedder is not any more the one that an index was made with."""
    if made_with.dimension != now.dimension:
        return f"{now.model} makes vectors of {now.dimension} dimensions now, and of {made_with.dimension} before"
    return f"{now.model} is another build now than the one the memory was made with"
