"""Answers: text made from evidence, and the evidence it rests on."""

from enum import StrEnum
from typing import Literal

from attrs import field, frozen

from openmind.domain.ids import SessionId
from openmind.domain.search import DEFAULT_ASK_LIMIT, SearchFilters, SearchHit

MAX_ASK_LIMIT = 20


@frozen(kw_only=True)
class AskRequest:
    """A question, and how it is to be answered."""

    question: str
    limit: int = DEFAULT_ASK_LIMIT
    """Most passages that the answer may rest on."""
    filters: SearchFilters = field(factory=SearchFilters)
    reasoning: bool = False
    """Whether the model's reasoning is wanted as well."""
    session_id: SessionId | None = None
    """The conversation that the question goes on with."""
    conversation: bool = False
    """Whether a new conversation begins with this question, so that others can follow."""


class AnswerState(StrEnum):
    """How an ask ended."""

    ANSWERED = "answered"
    NOT_IN_FILES = "not_in_files"
    NOTHING_INDEXED = "nothing_indexed"
    EVIDENCE_ONLY = "evidence_only"
    INCOMPLETE = "incomplete"
    PROVIDER_FAILED = "provider_failed"
    UNREADABLE = "unreadable"
    """The index could not be searched: this says nothing about the files."""


@frozen(kw_only=True)
class Excerpt:
    """A numbered passage given to the model, or shown in its place."""

    number: int
    """From 1: what a citation `[n]` names."""
    hit: SearchHit


@frozen(kw_only=True)
class Evidence:
    """The excerpts an answer may rest on."""

    question: str
    excerpts: tuple[Excerpt, ...] = ()


@frozen(kw_only=True)
class Citation:
    """A citation in an answer, checked against the evidence."""

    number: int
    hit: SearchHit


@frozen(kw_only=True)
class Answer:
    """The answer to a question."""

    question: str
    state: AnswerState
    markdown: str
    """GitHub-flavoured Markdown without any path."""
    sources: tuple[SearchHit, ...] = ()
    """The evidence in order: citation `[n]` is `sources[n - 1]`."""
    citations: tuple[Citation, ...] = ()
    unknown_citations: tuple[int, ...] = ()
    """Numbers that the model cited although no such excerpt exists; they were taken out of the text."""
    reasoning: str | None = None
    session_id: SessionId | None = None
    degraded: bool = False
    degraded_reason: str = ""
    error: str = ""
    """Why the model gave no, or no whole, answer."""
    error_code: str = ""
    error_hint: str = ""


@frozen(kw_only=True)
class AnswerStarted:
    """First event of a streamed answer."""

    sources: tuple[SearchHit, ...]
    session_id: SessionId | None = None
    model: str | None = None
    """The chat model that is asked now; None when it has nothing to write, or is not to be had."""


@frozen
class AnswerProgress:
    """How far the model is on the way to its first word; only where its server tells."""

    stage: Literal["loading", "reading"]
    """Whether the model is being loaded, or reads what it was given."""
    share: float
    """0–1."""


@frozen
class AnswerText:
    """A piece of the answer."""

    text: str


@frozen
class AnswerReasoning:
    """A piece of the model's reasoning; only when it was asked for."""

    text: str


@frozen
class AnswerFinished:
    """Last event: the whole answer, citations checked."""

    answer: Answer


@frozen
class AnswerRestarted:
    """What came as text so far was no part of the answer: it begins anew with the next piece.

    A model whose thoughts nobody marked may turn out to have thought aloud.
    """


AnswerEvent = AnswerStarted | AnswerProgress | AnswerText | AnswerReasoning | AnswerRestarted | AnswerFinished
