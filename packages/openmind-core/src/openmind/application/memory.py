"""The memory as a whole: its services, and the verbs that call them."""

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

from openmind.application.asking.service import AskService
from openmind.application.documents import DocumentService
from openmind.application.indexing.discovery import number_waiting, waiting_key
from openmind.application.indexing.service import IndexService
from openmind.application.jobs.service import JobService
from openmind.application.models.service import ModelService
from openmind.application.path_arguments import path_text
from openmind.application.recent_measure import RecentMeasure
from openmind.application.recovering.suspicion import damage, seals_of
from openmind.application.recovering.sweeping import owes_erasure
from openmind.application.searching.service import SearchService
from openmind.application.sources import SourceService
from openmind.domain.answers import DEFAULT_ASK_LIMIT, Answer, AskRequest
from openmind.domain.arguments import function, texts, yes_or_no
from openmind.domain.config import Config
from openmind.domain.control import RunControl
from openmind.domain.errors import ConfigError, UsageError
from openmind.domain.events import EventSink, ignore
from openmind.domain.ids import SourceId
from openmind.domain.index import IndexTable, TableState
from openmind.domain.jobs import IndexJob, IndexReport, IndexRun, JobState, as_its_job_ended, latest_of
from openmind.domain.plugins import PluginReports
from openmind.domain.search import DEFAULT_LIMIT, DEFAULT_PER_FILE, SearchFilters, SearchRequest, SearchResult
from openmind.domain.sentences import as_sentence
from openmind.domain.sources import Source
from openmind.domain.status import MemoryStatus
from openmind.domain.unread import added, of_setting, unread_key
from openmind.ports.file_tree import FileTree
from openmind.ports.storage import Storage

if TYPE_CHECKING:  # it is loaded when it is used: most commands read only
    from openmind.application.maintenance.service import MaintenanceService


@frozen(kw_only=True)
class OpenMind:
    """A memory that is open: `with open_memory() as memory`. Thread-safe."""

    home: Path
    version: str
    config: Config
    sources: SourceService
    indexing: IndexService
    jobs: JobService
    searching: SearchService
    asking: AskService
    documents: DocumentService
    models: ModelService
    storage: Storage
    tree: FileTree
    plugins: PluginReports
    check_settings: Callable[[], object] = lambda: None
    """Raises `ConfigError` when the configured provider or OCR engine is not there, or refuses its settings."""
    upkeep: Callable[["OpenMind"], "MaintenanceService"]
    """Makes the service of maintenance, which few processes need."""
    _disk_bytes: RecentMeasure[int] = field(init=False, repr=False, eq=False)
    """A store has hundreds of files, and a status is asked for every second."""

    @_disk_bytes.default
    def _measure_disk_bytes(self) -> RecentMeasure[int]:
        return RecentMeasure(self.storage.size_bytes)

    def trouble(self) -> str:
        """Say what is wrong with the configured provider or OCR engine, no server asked; mostly nothing."""
        try:
            self.check_settings()
        except ConfigError as error:
            return f"{as_sentence(error.message)} {error.hint}".strip()
        return ""

    @property
    def maintenance(self) -> "MaintenanceService":
        """Examining, repairing, measuring and emptying the memory."""
        return self.upkeep(self)

    def index(
        self,
        *,
        progress: EventSink = ignore,
        control: RunControl | None = None,
        accept_deletions: bool = False,
        retry: bool = False,
    ) -> IndexReport:
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
    ) -> Answer:
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
        filters = _filters(sources, folder, extensions, modified_after, modified_before)
        return self.asking.ask(AskRequest(question=question, limit=limit, reasoning=reasoning, filters=filters))

    def missing_sources(self) -> tuple[str, ...]:
        """Name the enabled sources whose folders are not there now; what was read from them is kept."""
        return tuple(source.path for source in self._absent(self.sources.list()))

    def _absent(self, sources: Sequence[Source]) -> list[Source]:
        return [source for source in sources if source.enabled and not self.tree.root(source).present]

    def status(self) -> MemoryStatus:
        """Say what is remembered and what is under way."""
        with self.storage.catalog.reading() as snapshot:
            sources = snapshot.sources()
            counts = snapshot.counts()
            runs = snapshot.runs(limit=1)
            tables = snapshot.tables()
            absent = self._absent(sources)
            # What an earlier run found gone from a folder that is away now may come back with it.
            waiting = [snapshot.setting(waiting_key(source.id)) for source in sources if source not in absent]
            unread = [of_setting(snapshot.setting(unread_key(source.id))) for source in sources if source.enabled]
            latest = snapshot.latest_job()
            owed = owes_erasure(snapshot)
            noted = seals_of(snapshot)
        job = None if latest is None else self.jobs.as_it_is(latest)
        run = self.jobs.believable_run(runs[0]) if runs else None
        state = _state_now(job, run)
        return MemoryStatus(
            version=self.version,
            home=str(self.home),
            provider=self.config.provider_name,
            chat_model=self.config.models.chat_model,
            embedding_model=self.config.models.embedding_model,
            image_model=self.config.extraction.images.model,
            sources=len(sources),
            files=counts.files,
            indexed_files=counts.indexed_files,
            indexed_chunks=counts.chunks,
            missing_vectors=counts.missing_vectors,
            by_reason=counts.by_reason,
            indexing_state=state,
            last_run=as_its_job_ended(run, job),
            last_job_state=job.state if job is not None else None,
            unread_kinds=added(*unread),
            waiting_deletions=sum(map(number_waiting, waiting)),
            disabled_sources=tuple(source.path for source in sources if not source.enabled),
            missing_sources=tuple(source.path for source in absent),
            unread_sources=_added_since(run, sources),
            removal_unfinished=owed,
            text_bytes=counts.text_bytes,
            disk_bytes=self._disk_bytes.found(),
            rebuilding=_rebuilding(tables) or ("" if state is not None else damage(noted, self.storage.chunks)),
            broken_plugins=tuple(report.name for report in self.plugins.broken),
            searched_by=_searched_by(tables),
            trouble=self.trouble(),
        )


def _state_now(job: IndexJob | None, run: IndexRun | None) -> JobState | None:
    latest = latest_of(job, run)
    return None if latest is None or latest.state.finished else latest.state


def _added_since(run: IndexRun | None, sources: Iterable[Source]) -> tuple[str, ...]:
    if run is None:
        return ()
    return tuple(source.path for source in sources if source.enabled and source.created_at > run.started_at)


def _searched_by(tables: Iterable[IndexTable]) -> str:
    return next((table.identity.embedder.model for table in tables if table.state is TableState.LIVE), "")


def _rebuilding(tables: Iterable[IndexTable]) -> str:
    filling = any(table.state is TableState.FILLING for table in tables)
    return "A new embedding model is being taken in; search uses the former one until then." if filling else ""


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
