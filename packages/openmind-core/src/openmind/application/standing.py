"""How a memory stands: what is remembered, what is under way, and what is amiss."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from openmind.application.indexing.discovery import number_waiting, waiting_key
from openmind.application.recovering.suspicion import damage, seals_of
from openmind.application.recovering.sweeping import owes_erasure
from openmind.domain.index import IndexTable, TableState
from openmind.domain.jobs import IndexJob, IndexRun, JobState, as_its_job_ended, latest_of
from openmind.domain.sources import Source
from openmind.domain.status import MemoryStatus
from openmind.domain.unread import added, of_setting, unread_key
from openmind.ports.file_tree import FileTree

if TYPE_CHECKING:  # it asks this module
    from openmind.application.memory import OpenMind


def status_of(memory: "OpenMind", *, disk_bytes: int) -> MemoryStatus:
    """Say what is remembered and what is under way.

    Args:
    memory: an open one.
    disk_bytes: what it takes on the disk.
    """
    with memory.storage.catalog.reading() as snapshot:
        sources = snapshot.sources()
        counts = snapshot.counts()
        runs = snapshot.runs(limit=1)
        tables = snapshot.tables()
        away = absent(memory.tree, sources)
        # What an earlier run found gone from a folder that is away now may come back with it.
        waiting = [snapshot.setting(waiting_key(source.id)) for source in sources if source not in away]
        unread = [of_setting(snapshot.setting(unread_key(source.id))) for source in sources if source.enabled]
        latest = snapshot.latest_job()
        owed = owes_erasure(snapshot)
        noted = seals_of(snapshot)
    job = None if latest is None else memory.jobs.as_it_is(latest)
    run = memory.jobs.believable_run(runs[0]) if runs else None
    state = _state_now(job, run)
    return MemoryStatus(
        version=memory.version,
        home=str(memory.home),
        provider=memory.config.provider_name,
        chat_model=memory.config.models.chat_model,
        embedding_model=memory.config.models.embedding_model,
        image_model=memory.config.extraction.images.model,
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
        missing_sources=tuple(source.path for source in away),
        unread_sources=_added_since(run, sources),
        removal_unfinished=owed,
        text_bytes=counts.text_bytes,
        disk_bytes=disk_bytes,
        rebuilding=_rebuilding(tables) or ("" if state is not None else damage(noted, memory.storage.chunks)),
        broken_plugins=tuple(report.name for report in memory.plugins.broken),
        searched_by=_searched_by(tables),
        trouble=memory.trouble(),
    )


def absent(tree: FileTree, sources: Sequence[Source]) -> list[Source]:
    """The enabled sources whose folders are not there now."""
    return [source for source in sources if source.enabled and not tree.root(source).present]


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
