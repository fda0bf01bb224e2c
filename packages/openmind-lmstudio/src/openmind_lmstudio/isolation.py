"""Finds the text that a batch fails because of."""

from collections.abc import Callable
from math import hypot

from openmind.domain.errors import ContextOverflow, PassageRefused, ProviderError
from openmind.domain.vectors import Vectors

from openmind_lmstudio.errors import EngineCrashed, RequestRefused, ServerFailed, TooSlow
from openmind_lmstudio.vectors import NoVector

HARMLESS = "OpenMind"
DIVISIBLE = 64
"""Characters of a text that may still be divided when it is too long."""
RECOVERY_S = 1.0
"""What an engine gets to come back after a crash."""

_BATCH_FAILURES = (EngineCrashed, RequestRefused, ContextOverflow, ServerFailed, TooSlow)
"""Failures of a batch that one of its texts may have caused."""

Send = Callable[[list[str]], Vectors]


def embed_or_isolate(batch: list[str], send: Send, *, sleep: Callable[[float], None], start: int = 0) -> Vectors:
    """Embed a batch; when it fails, halve it until the text that it fails because of stands alone.

    Args:
        batch: one text or more.
        send: embeds texts in one request.
        sleep: waits.
        start: what the first text of the batch is counted as.

    Raises:
        PassageRefused: one text cannot be embedded, although the server works.
        ProviderError: the server does not work.
    """
    try:
        return send(batch)
    except NoVector as error:
        raise _blame(batch[error.index], start + error.index, send, error) from error
    except _BATCH_FAILURES as error:
        if len(batch) == 1 and isinstance(error, ContextOverflow) and len(batch[0]) >= DIVISIBLE:
            return _in_halves(batch[0], send, sleep, start)
        _recover(error, sleep)
        if len(batch) == 1:
            return _try_again(batch, send, sleep, start)
    middle = len(batch) // 2
    first = embed_or_isolate(batch[:middle], send, sleep=sleep, start=start)
    second = embed_or_isolate(batch[middle:], send, sleep=sleep, start=start + middle)
    return Vectors.concat([first, second], first.dimension)


def _in_halves(text: str, send: Send, sleep: Callable[[float], None], start: int) -> Vectors:
    """Embed a text that a server finds too long as the mean of its halves.

    llama.cpp's server takes no more than its physical batch, 512 tokens where nobody said otherwise, whatever the
    window is that it tells.
    """
    middle = len(text) // 2
    halves = [part.strip() or HARMLESS for part in (text[:middle], text[middle:])]
    parts = [embed_or_isolate([half], send, sleep=sleep, start=start) for half in halves]
    dimension = parts[0].dimension
    rows = Vectors.concat(parts, dimension).rows()
    sums = list(map(sum, zip(*rows, strict=True)))
    length = hypot(*sums)
    return Vectors.from_rows([[total / length for total in sums] if length > 0 else rows[0]], dimension)


def _try_again(batch: list[str], send: Send, sleep: Callable[[float], None], start: int) -> Vectors:
    """Give a lone text a second chance: the failure may have come from elsewhere."""
    try:
        return send(batch)
    except (NoVector, *_BATCH_FAILURES) as error:
        _recover(error, sleep)
        raise _blame(batch[0], start, send, error) from error


def _blame(text: str, index: int, send: Send, error: ProviderError) -> ProviderError:
    """Name the text as the cause, unless the server fails at a harmless one too: then it is the server."""
    try:
        send([HARMLESS])
    except ProviderError as also:
        return also
    return PassageRefused(f"a passage of {len(text)} characters cannot be embedded: {error.message}", index=index)


def _recover(error: ProviderError, sleep: Callable[[float], None]) -> None:
    if isinstance(error, EngineCrashed):
        sleep(RECOVERY_S)
