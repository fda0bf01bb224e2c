"""A file made ready to be remembered: its text, cut into passages, analysed and maybe embedded."""

from attrs import field, frozen

from openmind.domain.documents import DocumentFacts
from openmind.domain.files import FileReason
from openmind.domain.passages import Passages
from openmind.domain.vectors import KnownVectors, Vectors


@frozen(kw_only=True)
class PreparationRequest:
    """What has to be prepared: a file to be read, or one whose bytes or text were read before."""

    ticket: int
    """Names the request; comes back with the outcome."""
    path_bytes: bytes
    """Where the file is: its name and path are matched by words."""
    extractor: str = ""
    """Name of an extractor that needs no isolation; unused when `packed` is there."""
    packed: bytes | None = field(default=None, repr=False)
    """Text as `domain.packing` packs it."""
    data: bytes | None = field(default=None, repr=False)
    """The bytes of the file, when they are at hand: it is not opened again, and what is prepared is what was hashed."""
    size: int = 0
    """Bytes of the file, so that a large one can be given the time it takes."""


@frozen(kw_only=True)
class PreparedFile:
    """What became of a request that went well."""

    ticket: int
    packed: bytes | None = field(repr=False)
    """The packed text; None when the request brought it along."""
    facts: DocumentFacts
    passages: Passages = field(repr=False)
    vectors: Vectors | None = field(repr=False)
    """One row a passage, by the embedder that runs in process; None without one."""

    def vectors_of(self, table_id: int) -> dict[int, KnownVectors]:
        """Give the vectors, if there are any, as those of a table."""
        return {} if self.vectors is None else {table_id: KnownVectors(self.vectors)}


@frozen(kw_only=True)
class PreparationFailure:
    """What became of a request that did not."""

    ticket: int
    reason: FileReason
    message: str


Preparation = PreparedFile | PreparationFailure
