"""What a scripted LM Studio has in it: models, switches, and what they answer."""

from __future__ import annotations

import hashlib
import itertools
import re
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]

NATIVE_CHAT_FIELDS = frozenset(
    (
        *("model", "input", "system_prompt", "stream", "store", "previous_response_id", "reasoning", "integrations"),
        *("temperature", "top_p", "min_p", "top_k", "repeat_penalty", "max_output_tokens", "context_length"),
    )
)


@dataclass
class ServedModel:
    """One model, loaded or not."""

    key: str
    type: Literal["llm", "embedding"]
    instances: dict[str, int] = field(default_factory=dict)
    """Context length of each loaded instance, by its id."""
    context: int = 4_096
    """What a load allocates."""
    max_context: int = 8_192
    quantization: str | None = "Q8_0"
    variant: str | None = None
    vision: bool = False
    reasoning: tuple[str, ...] = ()
    dimension: int = 64

    def as_native(self) -> Json:
        entry: Json = {
            "type": self.type,
            "publisher": "acme",
            "key": self.key,
            "display_name": self.key.replace("-", " ").title(),
            "quantization": None if self.quantization is None else {"name": self.quantization, "bits_per_weight": 8},
            "size_bytes": 1_000_000,
            "params_string": None,
            "loaded_instances": [
                {"id": id_, "config": {"context_length": context}} for id_, context in self.instances.items()
            ],
            "max_context_length": self.max_context,
            "format": "gguf",
        }
        if self.variant is not None:
            entry |= {"variants": [self.variant], "selected_variant": self.variant}
        if self.type == "llm":
            capabilities: Json = {"vision": self.vision, "trained_for_tool_use": False}
            if self.reasoning:
                capabilities["reasoning"] = {"allowed_options": list(self.reasoning), "default": self.reasoning[0]}
            entry |= {"architecture": "acme", "description": None, "capabilities": capabilities}
        return entry

    def as_v0(self) -> Json:
        kind = "embeddings" if self.type == "embedding" else "vlm" if self.vision else "llm"
        entry: Json = {"id": self.key, "object": "model", "type": kind, "max_context_length": self.max_context}
        entry |= {"quantization": self.quantization, "compatibility_type": "gguf", "arch": "acme"}
        if self.instances:
            return entry | {"state": "loaded", "loaded_context_length": max(self.instances.values())}
        return entry | {"state": "not-loaded"}

    def load(self, context: int | None = None) -> str:
        """Add an instance; a second one gets a number, as LM Studio does it."""
        used = {self.key, *self.instances} if self.instances else set()
        numbered = (f"{self.key}:{n}" for n in itertools.count(2))
        id_ = next(name for name in itertools.chain([self.key], numbered) if name not in used)
        self.instances[id_] = context or self.context
        return id_


def embedding(key: str = "text-embedding-acme", *, loaded: bool = True, **known: Any) -> ServedModel:
    """Make an embedding model."""
    model = ServedModel(key, "embedding", **{"context": 2_048, "max_context": 2_048, **known})
    if loaded:
        model.load()
    return model


def llm(key: str = "acme/chat", *, loaded: bool = True, **known: Any) -> ServedModel:
    """Make a chat model."""
    model = ServedModel(key, "llm", **known)
    if loaded:
        model.load()
    return model


@dataclass
class Studio:
    """The state of the server. Tests change it while the server runs."""

    models: list[ServedModel] = field(default_factory=lambda: [embedding(), llm(), llm("acme/eyes", vision=True)])
    version: Literal["0.4", "0.3", "other"] = "0.4"
    """`0.3` has no `/api/v1`; `other` has neither `/api` route: some other server with OpenAI's routes."""
    jit: bool = True
    """Whether a request loads its model."""
    auto_evict: bool = False
    """Whether a model that a request loads drives out the one that a request loaded before."""
    token: str | None = None
    answer: list[str] = field(default_factory=lambda: ["It says ", "so ", "[1]."])
    thoughts: list[str] = field(default_factory=lambda: ["Let me ", "see."])
    always_reasons: bool = False
    """Whether the model reasons even when it is asked not to."""
    description: str = "A red bicycle leans on a wall."
    pause_s: float = 0.0
    """Between two pieces of an answer."""
    embed_s: float = 0.0
    """What a batch takes."""
    crash_text: str | None = None
    """A text that holds this takes the engine down."""
    context_ignored: int | None = None
    """What a load allocates whatever was asked for."""
    jit_loaded: list[ServedModel] = field(default_factory=list)
    evicted: list[str] = field(default_factory=list)
    """Keys of the models that were driven out, in order."""
    response_ids: list[str] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def find(self, name: str) -> ServedModel | None:
        """Find a model by key or instance id."""
        return next((model for model in self.models if name == model.key or name in model.instances), None)

    def load_on_request(self, model: ServedModel) -> None:
        """Load a model because somebody asked it something."""
        with self.lock:
            for other in self.jit_loaded if self.auto_evict else []:
                other.instances.clear()
                self.evicted.append(other.key)
            self.jit_loaded[:] = [model] if self.auto_evict else [*self.jit_loaded, model]
            model.load()

    def vector(self, text: str, dimension: int) -> list[float]:
        """Sum up a direction for each word, so that texts with the same words are near; not unit length."""
        sums = [0.0] * dimension
        for word in re.findall(r"\w+|\S", text.lower()):
            digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=16).digest()
            for at in range(0, 16, 4):
                sums[int.from_bytes(digest[at : at + 2], "big") % dimension] += 1.0 if digest[at + 2] & 1 else -1.0
        return sums if any(sums) else [1.0] + [0.0] * (dimension - 1)

    def new_response_id(self) -> str:
        with self.lock:
            id_ = f"resp_{len(self.response_ids) + 1:04d}"
            self.response_ids.append(id_)
            return id_

    def work(self, seconds: float) -> None:
        if seconds:
            time.sleep(seconds)
