"""Prepares one file: read, split, analyse, embed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from attrs import define, field, frozen

from openmind.domain import packing
from openmind.domain.analysis import passage_words
from openmind.domain.chunking import split
from openmind.domain.chunks import Chunk, passage_hash
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Picture, Segment, check_yielded
from openmind.domain.errors import ExtractionFailed, OpenMindError
from openmind.domain.files import FileReason
from openmind.domain.foreign_errors import words_of
from openmind.domain.passages import Passage, Passages
from openmind.domain.paths import displayable, name_of
from openmind.domain.preparation import Preparation, PreparationFailure, PreparationRequest, PreparedFile
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
            check_yielded(part)
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
        """Prepare a few files, each step for all of them: what is repeated at once runs from the processor's caches.

        Their passages are embedded together, which is cheaper than one by one, too.
        """
        drafts = [_Draft(request) for request in requests]
        for step in (self._read, _pack, _split, _analyse):
            for draft in drafts:
                if draft.failure is None:
                    draft.failure = _trouble_with(draft, step)
        texts = [chunk.embedded_text for draft in drafts if draft.failure is None for chunk in draft.chunks]
        try:
            vectors = self.embedder.embed(texts, role="passage") if self.embedder is not None else None
        except OpenMindError as error:
            for request in requests:
                yield PreparationFailure(ticket=request.ticket, reason=FileReason.PROVIDER, message=error.message)
            return
        row = 0
        for draft in drafts:
            if draft.failure is not None:
                yield draft.failure
                continue
            after = row + len(draft.passages)
            yield PreparedFile(
                ticket=draft.request.ticket,
                packed=draft.packed,
                facts=draft.document.facts,
                passages=draft.passages,
                vectors=vectors.slice(row, after) if vectors is not None else None,
            )
            row = after

    def standing_still(self) -> AbstractContextManager[None]:
        """See the port; nothing goes on here by itself."""
        return nullcontext()

    def close(self) -> None:
        """Nothing is held."""

    def _read(self, draft: "_Draft") -> None:
        request = draft.request
        if request.packed is not None:
            draft.document = packing.unpack(request.packed)
            return
        if request.extractor not in self._made:
            self._made[request.extractor] = self.extractor(request.extractor)
        name = name_of(request.path_bytes)
        blob = self.read(request.path_bytes, name) if request.data is None else Blob(name=name, data=request.data)
        draft.document = collect(self._made[request.extractor].extract(blob))


@define
class _Draft:
    """A file between two steps of its preparation."""

    request: PreparationRequest
    document: ExtractedDocument = field(init=False)
    packed: bytes | None = None
    chunks: Sequence[Chunk] = ()
    passages: Passages = field(factory=partial(Passages.of, ()))
    failure: PreparationFailure | None = None
    """What went wrong; no further step is taken then."""


def _pack(draft: _Draft) -> None:
    if draft.request.packed is None:
        draft.packed = packing.pack(draft.document)


def _split(draft: _Draft) -> None:
    draft.chunks = tuple(split(draft.document))


def _analyse(draft: _Draft) -> None:
    path, name = displayable(draft.request.path_bytes), name_of(draft.request.path_bytes)
    facts = draft.document.facts
    draft.passages = Passages.of(as_passage(chunk, facts, file_name=name, path=path) for chunk in draft.chunks)


def _trouble_with(draft: _Draft, step: Callable[[_Draft], None]) -> PreparationFailure | None:
    """Take a step with a file; what goes wrong is its outcome."""
    request = draft.request
    try:
        step(draft)
        return None
    except ExtractionFailed as failure:
        return PreparationFailure(ticket=request.ticket, reason=failure.reason, message=failure.told)
    except OpenMindError as error:
        return PreparationFailure(ticket=request.ticket, reason=FileReason.DAMAGED, message=error.message)
    except MemoryError:
        return PreparationFailure(
            ticket=request.ticket, reason=FileReason.TOO_BIG, message="There is not enough memory to read it."
        )
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  an extractor may be a stranger's: its file fails, not the run
        said = words_of(error)
        told = f"The reader “{request.extractor}” broke down{f' (“{said}”)' if said else ''}"
        return PreparationFailure(ticket=request.ticket, reason=FileReason.CRASHED, message=told)


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


def as_passage(chunk: Chunk, facts: DocumentFacts, *, file_name: str, path: str) -> Passage:
    """Analyse a chunk."""
    return Passage(
        chunk.text,
        passage_words(chunk.text, context=chunk.context, file_name=file_name, path=path),
        passage_hash(chunk.text),
        packing.chunk_metadata(chunk, facts),
    )
