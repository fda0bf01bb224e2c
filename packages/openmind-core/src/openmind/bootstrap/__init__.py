"""The composition root: configuration and plugins become an open memory.

`opening` has the ways in, `assembly` puts the services together, `providers` and `preparation` make what they use.
"""

from openmind.bootstrap.opening import (
    open_beginning,
    open_checkup,
    open_empty_memory,
    open_memory,
    open_settings,
    open_worker,
)

__all__ = ["open_beginning", "open_checkup", "open_empty_memory", "open_memory", "open_settings", "open_worker"]
