"""The JSON objects of the API contract, made from domain values.

Command line and API print the same objects because both make them here. Every function is pure and returns what
`json.dumps` takes. Fields may be added; none is renamed or dropped.
"""

from collections.abc import Iterable

from openmind.domain.answers import Answer
from openmind.domain.chunks import ChunkRow
from openmind.domain.documents import Place
from openmind.domain.files import FileReason, FileRecord
from openmind.domain.jobs import IndexJob, IndexReport, IndexRun, IndexTally, progress_of
from openmind.domain.location_text import location_text
from openmind.domain.models import ModelAction, ModelInfo, ProviderHealth, ProviderInfo, SelectionReport
from openmind.domain.packing import read_metadata
from openmind.domain.paths import displayable, extension_of, name_of
from openmind.domain.search import Explanation, SearchHit, SearchResult
from openmind.domain.sources import Source
from openmind.domain.status import MemoryStatus, RemovalReport
from openmind.domain.unread import UnreadFile

Object = dict[str, object]

IDLE = "idle"
"""What clients read where there is no job."""


def source_object(source: Source) -> Object:
    """A source."""
    return {
        "id": source.id,
        "path": source.path,
        "recursive": source.recursive,
        "enabled": source.enabled,
        "created_at": source.created_at,
        "kind": source.kind,
        "ocr": source.ocr,
        "code": source.code,
    }


def removal_object(report: RemovalReport) -> Object:
    """What removing a source took out of memory."""
    return {
        "source_id": report.source_id,
        "source_path": report.source_path,
        "files_removed": report.files_removed,
        "chunks_removed": report.chunks_removed,
        "user_files_deleted": False,
    }


def hit_object(hit: SearchHit, *, explain: bool = False) -> Object:
    """One passage that was found; with `explain`, also why it stands where it does."""
    found: Object = {
        "id": hit.id,
        "file_id": hit.file_id,
        "source_id": hit.source_id,
        "score": hit.score,
        "source_type": hit.extension.removeprefix("."),
        "path": hit.path,
        "file_name": hit.file_name,
        "title": hit.title,
        "snippet": hit.snippet,
        "chunk_index": hit.index,
        "metadata": dict(hit.metadata),
        "location": location_text(hit.locator),
        "locator": [_place_object(place) for place in hit.locator],
        "marks": [list(mark) for mark in hit.marks],
        "also_at": list(hit.also_at),
    }
    if explain:
        found["explanation"] = _explanation_object(hit.explanation)
    return found


def search_object(result: SearchResult, *, explain: bool = False) -> Object:
    """The answer to a search."""
    return {
        "query": result.query,
        "state": result.state.value,
        "degraded": result.degraded,
        "degraded_reason": result.degraded_reason,
        "results": [hit_object(hit, explain=explain) for hit in result.hits],
    }


def answer_object(answer: Answer, *, include_sources: bool = True) -> Object:
    """The answer to a question."""
    return {
        "format": "markdown",
        "session_id": answer.session_id,
        "answer": answer.markdown,
        "sources": [hit_object(hit) for hit in answer.sources] if include_sources else [],
        "reasoning": answer.reasoning,
        "state": answer.state.value,
        "citations": [citation.number for citation in answer.citations],
        "unknown_citations": list(answer.unknown_citations),
        "degraded": answer.degraded,
        "degraded_reason": answer.degraded_reason,
        "error": answer.error or None,
    }


def job_object(job: IndexJob | None) -> Object:
    """A background job; without one, the idle job."""
    if job is None:
        return _job(None, IDLE, IndexTally(), progress=0.0)
    return _job(
        job.id,
        job.state.value,
        job.tally,
        progress=round(progress_of(job.state, job.tally), 2),
        current_file=job.current_file,
        error=job.error,
        started_at=job.started_at,
        completed_at=job.completed_at,
        updated_at=job.updated_at,
    )


def run_object(run: IndexRun) -> Object:
    """A run in the shape of a job; a foreground run has no job id."""
    return _job(
        run.job_id,
        run.state.value,
        run.tally,
        progress=round(progress_of(run.state, run.tally), 2),
        current_file=run.current_file,
        error=run.error,
        started_at=run.started_at,
        completed_at=run.finished_at,
        updated_at=run.heartbeat_at or run.finished_at,
    )


def index_object(report: IndexReport) -> Object:
    """What a finished run tells: the job, and the files that are not searchable."""
    return {
        **run_object(report.run),
        "failures": [
            {"path": failure.path, "code": failure.code, "message": failure.message} for failure in report.failures
        ],
        "failures_total": report.failures_total,
        "notices": list(report.notices),
        "unread_kinds": dict(report.unread_kinds),
    }


def status_object(status: MemoryStatus) -> Object:
    """The state of the memory."""
    return {
        "status": "ready",
        "version": status.version,
        "provider": status.provider,
        "chat_model": status.chat_model,
        "embedding_model": status.embedding_model,
        "image_model": status.image_model,
        "sources": status.sources,
        "indexed_files": status.indexed_files,
        "indexed_chunks": status.indexed_chunks,
        "indexing_state": status.indexing_state.value if status.indexing_state else IDLE,
        "last_index_job_status": status.last_job_state.value if status.last_job_state else None,
        "watcher_state": "stopped",
        "queued_watch_jobs": 0,
        "home": status.home,
        "files": status.files,
        "files_by_reason": {reason.value: count for reason, count in status.by_reason.items()},
        "unread_kinds": dict(status.unread_kinds),
        "missing_vectors": status.missing_vectors,
        "waiting_deletions": status.waiting_deletions,
        "missing_sources": list(status.missing_sources),
        "removal_unfinished": status.removal_unfinished,
        "disabled_sources": list(status.disabled_sources),
        "last_run": run_object(status.last_run) if status.last_run else None,
        "text_bytes": status.text_bytes,
        "disk_bytes": status.disk_bytes,
        "rebuilding": status.rebuilding,
        "broken_plugins": list(status.broken_plugins),
        "embedding_model_in_use": status.searched_by or None,
        "trouble": status.trouble or None,
    }


