"""Prepares one file: read, split, analyse, embed."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

from attrs import field, frozen

from openmind.domain import packing
from openmind.domain.analysis import passage_words
from openmind.domain.chunking import split
from openmind.domain.chunks import Chunk, passage_hash
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Segment
from openmind.domain.errors import ExtractionFailed, OpenMindError
from openmind.domain.files import FileReason
from openmind.domain.paths import displayable, name_of
from openmind.domain.preparation import (
    Preparation,
    PreparationFailure,
    PreparationRequest,
    PreparedFile,
    PreparedPassage,
)
from openmind.domain.vectors import Vectors
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.ports.extractor import Blob, Extractor

MAX_TEXT_CHARS = 20_000_000
"""Text of one file that is kept; more is a sign of data, not of something a person reads."""

ReadBlob = Callable[[bytes, str], Blob]
"""Opens a path safely: (path, displayable name) → blob."""


def collect(parts: Iterable[Segment | DocumentFacts]) -> ExtractedDocument:
    """Gather what an extractor yields; a failure after the first text keeps that text and makes it partial.

    Raises:
        ExtractionFailed: nothing was read before the failure.
    """
    segments: list[Segment] = []
    facts = DocumentFacts()
    room = MAX_TEXT_CHARS
    try:
        for part in parts:
            if isinstance(part, DocumentFacts):
                facts = part
                continue
            room -= len(part.text)
            if room < 0:
                note = f"Only the first {MAX_TEXT_CHARS:,} characters are searchable."
                facts = DocumentFacts(title=facts.title, metadata=facts.metadata, reason=FileReason.PARTIAL, note=note)
                break
            segments.append(part)
    except ExtractionFailed as failure:
        if not segments:
            raise
        facts = DocumentFacts(
            title=facts.title, metadata=facts.metadata, reason=FileReason.PARTIAL, note=failure.message
        )
    return ExtractedDocument(segments=tuple(segments), facts=facts)


@frozen(kw_only=True)
class InProcessPreparer:
    """Prepares in this process. A `Preparer`, and what each worker process runs."""

    extractor: Callable[[str], Extractor]
    """Makes the extractor of that name."""
    read: ReadBlob
    embedder: EmbeddingProvider | None = None
    """An embedder that runs in process; None leaves vectors to others."""
    _made: dict[str, Extractor] = field(factory=dict, init=False)

    def prepare(
        self, requests: Iterable[PreparationRequest], *, while_waiting: Callable[[], None]
    ) -> Iterator[Preparation]:
        """See the port; here nothing can be interrupted but between two files."""
        for request in requests:
            while_waiting()
            yield self.prepare_one(request)

    def prepare_one(self, request: PreparationRequest) -> Preparation:
        """Prepare one file; what goes wrong is the outcome."""
        try:
            document = self._document(request)
            return self._prepared(request, document)
        except ExtractionFailed as failure:
            return PreparationFailure(ticket=request.ticket, reason=failure.reason, message=failure.message)
        except OpenMindError as error:
            return PreparationFailure(ticket=request.ticket, reason=FileReason.PROVIDER, message=error.message)
        except MemoryError:
            return PreparationFailure(
                ticket=request.ticket, reason=FileReason.TOO_BIG, message="There is not enough memory to read it."
            )
        except Exception as error:  # noqa: BLE001  an extractor may be a stranger's: its file fails, not the run
            told = f"{type(error).__name__}: {error}"[:200]
            return PreparationFailure(ticket=request.ticket, reason=FileReason.CRASHED, message=told)

    def close(self) -> None:
        """Nothing is held."""

    def _document(self, request: PreparationRequest) -> ExtractedDocument:
        if request.packed is not None:
            return packing.unpack(request.packed)
        if request.extractor not in self._made:
            self._made[request.extractor] = self.extractor(request.extractor)
        blob = self.read(request.path_bytes, name_of(request.path_bytes))
        return collect(self._made[request.extractor].extract(blob))

    def _prepared(self, request: PreparationRequest, document: ExtractedDocument) -> PreparedFile:
        path, name = displayable(request.path_bytes), name_of(request.path_bytes)
        chunks = list(split(document))
        passages = tuple(as_passage(chunk, document.facts, file_name=name, path=path) for chunk in chunks)
        vectors = None
        if self.embedder is not None:
            vectors = self.embedder.embed([passage.embedded_text for passage in passages], role="passage")
        return PreparedFile(
            ticket=request.ticket,
            packed=packing.pack(document) if request.packed is None else None,
            facts=document.facts,
            passages=passages,
            vectors=vectors,
        )


def as_passage(chunk: Chunk, facts: DocumentFacts, *, file_name: str, path: str) -> PreparedPassage:
    """Analyse a chunk."""
    return PreparedPassage(
        chunk.text,
        chunk.context,
        passage_words(chunk.text, context=chunk.context, file_name=file_name, path=path),
        passage_hash(chunk.text),
        packing.chunk_metadata(chunk, facts),
    )


# The wire between the indexing process and its workers: one JSON object and one payload each way.


def request_to_wire(request: PreparationRequest) -> tuple[dict[str, object], bytes]:
    """Write a request."""
    message: dict[str, object] = {
        "ticket": request.ticket,
        "path": request.path_bytes.decode("latin-1"),
        "extractor": request.extractor,
        "packed": request.packed is not None,
    }
    return message, request.packed or b""


def request_from_wire(message: Mapping[str, object], payload: bytes) -> PreparationRequest:
    """Read a request."""
    return PreparationRequest(
        ticket=cast(int, message["ticket"]),
        path_bytes=str(message["path"]).encode("latin-1"),
        extractor=str(message["extractor"]),
        packed=payload if message["packed"] else None,
    )


def outcome_to_wire(outcome: Preparation) -> tuple[dict[str, object], bytes]:
    """Write an outcome; packed text and vectors travel as the payload."""
    if isinstance(outcome, PreparationFailure):
        return {"ticket": outcome.ticket, "reason": outcome.reason.value, "message": outcome.message}, b""
    facts = outcome.facts
    vectors = outcome.vectors
    packed = outcome.packed or b""
    message: dict[str, object] = {
        "ticket": outcome.ticket,
        "facts": [facts.title, json.dumps(facts.metadata), facts.reason.value, facts.note],
        "passages": [[p.text, p.context, p.words, p.passage, p.metadata] for p in outcome.passages],
        "packed": len(packed) if outcome.packed is not None else -1,
        "dimension": vectors.dimension if vectors is not None else 0,
    }
    return message, packed + (vectors.data if vectors is not None else b"")


def outcome_from_wire(message: Mapping[str, object], payload: bytes) -> Preparation:
    """Read an outcome that one of our own workers wrote."""
    ticket = cast(int, message["ticket"])
    if "reason" in message:
        return PreparationFailure(
            ticket=ticket, reason=FileReason(str(message["reason"])), message=str(message["message"])
        )
    title, metadata, reason, note = cast(list[str], message["facts"])
    packed_size, dimension = cast(int, message["packed"]), cast(int, message["dimension"])
    rows = cast(list[tuple[str, str, str, int, str]], message["passages"])
    return PreparedFile(
        ticket=ticket,
        packed=payload[:packed_size] if packed_size >= 0 else None,
        facts=DocumentFacts(title=title, metadata=json.loads(metadata), reason=FileReason(reason), note=note),
        passages=tuple(PreparedPassage(*row) for row in rows),
        vectors=Vectors(payload[max(packed_size, 0) :], dimension) if dimension else None,
    )
