"""OpenMind: a local memory over the folders a person approves.

```python
from openmind import open_memory

with open_memory() as memory:
    memory.sources.add("~/Documents/notes")
    memory.index()
    for hit in memory.search("rent increase").hits:
        print(hit.path, hit.snippet)
```
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openmind.application.memory import OpenMind
    from openmind.bootstrap import open_memory

__all__ = ["OpenMind", "open_memory"]


def __getattr__(name: str) -> object:
    """Import the public names when they are used: the command line asks for much less than all of them."""
    if name == "open_memory":
        from openmind.bootstrap import open_memory

        return open_memory
    if name == "OpenMind":
        from openmind.application.memory import OpenMind

        return OpenMind
    raise AttributeError(f"module 'openmind' has no attribute {name!r}")
