"""The port to an embedding model."""

from collections.abc import Sequence
from typing import Protocol

from openmind.domain.models import EmbedderIdentity, EmbeddingRole, RetrievalProfile
from openmind.domain.vectors import Vectors


class EmbeddingProvider(Protocol):
    """Turns text into vectors with one fixed model. Implementations are thread-safe."""

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on; constant for the object's lifetime.

        Raises:
            ProviderError: the identity has to be asked for and the provider does not tell.
        """
        ...

    @property
    def max_input_chars(self) -> int:
        """Longest text, in characters, that is embedded whole; longer ones may be cut silently."""
        ...

    @property
    def in_process(self) -> bool:
        """Whether the model runs in this process: a worker may then build it again from name and config."""
        ...

    @property
    def profile(self) -> RetrievalProfile:
        """How the vectors are weighed beside the words."""
        ...

    def embed(self, texts: Sequence[str], *, role: EmbeddingRole) -> Vectors:
        """Embed a batch.

        Args:
            texts: N non-empty strings. N may be 0.
            role: `passage` for text that is kept, `query` for text that is looked for.

        Returns:
            N vectors of `identity.dimension` components, finite, unit length (L2), in the order of `texts`. The
            same text and role give the same vector whatever else is in the batch. A text with nothing the
            model knows gives some fixed unit vector.

        Raises:
            ProviderUnreachable: no connection; nothing was embedded.
            PassageRefused: the model cannot take one of the texts.
            ProviderError: the provider refused, or answered nonsense.
        """
        ...
