"""An embedder to put your own in place of: it counts which letters follow each other in a text."""

import zlib
from collections.abc import Sequence
from math import sqrt

from attrs import frozen
from openmind.domain.models import EmbedderIdentity, EmbeddingRole, RetrievalProfile
from openmind.domain.vectors import Vectors

# How much words count beside these vectors, and the cosine below which nothing is relevant.
PROFILE = RetrievalProfile(words_weight=0.8, cosine_floor=0.5)


@frozen
class LetterEmbeddings:
    """See `openmind.ports.embedding_provider.EmbeddingProvider`. Thread-safe: it keeps nothing."""

    dimension: int
    max_input_chars: int = 100_000
    in_process: bool = True
    profile: RetrievalProfile = PROFILE

    @property
    def identity(self) -> EmbedderIdentity:
        return EmbedderIdentity(provider="letters", model="letters", dimension=self.dimension)

    def embed(self, texts: Sequence[str], *, role: EmbeddingRole) -> Vectors:
        return Vectors.from_rows((self._vector(text) for text in texts), self.dimension)

    def _vector(self, text: str) -> list[float]:
        counts = [0.0] * self.dimension
        data = f" {text.casefold()} ".encode("utf-8", "replace")
        for at in range(len(data) - 2):
            counts[zlib.crc32(data[at : at + 3]) % self.dimension] += 1
        length = sqrt(sum(count * count for count in counts))
        return [count / length for count in counts] if length else [1.0] + [0.0] * (self.dimension - 1)
