"""Hostile files are read elsewhere: in processes that may die, and pictures also by a model that describes them."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress

import attrs
from attrs import Factory, define, field

from openmind.application.indexing.attention import Attention
from openmind.application.indexing.describing import Describing, unreadable
from openmind.application.indexing.file_task import FileTask
from openmind.application.indexing.run_log import RunLog
from openmind.domain import packing
from openmind.domain.documents import ExtractedDocument
from openmind.domain.errors import OpenMindError, StoreDamaged
from openmind.domain.files import FileReason
from openmind.domain.paths import displayable
from openmind.domain.pictures import MODEL
from openmind.domain.recognition import KEPT_AS, MISSED, PageNews, PageText, as_document, of_document
from openmind.domain.sentences import as_sentence
from openmind.ports.catalog import Catalog
from openmind.ports.file_tree import FileTree
from openmind.ports.image_describer import ImageDescriber
from openmind.ports.isolated_reader import IsolatedReader, ReadOutcome, ReadRequest


@define(kw_only=True)
class HostileReading:
    """Reads files whose formats may crash, hang or swell a reader. Serves one thread."""

    catalog: Catalog
    tree: FileTree
    reader: Callable[[], IsolatedReader]
    describer: Callable[[], ImageDescriber | None]
    max_new_tokens: int
    log: RunLog
    attention: Attention
    failed: Callable[[FileTask, FileReason, str], None]
    """Hears of a file that could not be read, and why."""
    put_off: Callable[[FileTask], None]
    """Hears of a file that needs OCR, which has to wait."""
    lost_describer: Callable[[OpenMindError], None]
    """Hears, once, that no more pictures can be described in this run."""
    _describing: Describing = field(default=Factory(lambda self: self._new_describing(), takes_self=True), init=False)
    _open: IsolatedReader | None = field(default=None, init=False)
    _waiting: dict[int, FileTask] = field(factory=dict, init=False)
    """Files that were asked for, in the order in which they come back."""
    _pages: dict[int, PageNews] = field(factory=dict, init=False)
    """The page that recognition is at, by file."""

    @property
    def may_describe(self) -> bool:
        """Whether pictures that lack their description can get it in this run."""
        return not self._describing.is_lost

    def read(self, tasks: Iterator[FileTask], *, defer_ocr: bool) -> Iterator[FileTask]:
        """Read files; each that could be read comes back with its packed text.

        Args:
            tasks: read ahead only as far as the reader's bounds let it.
            defer_ocr: whether files that need OCR are put off.
        """
        if self._open is None:
            self._open = self.reader()
        requests = self._requests(tasks, defer_ocr)
        for outcome in self._open.read(requests, while_waiting=self._wait, recognised=self._recognised):
            self.attention.heed()
            task = self._waiting.pop(outcome.ticket)
            self._pages.pop(outcome.ticket, None)
            self._name_awaited()
            if outcome.deferred:
                self.put_off(task)
                continue
            document = self._document(task, outcome)
            if document is None:
                self.failed(task, outcome.reason, outcome.message)
                continue
            self._note_missing_engine(task, document)
            packed = packing.pack(document)
            if MODEL in document.facts.metadata:
                self._keep(task, packed)
            yield attrs.evolve(task, packed=packed)

    def standing_still(self) -> AbstractContextManager[None]:
        """Let nothing go on in the background until the context ends."""
        return nullcontext() if self._open is None else self._open.standing_still()

    def close(self) -> None:
        """End what is under way, at once. Safe to call twice."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _requests(self, tasks: Iterator[FileTask], defer_ocr: bool) -> Iterator[ReadRequest]:
        for task in tasks:
            self._waiting[task.ticket] = task
            ocr = task.ocr and task.former is None
            yield ReadRequest(
                ticket=task.ticket,
                path_bytes=task.path_bytes,
                extractor=task.reader,
                size=task.stat.size,
                ocr=ocr,
                defer_ocr=defer_ocr,
                recognised=() if defer_ocr or not ocr else self._recognised_before(task),
            )

    def _recognised_before(self, task: FileTask) -> tuple[PageText, ...]:
        """Find what was recognised of this content before a run ended, or in the file before it was changed."""
        with self.catalog.reading() as snapshot:
            kept = snapshot.recognised(task.known.content_hash) if task.known else {}
            kept |= snapshot.recognised(task.content_hash)
        pages = []
        for name, packed in kept.items():
            with suppress(StoreDamaged):  # it is recognised again
                pages.append(of_document(name.removeprefix(KEPT_AS), packing.unpack(packed)))
        return tuple(pages)

    def _recognised(self, ticket: int, news: PageNews) -> None:
        """Keep a page at once: it took seconds, and its document may take hours."""
        task = self._waiting[ticket]
        if news.read is not None:
            with self.catalog.writing() as session:
                session.keep_text(task.content_hash, KEPT_AS + news.read.name, packing.pack(as_document(news.read)))
        self._pages[ticket] = news
        self._name_awaited()

    def _wait(self) -> None:
        self.attention.heed()
        self._name_awaited()

    def _name_awaited(self) -> None:
        """Tell which file is waited for, and where in it recognition is; another one may be read beside it."""
        ticket, awaited = next(iter(self._waiting.items()), (0, None))
        self.log.waits_for(displayable(awaited.path_bytes) if awaited else "", self._pages.get(ticket))

    def _document(self, task: FileTask, outcome: ReadOutcome) -> ExtractedDocument | None:
        """Give a document its description, where it is to have one; None when nothing was read."""
        if task.former is None:
            if outcome.document is None:
                return None
            self.log.count(extracted=1)
            document = outcome.document
        else:
            document = packing.unpack(task.former)  # with the text that is on the picture, which was not read again
            if outcome.document is None:
                return unreadable(document, outcome.message)
        if not task.info.described_by:
            return document
        self.log.at(displayable(task.path_bytes))
        return self._describing.complete(document, outcome.picture)

    def _note_missing_engine(self, task: FileTask, document: ExtractedDocument) -> None:
        """Say, once, that recognition is switched on and cannot be had, or breaks: many files may lack text."""
        metadata = document.facts.metadata
        why = metadata.get("ocr_error")
        if task.ocr and metadata.get(MISSED) is True and isinstance(why, str):
            told = as_sentence(why)
            self.log.notice(f"Text cannot be recognised: {told} The next run reads what needs it once it can.")

    def _keep(self, task: FileTask, packed: bytes) -> None:
        """Keep a description at once: it may have taken a minute, and the commit may be another one away."""
        if self.tree.stat(task.path_bytes) == task.stat:
            with self.catalog.writing() as session:
                session.keep_text(task.content_hash, task.info.key, packed)

    def _new_describing(self) -> Describing:
        return Describing(
            describer=self.describer,
            max_new_tokens=self.max_new_tokens,
            wait=self.attention.patiently,
            lost=self.lost_describer,
        )
