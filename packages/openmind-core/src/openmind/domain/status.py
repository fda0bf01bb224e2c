"""What a memory says about itself."""

from attrs import field, frozen

from openmind.domain.files import FileReason
from openmind.domain.ids import SourceId
from openmind.domain.jobs import IndexRun, JobState


@frozen(kw_only=True)
class RemovalReport:
    """What removing a source took out of memory. The folder itself is as it was."""

    source_id: SourceId
    source_path: str
    files_removed: int
    chunks_removed: int


@frozen(kw_only=True)
class MemoryStatus:
    """The state of the memory, cheap enough to ask for every second."""

    version: str
    home: str
    provider: str
    chat_model: str | None
    embedding_model: str
    image_model: str | None
    sources: int
    files: int
    indexed_files: int
    indexed_chunks: int
    missing_vectors: int
    by_reason: dict[FileReason, int] = field(factory=dict)
    indexing_state: JobState | None = None
    """None while nothing is being indexed."""
    last_run: IndexRun | None = None
    last_job_state: JobState | None = None
    unread_kinds: dict[str, int] = field(factory=dict)
    """Files of kinds that nothing reads, by kind, as the last run found them; `files` does not count them."""
    waiting_deletions: int = 0
    missing_sources: tuple[str, ...] = ()
    """Paths of sources whose folder is not there now; what they held is kept."""
    unread_sources: tuple[str, ...] = ()
    """Paths of enabled sources that were added after the last run began; empty before the first run."""
    removal_unfinished: bool = False
    """Whether text of a source that was removed may still be on the disk."""
    disabled_sources: tuple[str, ...] = ()
    """Paths of sources that are neither read nor searched, because a person or an import said so."""
    text_bytes: int = 0
    disk_bytes: int = 0
    """What the store takes up, measured at most a few seconds ago."""
    rebuilding: str = ""
    """A sentence while another table is being filled, or the index is incomplete."""
    broken_plugins: tuple[str, ...] = ()
    searched_by: str = ""
    """The embedding model that the passages are found by; empty while there are none."""
    trouble: str = ""
    """A sentence when the configuration names a provider or an OCR engine that is not there or refuses its settings."""
