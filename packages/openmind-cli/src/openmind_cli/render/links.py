"""`file://` links."""

import os
from pathlib import Path


def file_link(path: bytes) -> str:
    """The link to a file, with every byte that a URI cannot carry percent-encoded."""
    return Path(os.fsdecode(path)).as_uri()