def file_object(record: FileRecord) -> Object:
    """A file as the catalog knows it; the API adds its passages."""
    name = name_of(record.path_bytes)
    return {
        "id": record.id,
        "source_id": record.source_id,
        "path": displayable(record.path_bytes),
        "file_name": name,
        "extension": extension_of(name),
        "status": record.status.value,
        "reason": record.reason.value,
        "size": record.stat.size,
        "modified_at": record.stat.modified_at,
        "indexed_at": record.indexed_at or None,
        "error": record.error or None,
        "hint": record.reason.hint or None,
    }


def unread_object(file: UnreadFile) -> Object:
    """A file of a kind that nothing reads, with the fields of any other file; the catalog has no id for it.

    What is no file has no size, and no date.
    """
    name = name_of(file.path_bytes)
    told = f"Files of this kind ({file.kind}) are not read." if file.stat else f"This is a {file.kind}, and no file."
    return {
        "id": None,
        "source_id": file.source_id,
        "path": displayable(file.path_bytes),
        "file_name": name,
        "extension": file.extension,
        "status": FileReason.UNSUPPORTED.status.value,
        "reason": FileReason.UNSUPPORTED.value,
        "size": file.stat.size if file.stat else 0,
        "modified_at": file.stat.modified_at if file.stat else None,
        "indexed_at": None,
        "error": told,
        "hint": file.hint or None,
    }


def chunk_object(row: ChunkRow) -> Object:
    """A stored passage, without its vector."""
    locator, _, metadata = read_metadata(row.metadata)
    return {
        "id": f"{row.file_id}:{row.index}",
        "text": row.text,
        "chunk_index": row.index,
        "title": row.title,
        "metadata": dict(metadata),
        "location": location_text(locator),
        "locator": [_place_object(place) for place in locator],
    }


def providers_object(providers: Iterable[ProviderInfo]) -> Object:
    """The providers that are installed."""
    return {
        "providers": [
            {"name": one.name, "display_name": one.display_name, "configured": one.configured} for one in providers
        ]
    }


def health_object(health: ProviderHealth) -> Object:
    """Whether the provider answers."""
    return {
        "provider": health.provider,
        "reachable": health.reachable,
        "message": health.message,
        "notices": list(health.notices),
    }


def models_object(provider: str, models: Iterable[ModelInfo]) -> Object:
    """The models that can be chosen, by what they can do."""
    known = tuple(models)
    return {
        "provider": provider,
        "chat_models": [_model_object(model) for model in known if model.type == "llm"],
        "embedding_models": [_model_object(model) for model in known if model.type == "embedding"],
        "image_models": [_model_object(model) for model in known if model.supports_images],
    }


def actions_object(actions: Iterable[ModelAction]) -> list[Object]:
    """What became of models that were to be loaded or unloaded."""
    return [{"model": one.model, "status": one.status, "skipped": one.skipped} for one in actions]


def selection_object(report: SelectionReport) -> Object:
    """What choosing models changed."""
    return {
        "provider": report.provider,
        "chat_model": report.selection.chat_model,
        "embedding_model": report.selection.embedding_model,
        "image_model": report.selection.image_model,
        "unload_results": actions_object(report.unloaded),
        "load_results": actions_object(report.loaded),
    }


def _place_object(place: Place) -> Object:
    return {"kind": place.kind, "start": place.start, "end": place.end, "label": place.label}


def _model_object(model: ModelInfo) -> Object:
    return {
        "key": model.key,
        "name": model.name,
        "type": model.type,
        "loaded": model.loaded,
        "supports_images": model.supports_images,
        "max_context_length": model.max_context_length,
        "quantization": model.quantization,
    }


def _explanation_object(explanation: Explanation) -> Object:
    return {
        "words_rank": explanation.words_rank,
        "words_score": explanation.words_score,
        "vector_rank": explanation.vector_rank,
        "cosine": explanation.cosine,
        "coverage": explanation.coverage,
    }


def _job(
    job_id: str | None,
    state: str,
    tally: IndexTally,
    *,
    progress: float,
    current_file: str = "",
    error: str = "",
    started_at: str = "",
    completed_at: str = "",
    updated_at: str = "",
) -> Object:
    return {
        "job_id": job_id,
        "state": state,
        "total_files": tally.total,
        "processed_files": tally.processed,
        "indexed_files": tally.indexed,
        "skipped_files": tally.skipped,
        "already_indexed_files": tally.already_indexed,
        "failed_files": tally.failed,
        "chunks_created": tally.chunks,
        "current_file": current_file or None,
        "error": error or None,
        "progress": progress,
        "started_at": started_at or None,
        "completed_at": completed_at or None,
        "updated_at": updated_at or None,
        "moved_files": tally.moved,
        "removed_files": tally.removed,
        "waiting_deletions": tally.waiting_deletions,
        "vectors_wanted": tally.vectors_wanted,
        "vectors_made": tally.vectors_made,
    }
