"""Where an error came from, without its message: that may quote a document, a query or a token."""

import traceback


def traced(error: BaseException) -> list[dict[str, object]]:
    """Describe an error and what it came from, first cause last: types and places alone."""
    found: list[dict[str, object]] = []
    current: BaseException | None = error
    while current is not None and len(found) < 10:
        frames = traceback.extract_tb(current.__traceback__)
        found.append(
            {
                "type": f"{type(current).__module__}.{type(current).__qualname__}",
                "errno": current.errno if isinstance(current, OSError) else None,
                "frames": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
            }
        )
        current = current.__cause__ or current.__context__
    return found
