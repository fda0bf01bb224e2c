"""Reads hostile files in disposable processes."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from pathlib import Path
from queue import Empty, SimpleQueue

from attrs import asdict, define, evolve, field

from openmind.adapters.extraction_wire import (
    Deferred,
    WireError,
    engine_from_wire,
    is_news,
    news_from_wire,
    part_from_wire,
    recognised_to_wire,
)
from openmind.adapters.job_queue import JobQueue
from openmind.adapters.ocr_in_use import STARTS
from openmind.adapters.worker_jobs import MEGABYTE, FailureKind, Job, Limits, Outcome, Part, WorkerFailure, WorkerPlan
from openmind.adapters.worker_pool import WorkerPool
from openmind.application.lookout import Wait, warn
from openmind.domain.config import ExtractionConfig, Section
from openmind.domain.documents import DocumentFacts, ExtractedDocument, Picture, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.recognition import MISSED, PageNews
from openmind.ports.isolated_reader import ReadOutcome, ReadRequest

MAX_TEXT_CHARS = 20_000_000
"""Text of one file that is kept."""

MAX_NEWS = 10_000
"""Pages of one file that are kept one by one."""

OCR_LIMITS = Limits(wall_s=240, cpu_s=180, memory_bytes=800 * MEGABYTE)
"""For each page."""
ADDRESS_SPACE = 3_072 * 1_048_576
"""Far more than any worker needs at rest: it stops what would swell between two looks at its memory."""
RECYCLE_AFTER = 500
"""Files. Starting a worker costs as much as a hundred small files."""

_REASONS = {
    FailureKind.TIMEOUT: FileReason.TIMEOUT,
    FailureKind.CRASHED: FileReason.CRASHED,
    FailureKind.ENDED: FileReason.CRASHED,
    FailureKind.TOO_BIG: FileReason.TOO_BIG,
}


def limits_for(size: int) -> Limits:
    """Say what reading a file of so many bytes may cost."""
    cpu_s = min(120, 10 + 5 * size // MEGABYTE)
    # Twice as long by the clock: other programs want the processor, too.
    return Limits(
        wall_s=2 * cpu_s,
        cpu_s=cpu_s,
        memory_bytes=512 * MEGABYTE,
        output_bytes=128 * MEGABYTE,
        slow=OCR_LIMITS,
    )


@define(eq=False)
class ExtractionWorkers:
    """An `IsolatedReader` over a small pool of workers."""

    config: ExtractionConfig
    plugins: Section = field(factory=dict)
    """`[plugins]`."""
    strangers: Mapping[str, str] = field(factory=dict)
    """The packages of extractors that are not OpenMind's own, by the name of the extractor."""
    strange_engine: str = ""
    """The configured OCR engine as a part of a sentence, where it is not OpenMind's own."""
    engine_plugin: str = ""
    """The plugin that brings it."""
    tell: Callable[[str], None] = warn
    """Hears, once, that its start takes long."""
    folder: Path | None = None
    """Where workers put temporary files."""
    size: int = 2
    target: str = "openmind.reading_worker:read_files"
    limits: Callable[[int], Limits] = limits_for
    pool: WorkerPool = field(init=False)
    _news: SimpleQueue[tuple[int, PageNews]] = field(factory=SimpleQueue, init=False)
    """Pages on their way from the threads of the pool to the calling one."""
    _at_page: set[int] = field(factory=set, init=False)
    """Tickets of the files of which a page is being recognised, or for which the engine takes long to start."""
    _is_told: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        plan = WorkerPlan(
            target=self.target,
            setup={**asdict(self.config), "plugins": self.plugins},
            folder=self.folder,
            address_space=ADDRESS_SPACE,
            recycle_after=RECYCLE_AFTER,
        )
        self.pool = WorkerPool(plan=plan, size=self.size, ahead=2, queue=JobQueue(max_jobs=64))

    def read(
        self,
        requests: Iterable[ReadRequest],
        *,
        while_waiting: Callable[[], None],
        recognised: Callable[[int, PageNews], None],
    ) -> Iterator[ReadOutcome]:
        """See the port."""
        asked: deque[ReadRequest] = deque()
        recognising: set[int] = set()
        self._news, self._at_page = SimpleQueue(), set()  # nothing of a run that ended early

        def jobs() -> Iterator[Job]:
            for request in requests:
                asked.append(request)
                yield self._job(request)

        def hand_over() -> None:
            while True:
                try:
                    ticket, news = self._news.get_nowait()
                except Empty:
                    return
                recognising.add(ticket)
                recognised(ticket, news)

        def wait() -> None:
            hand_over()
            while_waiting()

        with closing(self.pool.run(jobs(), while_waiting=wait)) as outcomes:
            for outcome in outcomes:
                hand_over()
                request = asked.popleft()
                reader = self._named(request.extractor)
                if (broken := self._broken_engine(request.ticket, outcome.failure)) is not None:
                    yield _outcome(request.ticket, outcome, broken, recognising=True, reader=reader)
                    continue
                failure = self._failure(request.extractor, outcome.failure)
                is_recognising = request.ticket in recognising
                yield _outcome(request.ticket, outcome, failure, recognising=is_recognising, reader=reader)

    def standing_still(self) -> AbstractContextManager[None]:
        """See the port."""
        return self.pool.standing_still()

    def close(self) -> None:
        """See the port."""
        self.pool.close()

    def _job(self, request: ReadRequest) -> Job:
        message = {
            "path": request.path_bytes.decode("latin-1"),
            "extractor": request.extractor,
            "ocr": request.ocr,
            "defer_ocr": request.defer_ocr,
        }
        return Job(
            message=message,
            payload=recognised_to_wire(request.recognised) if request.recognised else b"",
            limits=self.limits(request.size),
            weight=16_384 + min(request.size, 4 * MEGABYTE),
            heard=self._hearing(request.ticket),
        )

    def _failure(self, extractor: str, failure: WorkerFailure | None) -> ExtractionFailed | None:
        """What a file is told to suffer from when its worker did not finish."""
        if failure is None:
            return None
        if extractor not in self.strangers:
            message = f"reading the file was given up: {failure.detail}"
            return ExtractionFailed(message, reason=_REASONS[failure.kind])
        message = f"{self._named(extractor)} was given up: {failure.detail}"
        # Of an extractor that we know, memory without end says that the file is too big. Of another it says nothing of
        # the file, which is read again when the extractor is mended.
        late = failure.kind is FailureKind.TIMEOUT
        return ExtractionFailed(message, reason=FileReason.TIMEOUT if late else FileReason.CRASHED)

    def _named(self, extractor: str) -> str:
        """An extractor as the subject of a sentence; one of ours has no name that a person knows."""
        package = self.strangers.get(extractor)
        return f"the extractor “{extractor}” of the package {package}" if package else "the reader"

    def _broken_engine(self, ticket: int, failure: WorkerFailure | None) -> ExtractionFailed | None:
        """The failure of an OCR engine of another package that took its process along; None where it did not."""
        if failure is None or not self.strange_engine or ticket not in self._at_page:
            return None
        # What takes too long does so in each run: it is not tried again before the file is saved anew.
        late = failure.kind is FailureKind.TIMEOUT
        told = f"{self.strange_engine} was given up: {failure.detail}"
        return ExtractionFailed(told, reason=FileReason.TIMEOUT if late else FileReason.NEEDS_OCR)

    def _tell_of_engine(self, waits: bool) -> None:
        """Say in our own words, whatever the worker has become, that the engine of another package takes long."""
        if waits and self.strange_engine and not self._is_told:
            self._is_told = True
            self.tell(Wait(self.strange_engine, STARTS, self.engine_plugin).told)

    def _hearing(self, ticket: int) -> Callable[[Part], bool]:
        queue, at_page, heard = self._news, self._at_page, 0

        def hear(part: Part) -> bool:
            nonlocal heard
            if (waits := engine_from_wire(part.message)) is not None:
                at_page.add(ticket) if waits else at_page.discard(ticket)
                self._tell_of_engine(waits)
                return True
            if not is_news(part.message) or heard >= MAX_NEWS:
                return False
            try:
                news = news_from_wire(part.message)
            except WireError:
                return False  # the outcome says that the worker went wrong
            at_page.add(ticket) if news.read is None else at_page.discard(ticket)
            queue.put((ticket, news))
            heard += 1
            return True

        return hear


