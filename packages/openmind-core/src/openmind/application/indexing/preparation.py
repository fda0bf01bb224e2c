"""Prepares one file: read, split, analyse, embed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import cast

from attrs import field, frozen

from openmind.domain import packing
from openmind.domain.analysis import passage_words
from openmind.domain.chunking import split
from openmind.domain.chunks import Chunk, passage_hash
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Picture, Segment, check_part
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

GROUP_FILES = 16
GROUP_BYTES = 256 * 1024
"""Files of one group: together they cost less, but they also wait for each other."""

ReadBlob = Callable[[bytes, str], Blob]
"""Opens a path safely: (path, displayable name) → blob."""


def collect(parts: Iterable[Segment | DocumentFacts | Picture]) -> ExtractedDocument:
    """Gather what an extractor yields; a failure after the first text keeps that text and makes it partial.

    Raises:
        ExtractionFailed: nothing was read before the failure.
    """
    segments: list[Segment] = []
    facts = DocumentFacts()
    room = MAX_TEXT_CHARS
    try:
        for part in parts:
            check_part(part)
            if isinstance(part, DocumentFacts):
                facts = part
                continue
            if isinstance(part, Picture):
                continue  # only what runs isolated may have its pictures described
            room -= len(part.text)
            if room < 0:
                note = f"Only the first {MAX_TEXT_CHARS:,} characters are searchable."
                facts = DocumentFacts(title=facts.title, metadata=facts.metadata, reason=FileReason.PARTIAL, note=note)
                break
            segments.append(part)
    except ExtractionFailed as failure:
        if not segments:
            raise
        facts = DocumentFacts(title=facts.title, metadata=facts.metadata, reason=FileReason.PARTIAL, note=failure.told)
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
        """See the port; here nothing can be interrupted but between two groups of files."""
        for group in grouped(requests):
            while_waiting()
            yield from self.prepare_group(group)

    def prepare_group(self, requests: Sequence[PreparationRequest]) -> Iterator[Preparation]:
        """Prepare a few files; their passages are embedded together, which is cheaper than one by one."""
        laid_out = [self._lay_out(request) for request in requests]
        texts = [p.embedded_text for each in laid_out if isinstance(each, _LaidOut) for p in each.passages]
        try:
            vectors = self.embedder.embed(texts, role="passage") if self.embedder is not None else None
        except OpenMindError as error:
            for request in requests:
                yield PreparationFailure(ticket=request.ticket, reason=FileReason.PROVIDER, message=error.message)
            return
        row = 0
        for each in laid_out:
            if isinstance(each, PreparationFailure):
                yield each
                continue
            after = row + len(each.passages)
            yield PreparedFile(
                ticket=each.ticket,
                packed=each.packed,
                facts=each.facts,
                passages=each.passages,
                vectors=vectors.slice(row, after) if vectors is not None else None,
            )
            row = after

    def standing_still(self) -> AbstractContextManager[None]:
        """See the port; nothing goes on here by itself."""
        return nullcontext()

    def close(self) -> None:
        """Nothing is held."""

    def _lay_out(self, request: PreparationRequest) -> "_LaidOut | PreparationFailure":
        """Read, split and analyse one file; what goes wrong is the outcome."""
        try:
            document = self._document(request)
            path, name = displayable(request.path_bytes), name_of(request.path_bytes)
            return _LaidOut(
                request.ticket,
                packing.pack(document) if request.packed is None else None,
                document.facts,
                tuple(as_passage(chunk, document.facts, file_name=name, path=path) for chunk in split(document)),
            )
        except ExtractionFailed as failure:
            return PreparationFailure(ticket=request.ticket, reason=failure.reason, message=failure.told)
        except OpenMindError as error:
            return PreparationFailure(ticket=request.ticket, reason=FileReason.DAMAGED, message=error.message)
        except MemoryError:
            return PreparationFailure(
                ticket=request.ticket, reason=FileReason.TOO_BIG, message="There is not enough memory to read it."
            )
        except (Exception, SystemExit) as error:  # noqa: BLE001  an extractor may be a stranger's: its file fails, not the run
            told = f"The reader “{request.extractor}” broke down: {type(error).__name__}: {error}"[:300]
            return PreparationFailure(ticket=request.ticket, reason=FileReason.CRASHED, message=told)

    def _document(self, request: PreparationRequest) -> ExtractedDocument:
        if request.packed is not None:
            return packing.unpack(request.packed)
        if request.extractor not in self._made:
            self._made[request.extractor] = self.extractor(request.extractor)
        blob = self.read(request.path_bytes, name_of(request.path_bytes))
        return collect(self._made[request.extractor].extract(blob))


@frozen
class _LaidOut:
    """A file whose passages only lack their vectors."""

    ticket: int
    packed: bytes | None
    facts: DocumentFacts
    passages: tuple[PreparedPassage, ...]


def grouped(requests: Iterable[PreparationRequest]) -> Iterator[list[PreparationRequest]]:
    """Gather requests into groups of a few files, a large one alone."""
    group: list[PreparationRequest] = []
    size = 0
    for request in requests:
        weight = max(request.size, len(request.packed or b""))
        if group and size + weight > GROUP_BYTES:
            yield group
            group, size = [], 0
        group.append(request)
        size += weight
        if len(group) == GROUP_FILES:
            yield group
            group, size = [], 0
    if group:
        yield group


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


def group_to_wire(requests: Sequence[PreparationRequest]) -> tuple[dict[str, object], bytes]:
    """Write a group of requests; packed texts travel one after the other as the payload."""
    files = [
        [
            request.ticket,
            request.path_bytes.decode("latin-1"),
            request.extractor,
            -1 if request.packed is None else len(request.packed),
        ]
        for request in requests
    ]
    return {"files": files}, b"".join(request.packed or b"" for request in requests)


def group_from_wire(message: Mapping[str, object], payload: bytes) -> list[PreparationRequest]:
    """Read a group of requests."""
    requests = []
    at = 0
    for ticket, path, extractor, packed in cast(list[tuple[int, str, str, int]], message["files"]):
        after = at + max(packed, 0)
        requests.append(
            PreparationRequest(
                ticket=ticket,
                path_bytes=path.encode("latin-1"),
                extractor=extractor,
                packed=payload[at:after] if packed >= 0 else None,
            )
        )
        at = after
    return requests


def outcome_to_wire(outcome: Preparation) -> tuple[dict[str, object], bytes]:
    """Write an outcome; packed text, vectors and the strings of the passages travel as the payload.

    Passages are tens of kilobytes a file: as JSON they would be escaped here and searched for escapes there.
    """
    if isinstance(outcome, PreparationFailure):
        return {"ticket": outcome.ticket, "reason": outcome.reason.value, "message": outcome.message}, b""
    facts = outcome.facts
    strings: list[str] = []
    passages = []
    for p in outcome.passages:
        strings += (p.text, p.context, p.words, p.metadata)
        passages.append((p.passage, len(p.text), len(p.context), len(p.words), len(p.metadata)))
    packed = outcome.packed or b""
    vectors = outcome.vectors
    rows = vectors.data if vectors is not None else b""
    message: dict[str, object] = {
        "ticket": outcome.ticket,
        "facts": [facts.title, facts.metadata, facts.reason.value, facts.note],
        "passages": passages,
        "packed": len(packed) if outcome.packed is not None else -1,
        "vectors": len(rows),
        "dimension": vectors.dimension if vectors is not None else 0,
    }
    return message, b"".join((packed, rows, "".join(strings).encode("utf-8", "surrogatepass")))


def outcome_from_wire(message: Mapping[str, object], payload: bytes) -> Preparation:
    """Read an outcome that one of our own workers wrote."""
    ticket = cast(int, message["ticket"])
    if "reason" in message:
        return PreparationFailure(
            ticket=ticket, reason=FileReason(str(message["reason"])), message=str(message["message"])
        )
    title, metadata, reason, note = cast(tuple[str, dict[str, object], str, str], message["facts"])
    packed_size, dimension = cast(int, message["packed"]), cast(int, message["dimension"])
    after_packed = max(packed_size, 0)
    after_vectors = after_packed + cast(int, message["vectors"])
    return PreparedFile(
        ticket=ticket,
        packed=payload[:after_packed] if packed_size >= 0 else None,
        facts=DocumentFacts(title=title, metadata=metadata, reason=FileReason(reason), note=note),
        passages=tuple(
            _passages(
                cast(list[tuple[int, int, int, int, int]], message["passages"]),
                payload[after_vectors:].decode("utf-8", "surrogatepass"),
            )
        ),
        vectors=Vectors(payload[after_packed:after_vectors], dimension) if dimension else None,
    )


def _passages(rows: Iterable[tuple[int, int, int, int, int]], strings: str) -> Iterator[PreparedPassage]:
    start = 0
    for passage, text, context, words, metadata in rows:
        text += start
        context += text
        words += context
        metadata += words
        yield PreparedPassage(
            strings[start:text], strings[text:context], strings[context:words], passage, strings[words:metadata]
        )
        start = metadata
