"""Where the model lies: two files inside the installed wordllama wheel."""

from importlib.util import find_spec
from pathlib import Path

from attrs import frozen
from openmind.domain.errors import ModelNotLoaded

WHEEL_VERSION = "0.4.0.post1"
"""The version this package is pinned to: another one may hold other weights, and so another identity."""


@frozen(kw_only=True)
class ModelFiles:
    """The weights and the tokenizer of the model."""

    weights: Path
    tokenizer: Path


def find_model_files() -> ModelFiles:
    """Find the files without importing wordllama: its import costs a second, and its loader asks a hub.

    Raises:
        ModelNotLoaded: the wheel, or one of its files, is not there.
    """
    spec = find_spec("wordllama")
    for folder in (spec and spec.submodule_search_locations) or ():
        files = ModelFiles(
            weights=Path(folder, "weights", "l2_supercat_256.safetensors"),
            tokenizer=Path(folder, "tokenizers", "l2_supercat_tokenizer_config.json"),
        )
        if files.weights.is_file() and files.tokenizer.is_file():
            return files
    raise ModelNotLoaded(
        "the files of the built-in embedder are not installed",
        hint=f"Install wordllama {WHEEL_VERSION} again, or choose another embedding model.",
    )
