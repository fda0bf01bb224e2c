"""The built-in embedder. Importing this module, or asking for the identity, loads neither numpy nor the model."""

from collections.abc import Sequence
from threading import Lock
from typing import Protocol

from attrs import define, field
from openmind.domain.errors import ModelNotFound
from openmind.domain.models import EmbedderIdentity, EmbeddingRole, RetrievalProfile
from openmind.domain.vectors import Vectors

from openmind_wordllama.model_files import WHEEL_VERSION, find_model_files

MODEL = "builtin"
DIMENSION = 256
IDENTITY = EmbedderIdentity(
    provider="builtin",
    model=MODEL,
    revision=f"wordllama-{WHEEL_VERSION}/l2_supercat_256/words-1",
    dimension=DIMENSION,
)
PROFILE = RetrievalProfile(words_weight=0.65, cosine_floor=0.4)


class Embed(Protocol):
    """What the loaded model does."""

    def __call__(self, texts: Sequence[str], *, keep: bool) -> bytes: ...


@define
class WordLlamaEmbeddings:
    """Embeds text as the mean of its tokens' vectors, offline. Thread-safe.

    The model is static: it knows no order of words and no context, and treats passages and queries alike. It reads
    about five thousand passages of 800 characters in a second of CPU.
    """

    model: str = MODEL
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)
    _loaded: Embed | None = field(default=None, init=False, repr=False, eq=False)

    @property
    def identity(self) -> EmbedderIdentity:
        self._require_known()
        return IDENTITY

    @property
    def max_input_chars(self) -> int:
        """There is no window: this only says that whole books make poor vectors."""
        return 1_000_000

    @property
    def in_process(self) -> bool:
        return True

    @property
    def profile(self) -> RetrievalProfile:
        return PROFILE

    def embed(self, texts: Sequence[str], *, role: EmbeddingRole) -> Vectors:
        self._require_known()
        if not texts:
            return Vectors.empty(DIMENSION)
        # Passages share their words; those of queries would fill the memory of a server that runs for weeks.
        return Vectors(self._embed()(texts, keep=role == "passage"), DIMENSION)

    def _require_known(self) -> None:
        if self.model != MODEL:
            raise ModelNotFound(
                f"the built-in provider has no model “{self.model}”",
                hint=f'Its only embedding model is "{MODEL}".',
            )

    def _embed(self) -> Embed:
        with self._lock:
            if self._loaded is None:
                from openmind_wordllama.word_vectors import WordVectors  # numpy and tokenizers wait for the first text

                self._loaded = WordVectors.load(find_model_files()).embed
            return self._loaded
