"""Words for what other people's code raises: whatever it is, it is told, on one line and no longer than one reads."""

MOST_CHARS = 200
"""Of the text of an error; a parser may quote a whole file."""


def words_of(error: BaseException) -> str:
    """Return the text of an error on one line, cut at `MOST_CHARS`; empty where it has none, or none can be had."""
    try:
        said = " ".join(str(error).split())
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  the text is a stranger's code as well, and the name of the error is enough
        return ""
    return said if len(said) <= MOST_CHARS else f"{said[: MOST_CHARS - 1]}…"


def named(error: BaseException) -> str:
    """Write an error as `ValueError: no luck`: whoever wrote the code looks for the name."""
    said = words_of(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
