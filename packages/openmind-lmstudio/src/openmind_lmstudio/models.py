"""Models as servers list them."""

import re
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Literal

from attrs import evolve, frozen
from openmind.domain.models import ModelInfo

from openmind_lmstudio.wire import Record

ModelType = Literal["llm", "embedding"]

_EMBEDDING_NAME = re.compile(
    r"embed|(^|[-_/.])(bge|e5|gte|minilm|jina-clip|sentence-t5|labse)([-_/.:]|$)", re.IGNORECASE
)
_SEEING_NAME = re.compile(
    r"llava|vision|vlm|[-_/.\d]vl([-_:.]|$)|gemma-?3[-:](4|12|27)b|minicpm-v|moondream|pixtral|internvl", re.IGNORECASE
)


class Dialect(Enum):
    """Which routes a server has."""

    NATIVE = "native"
    """LM Studio 0.4 and later."""
    V0 = "v0"
    """LM Studio 0.3."""
    OPENAI = "openai"
    """Any other server with OpenAI's routes."""


@frozen(kw_only=True)
class Instance:
    """A model in memory."""

    id: str
    context_length: int | None = None


@frozen(kw_only=True)
class Model:
    """A model that a server offers, with everything that a choice or a request depends on."""

    key: str
    name: str
    type: ModelType
    instances: tuple[Instance, ...] = ()
    max_context_length: int | None = None
    quantization: str = ""
    format: str = ""
    variant: str = ""
    vision: bool = False
    reasoning: tuple[str, ...] = ()
    """The reasoning settings it takes; none when it has no switch, which does not mean that it never reasons."""

    @property
    def loaded(self) -> bool:
        return bool(self.instances)

    @property
    def roomiest(self) -> Instance | None:
        """The instance with the longest window; among equals the one that the plain key names."""
        return max(
            self.instances,
            key=lambda instance: (instance.context_length or 0, instance.id == self.key),
            default=None,
        )

    @property
    def revision(self) -> str:
        """What tells two builds of one model apart: `gguf/Q8_0`."""
        build = self.variant.partition("@")[2] or self.quantization
        return "/".join(part for part in (self.format, build) if part)

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(
            key=self.key,
            name=self.name,
            type=self.type,
            loaded=self.loaded,
            supports_images=self.vision,
            max_context_length=self.max_context_length,
            quantization=self.quantization or None,
        )


@frozen(kw_only=True)
class Listing:
    """What a server offers, and how it talks."""

    dialect: Dialect
    models: tuple[Model, ...]

    def find(self, key: str) -> Model | None:
        return next((model for model in self.models if model.key == key), None)


def read_native(reply: Record) -> tuple[Model, ...]:
    """Read `GET /api/v1/models`. Entries of kinds not known here are left out."""
    return _read(reply, "models", _native)


def read_v0(reply: Record) -> tuple[Model, ...]:
    """Read `GET /api/v0/models`."""
    return _read(reply, "data", _v0)


def read_openai(reply: Record) -> tuple[Model, ...]:
    """Read `GET /v1/models`, which gives little more than names."""
    return _read(reply, "data", _openai)


def _read(reply: Record, key: str, parse: Callable[[Record], Model | None]) -> tuple[Model, ...]:
    entries = (parse(Record.of(item)) for item in reply.require_list(key) if isinstance(item, dict))
    return _unique(model for model in entries if model is not None and model.key)


def _unique(models: Iterable[Model]) -> tuple[Model, ...]:
    """Keep each key once, with the instances of all its entries."""
    by_key: dict[str, Model] = {}
    for model in models:
        known = by_key.get(model.key)
        by_key[model.key] = model if known is None else evolve(known, instances=known.instances + model.instances)
    return tuple(by_key.values())


def _native(entry: Record) -> Model | None:
    kind = _type(entry.text("type"))
    if kind is None:
        return None
    capabilities = entry.record("capabilities")
    options = capabilities.record("reasoning").items("allowed_options")
    return Model(
        key=entry.text("key"),
        name=entry.text("display_name") or entry.text("key"),
        type=kind,
        instances=tuple(
            Instance(id=instance.text("id"), context_length=instance.record("config").count("context_length"))
            for instance in entry.records("loaded_instances")
            if instance.text("id")
        ),
        max_context_length=entry.count("max_context_length"),
        quantization=entry.record("quantization").text("name"),
        format=entry.text("format"),
        variant=entry.text("selected_variant"),
        vision=capabilities.flag("vision"),
        reasoning=tuple(option for option in options if isinstance(option, str)),
    )


def _v0(entry: Record) -> Model | None:
    kind = _type(entry.text("type"))
    if kind is None:
        return None
    loaded = entry.text("state") == "loaded"
    instance = Instance(id=entry.text("id"), context_length=entry.count("loaded_context_length"))
    return Model(
        key=entry.text("id"),
        name=entry.text("id"),
        type=kind,
        instances=(instance,) if loaded else (),
        max_context_length=entry.count("max_context_length"),
        quantization=entry.text("quantization"),
        format=entry.text("compatibility_type"),
        vision=entry.text("type") == "vlm",
    )


def _openai(entry: Record) -> Model | None:
    """Guess from the name what a model can do: nothing else tells. llama.cpp and vLLM add the size of the window."""
    key = entry.text("id")
    meta = entry.record("meta")
    window = entry.count("max_model_len") or meta.count("n_ctx") or meta.count("n_ctx_train")
    embeds = _EMBEDDING_NAME.search(key) is not None
    return Model(
        key=key,
        name=key,
        type="embedding" if embeds else "llm",
        instances=(Instance(id=key, context_length=entry.count("max_model_len") or meta.count("n_ctx")),),
        max_context_length=window,
        vision=not embeds and _SEEING_NAME.search(key) is not None,
    )


def _type(told: str) -> ModelType | None:
    if told in ("llm", "vlm"):
        return "llm"
    return "embedding" if told in ("embedding", "embeddings") else None
