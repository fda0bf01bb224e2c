"""Says that something takes long, while it does."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from openmind.application.models.service import ModelService

from openmind_cli.render.lines import console_on, note
from openmind_cli.suggestions import BUILTIN
from openmind_cli.terminal import redraws

LOADING = "Loading the models; large ones take minutes."


def loading(models: ModelService, keys: Sequence[str], *, quiet: bool = False) -> AbstractContextManager[None]:
    """Say that models are loaded, where one of them has to be: many servers load by themselves, and some are away.

    Raises:
        ProviderUnreachable, ProviderError: the server cannot be asked.
    """
    wanted = set(keys) - {BUILTIN}
    if quiet or not wanted or all(model.loaded is not False for model in models.list() if model.key in wanted):
        return nullcontext()
    return working(LOADING)


@contextmanager
def working(text: str, *, quiet: bool = False) -> Iterator[None]:
    """Show on standard error what is going on until it is done."""
    if quiet:
        yield
    elif redraws(sys.stderr):
        with console_on(sys.stderr).status(text):
            yield
    else:
        note(text)
        yield
