"""The answers that the routes give: documentation only, the objects themselves are made by `openmind.domain.contract`.

Clients must put up with fields that are not here: answers may grow.
"""

from typing import Literal

import msgspec

Metadata = dict[str, object]


class Reply(msgspec.Struct, kw_only=True):
    """What every answer has in common."""


class FieldProblem(Reply, kw_only=True):
    """What is wrong with one field of a body."""

    path: str
    message: str


class Problem(Reply, kw_only=True):
    """Why a request was refused, or failed."""

    type: str
    title: str
    status: int
    code: str
    """Stable name of the failure, for programs."""
    detail: str
    """What happened, for people."""
    hint: str
    """What a person can do next; may be empty."""
    errors: list[FieldProblem] = []


class Health(Reply, kw_only=True):
    """The server lives."""

    status: Literal["ok"]
    version: str


class Job(Reply, kw_only=True):
    """A background job, or a run of the indexer."""

    job_id: str | None
    state: str
    total_files: int
    processed_files: int
    indexed_files: int
    skipped_files: int
    already_indexed_files: int
    failed_files: int
    chunks_created: int
    current_file: str | None
    error: str | None
    progress: float
    started_at: str | None
    completed_at: str | None
    updated_at: str | None
    moved_files: int
    removed_files: int
    waiting_deletions: int
    vectors_wanted: int
    vectors_made: int


class Status(Reply, kw_only=True):
    """The state of the memory."""

    status: Literal["ready"]
    version: str
    provider: str | None
    chat_model: str | None
    embedding_model: str | None
    image_model: str | None
    sources: int
    indexed_files: int
    indexed_chunks: int
    indexing_state: str
    last_index_job_status: str | None
    watcher_state: str
    queued_watch_jobs: int
    home: str
    files: int
    files_by_reason: dict[str, int]
    unread_kinds: dict[str, int]
    missing_vectors: int
    waiting_deletions: int
    missing_sources: list[str]
    removal_unfinished: bool
    disabled_sources: list[str]
    last_run: Job | None
    text_bytes: int
    disk_bytes: int
    rebuilding: str
    broken_plugins: list[str]
    embedding_model_in_use: str | None
    trouble: str | None


class Provider(Reply, kw_only=True):
    """A provider that is installed."""

    name: str
    display_name: str
    configured: bool


class Providers(Reply, kw_only=True):
    """All installed providers."""

    providers: list[Provider]


class ProviderStatus(Reply, kw_only=True):
    """Whether the configured provider answers."""

    provider: str
    reachable: bool
    message: str
    notices: list[str]


class Model(Reply, kw_only=True):
    """A model that can be chosen."""

    key: str
    name: str
    type: Literal["llm", "embedding"]
    loaded: bool | None
    supports_images: bool
    max_context_length: int | None
    quantization: str | None


class Models(Reply, kw_only=True):
    """The models that can be chosen, by what they can do."""

    provider: str
    chat_models: list[Model]
    embedding_models: list[Model]
    image_models: list[Model]


class ModelAction(Reply, kw_only=True):
    """What became of one model."""

    model: str
    status: str
    skipped: bool


class LoadedModels(Reply, kw_only=True):
    """What became of the models that were to be loaded."""

    results: list[ModelAction]


class ModelSelection(Reply, kw_only=True):
    """The models that are used from now on."""

    provider: str
    chat_model: str | None
    embedding_model: str
    image_model: str | None
    unload_results: list[ModelAction]
    load_results: list[ModelAction]
    index_job: Job | None
    """The job that takes the new embedding model in, if one was started."""


class Source(Reply, kw_only=True):
    """An approved folder."""

    id: str
    path: str
    recursive: bool
    enabled: bool
    created_at: str
    kind: str
    ocr: bool
    code: bool


class Sources(Reply, kw_only=True):
    """All approved folders."""

    sources: list[Source]


class Removal(Reply, kw_only=True):
    """What left memory; the folder is as it was."""

    source_id: str
    source_path: str
    files_removed: int
    chunks_removed: int
    user_files_deleted: Literal[False]


class Place(Reply, kw_only=True):
    """Where in its file a passage stands."""

    kind: str
    start: int | None
    end: int | None
    label: str


class Explanation(Reply, kw_only=True):
    """Why a hit stands where it does."""

    words_rank: int | None
    words_score: float | None
    vector_rank: int | None
    cosine: float | None
    coverage: float


class Hit(Reply, kw_only=True):
    """A passage that was found."""

    id: str
    file_id: str
    source_id: str
    score: float
    source_type: str
    path: str
    file_name: str
    title: str
    snippet: str
    chunk_index: int
    metadata: Metadata
    location: str
    locator: list[Place]
    marks: list[tuple[int, int]]
    also_at: list[str]
    explanation: Explanation | msgspec.UnsetType = msgspec.UNSET


class SearchAnswer(Reply, kw_only=True):
    """What was found."""

    query: str
    state: Literal["ok", "nothing_indexed", "nothing_found", "filtered_out", "unreadable"]
    degraded: bool
    degraded_reason: str
    results: list[Hit]


class Answer(Reply, kw_only=True):
    """The answer to a question."""

    format: Literal["markdown"]
    session_id: str | None
    answer: str
    sources: list[Hit]
    reasoning: str | None
    state: Literal[
        "answered", "not_in_files", "nothing_indexed", "evidence_only", "incomplete", "provider_failed", "unreadable"
    ]
    citations: list[int]
    unknown_citations: list[int]
    degraded: bool
    degraded_reason: str
    error: str | None


class ServerEvent(Reply, kw_only=True):
    """One event of a stream; `data` holds a JSON object."""

    event: str
    data: str


class EndedSession(Reply, kw_only=True):
    """A conversation was forgotten."""

    session_id: str
    ended: Literal[True]


class Chunk(Reply, kw_only=True):
    """A passage of a document."""

    id: str
    text: str
    chunk_index: int
    title: str
    metadata: Metadata
    location: str
    locator: list[Place]


class File(Reply, kw_only=True):
    """A file as memory knows it."""

    id: str
    source_id: str
    path: str
    file_name: str
    extension: str
    status: Literal["indexed", "skipped", "failed"]
    reason: str
    size: int
    modified_at: float
    indexed_at: str | None
    error: str | None
    hint: str | None


class Document(File, kw_only=True):
    """A searchable file with its first thousand passages."""

    total_chunks: int
    next_start: int | None
    """Where `/chunks` goes on; null when all passages are here."""
    chunks: list[Chunk]


class Chunks(Reply, kw_only=True):
    """One page of the passages of a document."""

    id: str
    total_chunks: int
    next_start: int | None
    chunks: list[Chunk]


class Files(Reply, kw_only=True):
    """One page of files."""

    files: list[File]
    next: str | None
    """What `after` takes for the next page; null on the last."""


class OpenedFile(Reply, kw_only=True):
    """A file was handed to its application."""

    opened: Literal[True]
    file_id: str
    path: str
