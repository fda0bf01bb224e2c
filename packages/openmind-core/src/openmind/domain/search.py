"""What is asked of a memory, and what it answers."""

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum

from attrs import frozen

from openmind.domain.documents import Locator
from openmind.domain.ids import FileId, SourceId
from openmind.domain.sources import ENABLE, Source

DEFAULT_LIMIT = 5
MAX_SEARCH_LIMIT = 50
MAX_QUERY_CHARS = 4_000
"""Longer queries are refused: they are pasted by accident, and every term costs time."""
DEFAULT_PER_FILE = 3
"""Hits of one file in a result, unless asked otherwise."""
DEFAULT_ASK_LIMIT = 5
"""Passages that an answer may rest on, unless asked otherwise."""


@frozen(kw_only=True)
class SearchFilters:
    """What a person narrowed the search to; empty means everything."""

    source_ids: tuple[SourceId, ...] = ()
    folder: str | None = None
    """Absolute path: only files below it."""
    extensions: tuple[str, ...] = ()
    """Lower case, with the dot."""
    modified_after: datetime | None = None
    modified_before: datetime | None = None

    def __bool__(self) -> bool:
        return bool(self.source_ids or self.folder or self.extensions or self.modified_after or self.modified_before)


@frozen(kw_only=True)
class SearchRequest:
    """A search: what is looked for, where, and how much of it is wanted."""

    query: str
    limit: int = DEFAULT_LIMIT
    filters: SearchFilters = SearchFilters()
    per_file: int = DEFAULT_PER_FILE
    """Most hits of one file; 0 means no limit."""


def how_to_begin(sources: Collection[Source]) -> str:
    """Say what to do where nothing can be searched yet, given the sources."""
    if any(source.enabled for source in sources):
        return "Nothing is indexed yet. `openmind index` reads the folders you added."
    if sources:
        return f"Every source is disabled. {ENABLE}."
    return "Nothing is indexed yet. Add a folder with `openmind source add FOLDER`, then read it with `openmind index`."


class SearchState(StrEnum):
    """How a search ended; each calls for something else from the person."""

    OK = "ok"
    NOTHING_INDEXED = "nothing_indexed"
    NOTHING_FOUND = "nothing_found"
    FILTERED_OUT = "filtered_out"
    UNREADABLE = "unreadable"
    """The index could not be searched: this says nothing about the files."""


@frozen(kw_only=True)
class Explanation:
    """Why a hit stands where it does."""

    words_rank: int | None = None
    """From 1; None when the words leg did not find it."""
    words_score: float | None = None
    """BM25."""
    vector_rank: int | None = None
    cosine: float | None = None
    coverage: float = 0.0
    """Rarity-weighted share of the query's terms that the passage has, 0–1."""


@frozen(kw_only=True)
class SearchHit:
    """One passage that was found."""

    id: str
    """Opaque name of the passage, `file_…:index`."""
    file_id: FileId
    source_id: SourceId
    score: float
    """0–1; comparable between searches."""
    path: str
    file_name: str
    extension: str
    title: str
    snippet: str
    text: str
    """The whole passage, verbatim."""
    index: int
    locator: Locator
    metadata: dict[str, object]
    marks: tuple[tuple[int, int], ...] = ()
    """Stretches of the snippet that match, as (start, end) offsets."""
    also_at: tuple[str, ...] = ()
    """Other paths that hold the same passage."""
    explanation: Explanation = Explanation()


@frozen(kw_only=True)
class SearchResult:
    """The answer to a search."""

    query: str
    state: SearchState
    hits: tuple[SearchHit, ...] = ()
    """Best first. With `nothing_found` and `filtered_out` these are the weak ones: nothing here is clearly relevant."""
    degraded: bool = False
    degraded_reason: str = ""
