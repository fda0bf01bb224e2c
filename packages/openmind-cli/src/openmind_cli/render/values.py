"""Values of settings."""

import json

from openmind_cli.render.clean import one_line

UNSET = "none"


def written(value: object) -> str:
    """A value as config.toml would have it; `none` where nothing is set."""
    if value is None:
        return UNSET
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(written, value))}]"
    return one_line(json.dumps(value, ensure_ascii=False, default=str))


def bare(value: object) -> str:
    """A value by itself: text without quotes."""
    return one_line(value) if isinstance(value, str) else written(value)
