"""Sources: the folders that a person approved."""

from collections.abc import Collection

from attrs import frozen

from openmind.domain.errors import NoSources
from openmind.domain.ids import SourceId
from openmind.domain.paths import displayable, is_within


@frozen(kw_only=True)
class Source:
    """An approved folder."""

    id: SourceId
    path_bytes: bytes
    """Absolute, links resolved."""
    recursive: bool = True
    enabled: bool = True
    created_at: str
    """ISO 8601, UTC."""
    kind: str = "folder"
    config: str = "{}"
    """JSON object; reserved for kinds that need more than a path."""
    device: int | None = None
    """Device number of the folder when it was last seen with files; an unmounted disk shows another."""
    ocr: bool = True
    """Whether scanned pages and pictures are read by OCR."""
    code: bool = False
    """Whether source code and JSON are indexed too."""

    @property
    def path(self) -> str:
        """The path as it is shown to people."""
        return displayable(self.path_bytes)

    def covers(self, path: bytes) -> bool:
        """Whether a folder at `path` would be read, wholly or in part, through this source."""
        return path == self.path_bytes or (self.recursive and is_within(path, self.path_bytes))

    def overlaps(self, path: bytes, *, recursive: bool) -> bool:
        """Whether a new source at `path` would read files that this one reads."""
        return self.covers(path) or (recursive and is_within(self.path_bytes, path))


ENABLE = "`openmind source set FOLDER --enable` has one read and searched again"


def require_readable(sources: Collection[Source]) -> None:
    """Refuse to index where no source is to be read.

    Raises:
        NoSources: there is none, or each is disabled.
    """
    if not sources:
        raise NoSources("There is no folder to index yet", hint="Add one: `openmind source add FOLDER`.")
    if not any(source.enabled for source in sources):
        raise NoSources("Every source is disabled", hint=f"{ENABLE}.")
