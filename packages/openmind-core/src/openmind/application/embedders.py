"""Finds the embedder that the configuration names, and the one that an index was made with."""

from collections.abc import Callable

from attrs import frozen

from openmind.domain.errors import OpenMindError
from openmind.domain.models import EmbedderIdentity
from openmind.ports.embedding_provider import EmbeddingProvider

BUILTIN = "builtin"
"""Name of the provider, and of its one model, that come with OpenMind."""


@frozen(kw_only=True)
class Embedders:
    """The embedders within reach. Asking for one does no I/O."""

    provider_name: str
    """The configured provider."""
    model: str
    """The configured embedding model."""
    embedder: Callable[[str, str], EmbeddingProvider]
    """Makes, once, the embedder of a provider and a model."""

    def chosen(self) -> EmbeddingProvider:
        """Return the embedder that the configuration names."""
        name = BUILTIN if self.model == BUILTIN else self.provider_name
        return self.embedder(name, self.model)

    def builtin(self) -> EmbeddingProvider:
        """Return the embedder that is always there."""
        return self.embedder(BUILTIN, BUILTIN)

    def is_chosen(self, identity: EmbedderIdentity) -> bool:
        """Whether an index with this identity was made by the model that the configuration names."""
        name = BUILTIN if self.model == BUILTIN else self.provider_name
        return (identity.provider, identity.model) == (name, self.model)

    def matching(self, identity: EmbedderIdentity) -> EmbeddingProvider | None:
        """Return an embedder whose vectors can be compared with those of an index; None when it is out of reach."""
        if identity.provider not in {BUILTIN, self.provider_name}:
            return None
        try:
            embedder = self.embedder(identity.provider, identity.model)
            return embedder if embedder.identity == identity else None
        except OpenMindError:
            return None
