"""The composition root: configuration and plugins become an open memory.

`opening` and its neighbours `filling`, `beginning`, `settings` and `working` have the ways in, `assembly` and
`services` put a memory together, `providers` and `preparation` make what that uses.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openmind.bootstrap.beginning import open_beginning
    from openmind.bootstrap.filling import open_empty_memory
    from openmind.bootstrap.opening import open_checkup, open_memory
    from openmind.bootstrap.settings import open_settings
    from openmind.bootstrap.working import open_worker

__all__ = ["open_beginning", "open_checkup", "open_empty_memory", "open_memory", "open_settings", "open_worker"]

WAYS_IN = {
    "open_beginning": "beginning",
    "open_checkup": "opening",
    "open_empty_memory": "filling",
    "open_memory": "opening",
    "open_settings": "settings",
    "open_worker": "working",
}
"""The module of each: who takes one way in does not import the others."""


def __getattr__(name: str) -> object:
    if name not in WAYS_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{WAYS_IN[name]}"), name)
