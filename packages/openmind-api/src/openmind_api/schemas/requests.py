"""The bodies that the routes take. A field that is not here is refused."""

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta
from openmind.domain.answers import MAX_ASK_LIMIT, AskRequest
from openmind.domain.ids import SessionId, SourceId
from openmind.domain.models import ModelSelection
from openmind.domain.search import (
    DEFAULT_ASK_LIMIT,
    DEFAULT_LIMIT,
    DEFAULT_PER_FILE,
    MAX_QUERY_CHARS,
    MAX_SEARCH_LIMIT,
    SearchFilters,
    SearchRequest,
)

T = TypeVar("T")

MAX_PATH_CHARS = 4_096

Text = Annotated[str, Meta(min_length=1, pattern=r"\S", description=f"1 to {MAX_QUERY_CHARS} characters, trimmed.")]
ModelKey = Annotated[str, Meta(min_length=1, max_length=512, pattern=r"\S")]
SourceKey = Annotated[str, Meta(pattern=r"^src_[0-9a-f]{12}$")]
FileKey = Annotated[str, Meta(pattern=r"^file_[0-9a-f]{16}$")]
SessionKey = Annotated[str, Meta(pattern=r"^chat_[0-9a-f]{16}$")]
FolderPath = Annotated[str, Meta(min_length=1, max_length=MAX_PATH_CHARS)]
Extension = Annotated[str, Meta(min_length=1, max_length=17, pattern=r"\S")]
Moment = Annotated[datetime, Meta(tz=True)]


class Body(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What every body has in common."""


class Nothing(Body, kw_only=True):
    """An empty object; no body at all says the same."""


class NewSource(Body, kw_only=True):
    """A folder to approve."""

    path: FolderPath
    """Absolute; `~` is the home of whoever runs the server."""
    recursive: bool = True

    def __post_init__(self) -> None:
        # The folder in which the server happened to be started is nothing that a client knows.
        if not self.path.startswith("~"):
            require_absolute("path", self.path)


class SourceChange(Body, kw_only=True):
    """How a folder is to be read; what is not said stays as it is."""

    enabled: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether it is read and searched. What is remembered of one that is not stays."""
    ocr: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether scanned pages and pictures are read by text recognition."""
    code: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether source code and JSON are indexed too."""

    def __post_init__(self) -> None:
        if all(value is msgspec.UNSET for value in (self.enabled, self.ocr, self.code)):
            raise ValueError("one of `enabled`, `ocr` and `code` must be there")


class ModelKeys(Body, kw_only=True):
    """Models to load; null loads the configured ones."""

    model_keys: Annotated[list[ModelKey], Meta(min_length=1, max_length=3)] | None = None


class Selection(Body, kw_only=True):
    """The models that are to be used."""

    embedding_model: ModelKey
    chat_model: ModelKey | None = None
    """Null: search only."""
    image_model: ModelKey | None = None
    """Null: pictures are not described."""
    load: bool = True

    def selection(self) -> ModelSelection:
        """The same for the service."""
        return ModelSelection(
            chat_model=self.chat_model, embedding_model=self.embedding_model, image_model=self.image_model
        )


class Narrowed(Body, kw_only=True):
    """Which files are looked at; nothing said, like an empty list, means all."""

    sources: Annotated[list[SourceKey], Meta(max_length=100)] = []
    folder: FolderPath | None = None
    """Absolute path: only files below it."""
    extensions: Annotated[list[Extension], Meta(max_length=100)] = []
    modified_after: Moment | None = None
    modified_before: Moment | None = None

    def __post_init__(self) -> None:
        if self.folder is not None:
            require_absolute("folder", self.folder)
            if "\0" in self.folder:
                raise ValueError("`folder` must not contain NUL")
            self.folder = os.path.normpath(self.folder)  # a filter by name: links are not followed

    def filters(self) -> SearchFilters:
        """The same for the service."""
        return SearchFilters(
            source_ids=tuple(map(SourceId, self.sources)),
            folder=self.folder,
            extensions=tuple(f".{extension.strip().lower().removeprefix('.')}" for extension in self.extensions),
            modified_after=self.modified_after,
            modified_before=self.modified_before,
        )


class Search(Narrowed, kw_only=True):
    """What to look for."""

    query: Text
    limit: Annotated[int, Meta(ge=1, le=MAX_SEARCH_LIMIT)] = DEFAULT_LIMIT
    per_file: Annotated[int, Meta(ge=0, le=MAX_SEARCH_LIMIT)] = DEFAULT_PER_FILE
    """Most hits of one file; 0 means no limit."""
    explain: bool = False
    """Say why each hit stands where it does."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.query = trimmed("query", self.query)

    def request(self) -> SearchRequest:
        """The same for the service."""
        return SearchRequest(query=self.query, limit=self.limit, filters=self.filters(), per_file=self.per_file)


class Ask(Narrowed, kw_only=True):
    """A question."""

    question: Text
    limit: Annotated[int, Meta(ge=1, le=MAX_ASK_LIMIT)] = DEFAULT_ASK_LIMIT
    """Most passages that the answer may rest on."""
    include_sources: bool = True
    reasoning: bool = False
    """Whether the model's reasoning is wanted as well."""
    session_id: SessionKey | None = None
    """The conversation that the question goes on with; null begins one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.question = trimmed("question", self.question)

    def request(self) -> AskRequest:
        """The same for the service."""
        return AskRequest(
            question=self.question,
            limit=self.limit,
            filters=self.filters(),
            reasoning=self.reasoning,
            session_id=None if self.session_id is None else SessionId(self.session_id),
            conversation=True,
        )


class FileToOpen(Body, kw_only=True):
    """A file to open in its application."""

    file_id: FileKey


def said(value: T | msgspec.UnsetType) -> T | None:
    """What a body says of a field; None when it says nothing."""
    return None if isinstance(value, msgspec.UnsetType) else value


def require_absolute(name: str, path: str) -> None:
    """Refuse a path that means something only beside another one.

    Raises:
        ValueError: the decoder makes it a refusal of that field.
    """
    if not Path(path).is_absolute():
        raise ValueError(f"`{name}` must be an absolute path")


def trimmed(name: str, text: str) -> str:
    """Take the blanks around a text away.

    Raises:
        ValueError: nothing is left, or too much; the decoder makes it a refusal of that field.
    """
    bare = text.strip()
    if not 1 <= len(bare) <= MAX_QUERY_CHARS:
        raise ValueError(f"`{name}` must have 1 to {MAX_QUERY_CHARS:,} characters, not {len(bare):,}")
    return bare
