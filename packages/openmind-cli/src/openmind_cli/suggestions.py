"""Which models are suggested."""

from collections.abc import Callable, Iterable, Sequence

from openmind.domain.models import ModelInfo, ModelSelection

from openmind_cli.render.clean import one_line

BUILTIN = "builtin"
RECOMMENDED_EYES = "SmolVLM-500M-Instruct"
"""Small, fast, and good enough to find a picture by."""
FEW_MODELS = 8
"""Of more, those are named that are most like what was typed."""


def chat_models(models: Iterable[ModelInfo]) -> tuple[ModelInfo, ...]:
    """The models that can answer."""
    return tuple(model for model in models if model.type == "llm")


def embedding_models(models: Iterable[ModelInfo]) -> tuple[ModelInfo, ...]:
    """The models that can embed, the built-in one last."""
    return tuple(sorted((m for m in models if m.type == "embedding"), key=lambda model: model.key == BUILTIN))


def image_models(models: Iterable[ModelInfo]) -> tuple[ModelInfo, ...]:
    """The models that see, the recommended one first."""
    return tuple(sorted((m for m in models if m.supports_images), key=lambda model: not is_recommended(model)))


def is_recommended(model: ModelInfo) -> bool:
    """Whether it is the model that is recommended for pictures, in whatever build."""
    wanted = _letters(RECOMMENDED_EYES)
    return wanted in _letters(model.key) or wanted in _letters(model.name)


def suggested(models: Sequence[ModelInfo], former: ModelSelection) -> ModelSelection:
    """What to use of what is there: what was used before, else what is loaded, else the first.

    A picture model is suggested only when it was used before or is the recommended one: describing takes long.
    """
    chat, embedding, image = chat_models(models), embedding_models(models), image_models(models)
    plain = [model for model in chat if not is_recommended(model)]
    return ModelSelection(
        chat_model=_first(plain, former.chat_model),
        embedding_model=_first([m for m in embedding if m.key != BUILTIN], former.embedding_model) or BUILTIN,
        image_model=_first([m for m in image if is_recommended(m) or m.key == former.image_model], former.image_model),
    )


def advice(models: Sequence[ModelInfo]) -> tuple[str, ...]:
    """Say what to download where a kind of model is missing."""
    told: list[str] = []
    if not any(model.key != BUILTIN for model in embedding_models(models)):
        told.append(
            "There is no embedding model, so the built-in one is used. A better one to download: "
            "text-embedding-nomic-embed-text-v1.5."
        )
    if not chat_models(models):
        told.append("There is no chat model, so `ask` shows passages. Any instruct model that fits in memory will do.")
    if not image_models(models):
        told.append(f"There is no model that sees. For descriptions of pictures, download {RECOMMENDED_EYES}.")
    if told:
        told.append("After a download, `openmind models update` chooses anew.")
    return tuple(told)


def advice_for_none(models: Sequence[ModelInfo]) -> tuple[str, ...]:
    """Say what to download to a server without any model; nothing where there is one."""
    return () if any(model.key != BUILTIN for model in models) else advice(models)


def _first(models: Sequence[ModelInfo], former: str | None) -> str | None:
    order: tuple[Callable[[ModelInfo], bool], ...] = (
        lambda m: m.key == former,
        lambda m: bool(m.loaded),
        lambda m: True,
    )
    return next((model.key for fits in order for model in models if fits(model)), None)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def nearest(key: str, there: Sequence[str]) -> str:
    """Say which models there are; of many, those that are most like the one that was typed."""
    import difflib  # waits until somebody mistypes

    shown = there if len(there) <= FEW_MODELS else difflib.get_close_matches(key, there, n=FEW_MODELS, cutoff=0.5)
    named = ", ".join(map(one_line, shown))
    if len(shown) == len(there):
        return f"There are: {named}."
    return f"There are {len(there):,}; `openmind models list` shows them." + (f" Nearest: {named}." if named else "")
