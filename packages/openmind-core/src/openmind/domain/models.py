"""Models and what is known about them."""

import hashlib
from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from openmind.domain.errors import OpenMindError

EmbeddingRole = Literal["passage", "query"]


@frozen(kw_only=True)
class EmbedderIdentity:
    """What must be the same for two vectors to be comparable."""

    provider: str
    model: str
    revision: str = ""
    dimension: int
    prompt_version: int = 0
    """Grows when the adapter wraps its input in another way."""

    @property
    def key(self) -> str:
        """A short stable name of this identity, 16 hex characters."""
        parts = (self.provider, self.model, self.revision, str(self.dimension), str(self.prompt_version))
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]


@frozen(kw_only=True)
class RetrievalProfile:
    """How far an embedder is to be trusted beside the words; found by measurement."""

    words_weight: float = 0.5
    """Share of the words leg in the fused score, 0–1."""
    cosine_floor: float = 0.5
    """Below this best cosine the vectors say that nothing is relevant, −1–1."""


@frozen(kw_only=True)
class ModelInfo:
    """A model that a provider offers."""

    key: str
    name: str
    type: Literal["llm", "embedding"]
    loaded: bool | None = False
    """None where the provider does not tell."""
    supports_images: bool = False
    max_context_length: int | None = None
    quantization: str | None = None


@frozen(kw_only=True)
class ModelSelection:
    """The models that a person chose; None switches the capability off."""

    chat_model: str | None = None
    embedding_model: str = "builtin"
    image_model: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The models that are chosen, each once."""
        chosen = (self.chat_model, self.embedding_model, self.image_model)
        return tuple(dict.fromkeys(key for key in chosen if key is not None))


@frozen(kw_only=True)
class ModelAction:
    """What became of one model that was to be loaded or unloaded."""

    model: str
    status: str
    """`loaded`, `unloaded`, `failed: …`, or why it stays as it is."""
    skipped: bool = False

    @property
    def failed(self) -> bool:
        """Whether it could not be done."""
        return self.status.startswith("failed")

    @property
    def reason(self) -> str:
        """Why it could not be done."""
        return self.status.removeprefix("failed: ")


@frozen(kw_only=True)
class SelectionReport:
    """What choosing models changed."""

    provider: str
    selection: ModelSelection
    embedder_changed: bool
    """Whether the index is to be filled anew, beside the one that is searched meanwhile."""
    unloaded: tuple[ModelAction, ...] = ()
    loaded: tuple[ModelAction, ...] = ()


@frozen(kw_only=True)
class ProviderChoice:
    """A provider as a person would configure it."""

    name: str
    settings: Mapping[str, object] = field(factory=dict)
    """The other keys of `[provider]`."""


@frozen(kw_only=True)
class ProviderInfo:
    """A provider that is installed."""

    name: str
    display_name: str
    configured: bool


@frozen(kw_only=True)
class ProviderHealth:
    """Whether the provider answers, in a sentence."""

    provider: str
    reachable: bool
    message: str
    notices: tuple[str, ...] = ()
    """What a person should know even though it answers: that text leaves the machine, that it is an old version."""
    models: tuple[ModelInfo, ...] | None = None
    """What it offers, where it had to be asked for that anyway."""
    error: OpenMindError | None = None
    """Why it is not reachable, where that was an error."""
    fits_better: str | None = None
    """Name of the provider that was made for what answers there, if that is another one."""
