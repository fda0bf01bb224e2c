"""What indexing works with, gathered once so that every step of a run can be handed what it needs."""

from collections.abc import Callable
from datetime import datetime

from attrs import frozen

from openmind.application.indexing.formats import Formats
from openmind.application.indexing.tables import TableChoice
from openmind.domain.models import EmbedderIdentity
from openmind.ports.file_tree import FileTree
from openmind.ports.image_describer import ImageDescriber
from openmind.ports.isolated_reader import IsolatedReader
from openmind.ports.preparer import Preparer
from openmind.ports.storage import Storage


@frozen(kw_only=True)
class IndexMeans:
    """The ports and choices of indexing."""

    storage: Storage
    tree: FileTree
    formats: Formats
    choice: Callable[[], TableChoice]
    """Made when a run begins, so that it uses the configuration of that moment."""
    preparer: Callable[[int, bool], Preparer]
    """Makes where files are prepared: (how many files wait, whether vectors of the in-process embedder are wanted)."""
    reader: Callable[[], IsolatedReader]
    """Makes where hostile files are read."""
    now: Callable[[], datetime]
    max_file_bytes: int
    describer: Callable[[], ImageDescriber | None] = lambda: None
    """Gives the model that describes pictures, or None when none does."""
    max_new_tokens: int = 220
    """About how long a description may become."""
    let_go: Callable[[EmbedderIdentity], str] = lambda _: ""
    """Unloads the embedder of a table that is not searched any more; returns a sentence when that went wrong."""
