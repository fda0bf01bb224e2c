"""Archives: a memory as one file in open formats, to be kept or taken to another machine."""

from attrs import frozen

from openmind.domain.documents import ExtractedDocument
from openmind.domain.index import IndexIdentity

FORMAT = "openmind-archive"
VERSION = 1
"""Of the archive's layout; a newer one is refused."""


@frozen(kw_only=True)
class Manifest:
    """What an archive says of itself."""

    written_by: str
    """Version of OpenMind."""
    created_at: str
    """ISO 8601, UTC."""
    identity: IndexIdentity | None
    """What the passages were made with; None when nothing was indexed."""
    sources: int
    files: int
    texts: int
    passages: int


@frozen(kw_only=True)
class KeptText:
    """The text of some content, as one extractor version read it."""

    content_hash: str
    extractor: str
    document: ExtractedDocument


@frozen(kw_only=True)
class ExportReport:
    """What was written to an archive."""

    manifest: Manifest
    damaged_files: tuple[str, ...] = ()
    """Paths of the files of which something is damaged, and left out; what else is known of them is in the archive."""


@frozen(kw_only=True)
class ImportReport:
    """What was read from an archive."""

    manifest: Manifest
    files: int
    passages: int
    disabled_sources: tuple[str, ...] = ()
    """Paths of sources whose folder is not there; they came in disabled."""
