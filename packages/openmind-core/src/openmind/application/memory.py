"""The memory as a whole: its services, and the verbs that call them."""

import os
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from attrs import field, frozen

from openmind.application.path_arguments import path_text
from openmind.application.recent_measure import RecentMeasure
from openmind.domain.arguments import function, texts, yes_or_no
from openmind.domain.config import Config
from openmind.domain.control import RunControl
from openmind.domain.errors import ConfigError, UsageError
from openmind.domain.events import EventSink, ignore
from openmind.domain.ids import SourceId
from openmind.domain.plugins import PluginReports
from openmind.domain.search import (
    DEFAULT_ASK_LIMIT,
    DEFAULT_LIMIT,
    DEFAULT_PER_FILE,
    SearchFilters,
    SearchRequest,
    SearchResult,
)
from openmind.domain.sentences import as_sentence
from openmind.ports.storage import Storage

if TYPE_CHECKING:  # each is loaded when it is used: a search, for one, neither indexes nor asks
    from openmind.application.asking.service import AskService
    from openmind.application.documents import DocumentService
    from openmind.application.indexing.service import IndexService
    from openmind.application.jobs.service import JobService
    from openmind.application.maintenance.service import MaintenanceService
    from openmind.application.models.service import ModelService
    from openmind.application.searching.service import SearchService
    from openmind.application.sources import SourceService
    from openmind.domain.answers import Answer
    from openmind.domain.jobs import IndexReport
    from openmind.domain.status import MemoryStatus
    from openmind.ports.file_tree import FileTree


class Services(Protocol):
    """The services of one memory. Each is imported and made when it is first asked for. Thread-safe."""

    @property
    def tree(self) -> "FileTree": ...
    @property
    def sources(self) -> "SourceService": ...
    @property
    def indexing(self) -> "IndexService": ...
    @property
    def jobs(self) -> "JobService": ...
    @property
    def searching(self) -> "SearchService": ...
    @property
    def asking(self) -> "AskService": ...
    @property
    def documents(self) -> "DocumentService": ...
    @property
    def models(self) -> "ModelService": ...
    @property
    def maintenance(self) -> "MaintenanceService": ...


