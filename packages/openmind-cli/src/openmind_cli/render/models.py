"""Models, and what became of them."""

from collections.abc import Iterable, Iterator, Sequence

from openmind.domain.models import ModelAction, ModelInfo, ModelSelection, SelectionReport

from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import Line, Span, line, print_columns

WIDTH = 17
_AS_IT_SHOULD_BE = {"loaded", "unloaded"}
_STATES = {True: "loaded", False: "-", None: "unknown"}


def print_models(models: Iterable[ModelInfo], selection: ModelSelection) -> None:
    """Print models: key, what they can do, whether they are loaded, window, build, and what they are used for."""
    rows = [
        (
            one_line(model.key),
            _abilities(model),
            _STATES[model.loaded],
            f"{model.max_context_length:,}" if model.max_context_length else "-",
            one_line(model.quantization or "-"),
            ", ".join(uses_of(model.key, selection)) or "-",
        )
        for model in models
    ]
    print_columns(rows, heads=("key", "can", "state", "window", "build", "used for"), wide=("key", "can", "used for"))


def uses_of(key: str, selection: ModelSelection) -> Iterator[str]:
    """What a model is used for."""
    uses = {"chat": selection.chat_model, "embedding": selection.embedding_model, "images": selection.image_model}
    return (use for use, chosen in uses.items() if chosen == key)


def selection_lines(provider: str, selection: ModelSelection, *, images: bool | None) -> Iterator[Line]:
    """A choice of models, line by line."""
    yield pair("provider", provider)
    yield pair("embedding model", selection.embedding_model)
    yield pair("chat model", selection.chat_model or "none: `ask` shows passages")
    pictures = "none: pictures are left out" if images is False else "none: pictures are found by what is on them"
    yield pair("image model", selection.image_model or pictures)


def report_lines(report: SelectionReport) -> Iterator[Line]:
    """What became of the models of a choice."""
    yield from action_lines((*report.unloaded, *report.loaded))


def action_lines(actions: Sequence[ModelAction]) -> Iterator[Line]:
    """What became of models, line by line; what was as it should be already goes without saying."""
    for action in actions:
        if action.failed or not action.skipped or action.status not in _AS_IT_SHOULD_BE:
            style = "bold red" if action.failed else "green"
            yield line(one_line(action.model), ": ", Span(one_line(action.status), style), indent=2)


def _abilities(model: ModelInfo) -> str:
    if model.type == "embedding":
        return "embed"
    return "chat, see" if model.supports_images else "chat"


def pair(name: str, value: str) -> Line:
    """A name and a value, one below the other."""
    return line(Span(f"{name:<{WIDTH}}", "dim"), one_line(value), indent=2)