def _outcome(
    ticket: int, outcome: Outcome, failure: ExtractionFailed | None, *, recognising: bool, reader: str
) -> ReadOutcome:
    """Gather what a worker sent; what came before a failure is kept and makes the document partial.

    Where somebody else ended the worker amid recognition, the pages that it did not come to are for the next run.
    """
    segments: list[Segment] = []
    facts = DocumentFacts()
    picture: Picture | None = None
    room = MAX_TEXT_CHARS
    for part in outcome.parts:
        try:
            piece = part_from_wire(part.message, part.payload)
        except WireError as error:
            failure = ExtractionFailed(f"{reader} gave what makes no sense: {error}", reason=FileReason.CRASHED)
            break
        if isinstance(piece, Deferred):
            return ReadOutcome(ticket=ticket, reason=FileReason.NEEDS_OCR, deferred=True)
        if isinstance(piece, DocumentFacts):
            facts = piece
        elif isinstance(piece, Picture):
            picture = picture or piece
        elif isinstance(piece, ExtractionFailed):
            failure = piece
        elif len(piece.text) > room:
            segments.append(evolve(piece, text=piece.text[:room]))
            note = f"only the first {MAX_TEXT_CHARS:,} characters are searchable"
            failure = ExtractionFailed(note, reason=FileReason.TOO_BIG)
            break
        else:
            room -= len(piece.text)
            segments.append(piece)
    needs_ocr = failure is not None and failure.reason is FileReason.NEEDS_OCR and outcome.failure is not None
    if failure is not None and not segments and not needs_ocr:
        return ReadOutcome(ticket=ticket, reason=failure.reason, message=failure.told)
    if failure is not None:
        is_to_go_on = needs_ocr or (recognising and _was_ended(outcome))
        metadata = {**facts.metadata, MISSED: True} if is_to_go_on else facts.metadata
        note = f"{failure.told.rstrip('.')}. The next run goes on." if is_to_go_on else failure.told
        reason = FileReason.NEEDS_OCR if needs_ocr else FileReason.PARTIAL
        facts = evolve(facts, reason=reason, note=note, metadata=metadata)
    document = ExtractedDocument(segments=tuple(segments), facts=facts)
    return ReadOutcome(ticket=ticket, document=document, picture=picture)


def _was_ended(outcome: Outcome) -> bool:
    return outcome.failure is not None and outcome.failure.kind is FailureKind.ENDED
