"""Says that something takes long, while it does."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from openmind.application.models.service import ModelService
from openmind.domain.errors import OpenMindError
from openmind.domain.sentences import as_sentence

from openmind_cli.render.clean import one_line
from openmind_cli.render.lines import console_on, note
from openmind_cli.suggestions import BUILTIN
from openmind_cli.terminal import redraws

LOADING = "Loading the models; large ones take minutes."


@contextmanager
def loading(models: ModelService, keys: Sequence[str], *, quiet: bool = False) -> Iterator[None]:
    """Say that models are loaded, where one of them has to be: many servers load by themselves, and some are away.

    Ctrl-C meanwhile tells what the server has loaded by then.

    Raises:
        ProviderUnreachable, ProviderError: the server cannot be asked.
    """
    wanted = [key for key in dict.fromkeys(keys) if key != BUILTIN]
    quiet = quiet or not wanted or all(model.loaded is not False for model in models.list() if model.key in wanted)
    try:
        with working(LOADING, quiet=quiet):
            yield
    except KeyboardInterrupt:
        if wanted:
            note(_where_it_stands(models, wanted))
        note("Nothing else was changed.")
        raise


def _where_it_stands(models: ModelService, wanted: Sequence[str]) -> str:
    """Ask the server once more; a request that was broken off does not keep it from loading on."""
    try:
        loaded = {model.key for model in models.list() if model.loaded}
    except OpenMindError as error:
        return as_sentence(error.message)
    there, others = ([key for key in wanted if (key in loaded) is given] for given in (True, False))
    sentences = [f"Loaded: {', '.join(there)}."] if there else []
    if others:
        sentences.append(
            f"Not loaded so far: {', '.join(others)}. The server may go on: `openmind models list` shows it."
        )
    return one_line(" ".join(sentences))


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