@frozen(kw_only=True)
class OpenMind:
    """A memory that is open: `with open_memory() as memory`. Thread-safe."""

    home: Path
    version: str
    config: Config
    storage: Storage
    services: Services = field(repr=False)
    plugins: PluginReports
    check_settings: Callable[[], object] = lambda: None
    """Raises `ConfigError` when the configured provider or OCR engine is not there, or refuses its settings."""
    _disk_bytes: RecentMeasure[int] = field(init=False, repr=False, eq=False)
    """A store has hundreds of files, and a status is asked for every second."""

    @_disk_bytes.default
    def _measure_disk_bytes(self) -> RecentMeasure[int]:
        return RecentMeasure(self.storage.size_bytes)

    @property
    def sources(self) -> "SourceService":
        """The folders that may be read."""
        return self.services.sources

    @property
    def indexing(self) -> "IndexService":
        """Runs that read what is new or changed."""
        return self.services.indexing

    @property
    def jobs(self) -> "JobService":
        """Runs in the background."""
        return self.services.jobs

    @property
    def searching(self) -> "SearchService":
        """Finding passages."""
        return self.services.searching

    @property
    def asking(self) -> "AskService":
        """Answering from passages."""
        return self.services.asking

    @property
    def documents(self) -> "DocumentService":
        """What is known of single files."""
        return self.services.documents

    @property
    def models(self) -> "ModelService":
        """Which models there are, and which are used."""
        return self.services.models

    @property
    def maintenance(self) -> "MaintenanceService":
        """Examining, repairing, measuring and emptying the memory."""
        return self.services.maintenance

    @property
    def tree(self) -> "FileTree":
        """The folders as they are on the disk."""
        return self.services.tree

    def trouble(self) -> str:
        """Say what is wrong with the configured provider or OCR engine, no server asked; mostly nothing."""
        try:
            self.check_settings()
        except ConfigError as error:
            return f"{as_sentence(error.message)} {error.hint}".strip()
        return ""

    def index(
        self,
        *,
        progress: EventSink = ignore,
        control: RunControl | None = None,
        accept_deletions: bool = False,
        retry: bool = False,
    ) -> "IndexReport":
        """Bring memory up to date with the sources; see `IndexService.run`.

        Raises:
            IndexingBusy: another process is indexing, or a background job is unfinished.
            UsageError: an argument is of the wrong type.
        """
        function(progress, "progress")
        if control is not None:
            function(getattr(control, "wish", None), "the wish of control")
        yes_or_no(accept_deletions, "accept_deletions")
        yes_or_no(retry, "retry")
        self.jobs.refuse_beside_job()
        return self.indexing.run(progress=progress, control=control, accept_deletions=accept_deletions, retry=retry)

    def search(
        self,
        query: str,
        *,
        limit: int = DEFAULT_LIMIT,
        sources: Iterable[SourceId] = (),
        folder: Path | str | None = None,
        extensions: Iterable[str] = (),
        modified_after: datetime | None = None,
        modified_before: datetime | None = None,
        per_file: int = DEFAULT_PER_FILE,
    ) -> SearchResult:
        """Find passages by words and by meaning, best first.

        Args:
            query: any text; double quotes mean a phrase.
            limit: most hits, 1–50.
            sources: only files of these sources.
            folder: only files below this path.
            extensions: only files with these, `.md` or `md`.
            modified_after: only files changed then or later.
            modified_before: only files changed then or earlier.
            per_file: most hits of one file; 0 means no limit.

        Raises:
            EmptyQuery: the query has no text.
            UsageError: an argument is out of bounds or of the wrong type.
            MemoryClosed: this memory was closed.
        """
        filters = _filters(sources, folder, extensions, modified_after, modified_before)
        return self.searching.search(SearchRequest(query=query, limit=limit, filters=filters, per_file=per_file))

    def ask(
        self,
        question: str,
        *,
        limit: int = DEFAULT_ASK_LIMIT,
        reasoning: bool = False,
        sources: Iterable[SourceId] = (),
        folder: Path | str | None = None,
        extensions: Iterable[str] = (),
        modified_after: datetime | None = None,
        modified_before: datetime | None = None,
    ) -> "Answer":
        """Answer a question from the files; without a chat model the answer is the excerpts themselves.

        Args:
            question: any text.
            limit: most excerpts the answer may rest on, 1–20.
            reasoning: whether the model may think first, and tell what it thought.
            sources: only files of these sources; this and what follows as in `search`.
            folder: only files below this path.
            extensions: only files with these.
            modified_after: only files changed then or later.
            modified_before: only files changed then or earlier.

        Raises:
            EmptyQuery: the question has no text.
            UsageError: an argument is out of bounds or of the wrong type.
            MemoryClosed: this memory was closed.
        """
        from openmind.domain.answers import AskRequest  # waits for a question

        filters = _filters(sources, folder, extensions, modified_after, modified_before)
        return self.asking.ask(AskRequest(question=question, limit=limit, reasoning=reasoning, filters=filters))

    def missing_sources(self) -> tuple[str, ...]:
        """Name the enabled sources whose folders are not there now; what was read from them is kept."""
        from openmind.application.standing import absent  # waits: most processes end without a status

        return tuple(source.path for source in absent(self.tree, self.sources.list()))

    def status(self) -> "MemoryStatus":
        """Say what is remembered and what is under way."""
        from openmind.application.standing import status_of  # as above

        return status_of(self, disk_bytes=self._disk_bytes.found())


def _filters(
    sources: Iterable[SourceId],
    folder: Path | str | None,
    extensions: Iterable[str],
    modified_after: datetime | None,
    modified_before: datetime | None,
) -> SearchFilters:
    for name, moment in (("modified_after", modified_after), ("modified_before", modified_before)):
        if not isinstance(moment, datetime | None):
            raise UsageError(f"{name} must be a datetime, not {moment!r}", hint="Such as `datetime(2026, 1, 31)`.")
    return SearchFilters(
        source_ids=tuple(map(SourceId, texts(sources, "sources"))),
        folder=None if folder is None else os.path.abspath(os.path.expanduser(path_text(folder, "the folder"))),  # noqa: PTH100, PTH111  no link is followed
        extensions=tuple(map(_with_dot, texts(extensions, "extensions"))),
        modified_after=modified_after,
        modified_before=modified_before,
    )


def _with_dot(extension: str) -> str:
    lowered = extension.strip().lower()
    return lowered if lowered.startswith(".") or not lowered else f".{lowered}"
