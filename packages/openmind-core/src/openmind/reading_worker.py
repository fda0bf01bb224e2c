"""What a reading worker runs: one extractor over one file, each piece sent as soon as it is there."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import cast

from attrs import define, evolve, field, frozen

from openmind.adapters.extraction_wire import (
    deferral_to_wire,
    engine_to_wire,
    failure_to_wire,
    news_to_wire,
    part_to_wire,
    payload_of,
    recognised_from_wire,
)
from openmind.adapters.ocr_in_use import STARTS, EngineInUse
from openmind.adapters.regular_files import EXHAUSTED, open_regular
from openmind.adapters.worker_main import Exhausted, Handler, Reply, Request
from openmind.application.lookout import Lookout, Wait
from openmind.domain.config import Config, ExtractionConfig, ImagesConfig, OcrConfig, Section
from openmind.domain.documents import DocumentFacts, check_yielded
from openmind.domain.errors import ConfigError, ExtractionFailed, OpenMindError
from openmind.domain.files import FileReason
from openmind.domain.foreign_errors import named, words_of
from openmind.domain.paths import name_of
from openmind.domain.plugins import OURS, engine_of
from openmind.domain.recognition import MISSED, PageNews, PageText, picture_name
from openmind.plugins.manager import load_plugins
from openmind.plugins.registries import ExtractorRegistry, OcrFactory, Registered
from openmind.ports.extractor import Blob, Extractor
from openmind.ports.ocr_engine import OcrEngine, OcrText, PageImage


def read_files(setup: Mapping[str, object]) -> Handler:
    """Make the handler of a worker.

    Args:
        setup: `ocr`, `images` and `plugins`, the sections of the configuration.
    """
    _forbid_network()
    config = ExtractionConfig(
        ocr=OcrConfig(**cast(dict[str, object], setup["ocr"])),  # type: ignore[arg-type]  # our own, from `asdict`
        images=ImagesConfig(**cast(dict[str, object], setup["images"])),  # type: ignore[arg-type]
    )
    plugins = Config(plugins=cast(Section, setup["plugins"]))
    extractors = load_plugins(blocked=plugins.blocked_plugins).extractors
    return IsolatedReading(extractors, config, plugins.plugins).answer


MOST_KEPT_HANDLES = 16
"""Of one file. A library may open some of its own when it is first used."""


class OcrLater(BaseException):
    """A page needs OCR, which is to wait. No `Exception`: extractors must not take it for a fault of the file."""


@define(eq=False)
class IsolatedReading:
    """Reads files with registered extractors, and with an OCR engine that is made once."""

    registry: ExtractorRegistry
    config: ExtractionConfig
    plugins: Section = field(factory=dict)
    lookout: Callable[[Callable[[str], None]], Lookout] = lambda tell: Lookout(tell=tell)
    """Makes what tells that the start of an engine takes long."""
    _extractors: dict[tuple[str, bool, bool], Extractor] = field(factory=dict, init=False)
    _engine: EngineInUse | None = field(default=None, init=False)
    _request: Request | None = field(default=None, init=False)
    _is_slow: bool = field(default=False, init=False)
    _is_broken: bool = field(default=False, init=False)
    """Whether an extractor of another package broke."""
    _known: Mapping[str, PageText] = field(factory=dict, init=False)
    """What was recognised of the file before."""

    def answer(self, request: Request) -> Iterator[Reply]:
        """Read one file; a failure is the last part.

        The process is left to no other file where an extractor of another package broke in it, or kept what it opened.

        Raises:
            Exhausted: the process can open nothing any more.
        """
        entry = self.registry.entries.get(str(request.message["extractor"]))
        is_foreign = entry is not None and entry.distribution not in OURS
        before = _open_handles() if is_foreign else 0
        yield from self._read(request)
        if is_foreign and (self._is_broken or _open_handles() > before + MOST_KEPT_HANDLES):
            request.retire()
        if self._fault is not None:  # a fresh engine may do better
            request.retire()

    def _read(self, request: Request) -> Iterator[Reply]:
        self._request, self._is_slow, self._is_broken = request, False, False
        self._known = recognised_from_wire(request.payload)
        path = str(request.message["path"]).encode("latin-1")
        facts = DocumentFacts()
        try:
            os.close(open_regular(path))  # a pipe, a device or a link is told apart before a library opens it
            extractor = self._extractor(
                str(request.message["extractor"]),
                ocr=bool(request.message["ocr"]),
                defer=bool(request.message.get("defer_ocr")),
            )
            for part in extractor.extract(Blob(name=name_of(path), path=Path(os.fsdecode(path)))):
                check_yielded(part)
                if isinstance(part, DocumentFacts):
                    part = facts = self._as_far_as_read(part)
                yield part_to_wire(part), payload_of(part)
        except OcrLater:
            yield deferral_to_wire(), b""
        except ExtractionFailed as failure:
            _heed_exhaustion(failure.__cause__)
            if not isinstance(failure.reason, FileReason):
                wrong = TypeError(f"reason of ExtractionFailed is {failure.reason!r}, and has to be FileReason")
                yield failure_to_wire(self._broken(str(request.message["extractor"]), wrong)), b""
            elif self._fault is None:
                yield failure_to_wire(failure), b""
            else:  # not the file's
                facts = evolve(facts, reason=FileReason.NEEDS_OCR, note=self._fault.told)
                yield part_to_wire(self._as_far_as_read(facts)), b""
        except (MemoryError, GeneratorExit):
            raise  # the process is of no more use, or its work not wanted any more
        except BaseException as error:  # noqa: BLE001  parsers raise anything when a file is broken
            _heed_exhaustion(error)
            yield failure_to_wire(self._broken(str(request.message["extractor"]), error)), b""

    def _broken(self, name: str, error: BaseException) -> ExtractionFailed:
        """Blame the file for what our own extractors raise, and the package for what those of another one do."""
        package = self.registry.registered(name).distribution
        if package in OURS:
            told = f"the file is broken: its reader could make no sense of it{_in_its_words(error)}"
            return ExtractionFailed(told[:200], reason=FileReason.DAMAGED)
        self._is_broken = True
        # Whoever wrote the package looks for the name of the exception.
        told = f"the extractor “{name}” of the package {package} failed: {named(error)}"
        return ExtractionFailed(told, reason=FileReason.CRASHED)

    def _extractor(self, name: str, *, ocr: bool, defer: bool) -> Extractor:
        """Make an extractor, once.

        Raises:
            ExtractionFailed: it is not installed, or cannot be made.
        """
        made = self._extractors.get((name, ocr, defer))
        if made is None:
            engine = (_put_off if defer else self._patient_engine) if ocr and self.config.ocr.enabled else None
            try:
                made = self.registry.build(name, self.config, plugins=self.plugins, ocr=engine)
            except OpenMindError as error:
                raise ExtractionFailed(error.message, reason=FileReason.CRASHED, hint=error.hint) from error
            self._extractors[name, ocr, defer] = made
        return made

    def _patient_engine(self) -> OcrEngine:
        """Make the configured engine on first use.

        Raises:
            ExtractionFailed: it is not installed, or does not start.
        """
        self.say_slow()
        if self._engine is None:
            try:
                found = self.registry.ocr.registered(self.config.ocr.backend)
            except ConfigError as error:
                raise ExtractionFailed(error.message, reason=FileReason.NEEDS_OCR, hint=error.hint) from error
            self._engine = self._started(found)
        return _PatientEngine(self._engine, self.recognise)

    def _started(self, found: Registered[OcrFactory]) -> EngineInUse:
        """Start an engine; whoever waits for the file hears when that of another package takes long.

        Raises:
            ExtractionFailed: it does not start.
        """
        assert self._request is not None
        tell = self._request.tell
        wait = Wait(engine_of(found.name, found.distribution), STARTS, found.plugin)
        with self.lookout(lambda _: tell(engine_to_wire(waits=True))).over(wait):
            engine = EngineInUse.start(lambda: found.value(self.config), found.name, found.distribution)
        tell(engine_to_wire(waits=False))
        return engine

    @property
    def _fault(self) -> ExtractionFailed | None:
        return None if self._engine is None else self._engine.fault

    def _as_far_as_read(self, facts: DocumentFacts) -> DocumentFacts:
        """Note that text is missing because the engine broke, whatever the extractor made of that: it is read again."""
        if self._fault is None:
            return facts
        return evolve(facts, metadata={**facts.metadata, MISSED: True, "ocr_error": self._fault.told})

    def say_slow(self) -> None:
        """Ask for the time that OCR takes, once a file."""
        if self._request and not self._is_slow:
            self._is_slow = True
            self._request.slow()

    def recognise(self, image: PageImage) -> OcrText:
        """Read a page, unless it was read before; what is read is sent at once, whatever becomes of the file."""
        self.say_slow()
        assert self._engine is not None
        assert self._request is not None
        name = picture_name(
            f"{self._engine.name} {self._engine.revision}",
            width=image.width,
            height=image.height,
            channels=image.channels,
            pixels=image.pixels,
        )
        read = self._known.get(name)
        if read is None:
            self._request.tell(news_to_wire(PageNews(None, image.page, image.pages)))
            found = self._engine.read(image)
            read = PageText(name=name, text=found.text, confidence=found.confidence, warning=found.warning)
        self._request.tell(news_to_wire(PageNews(read, image.page, image.pages)))
        return OcrText(text=read.text, confidence=read.confidence, warning=read.warning)


def _heed_exhaustion(error: BaseException | None) -> None:
    if isinstance(error, OSError) and error.errno in EXHAUSTED:
        raise Exhausted from error


def _open_handles() -> int:
    """How many handles this process has; 0 where nobody counts them, more than any when it has none left for that."""
    try:
        return len(os.listdir("/dev/fd"))
    except OSError as error:
        return sys.maxsize if error.errno in EXHAUSTED else 0


def _in_its_words(error: BaseException) -> str:
    """Quote what a library says, as far as it says anything."""
    told = words_of(error).strip("'")
    return f" (“{told}”)" if told else ""


def _put_off() -> OcrEngine:
    raise OcrLater


@frozen
class _PatientEngine:
    """An OCR engine that asks for time before it reads, and reads no page twice."""

    engine: OcrEngine
    recognise: Callable[[PageImage], OcrText]

    @property
    def name(self) -> str:
        return self.engine.name

    @property
    def revision(self) -> str:
        return self.engine.revision

    def read(self, page: PageImage) -> OcrText:
        return self.recognise(page)


def _forbid_network() -> None:
    """Let no code in this process, whatever a file makes it do, reach another machine."""

    def refuse(event: str, _: tuple[object, ...]) -> None:
        if event in {"socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.sendmsg", "socket.bind"}:
            raise PermissionError("files are read without a network")

    sys.addaudithook(refuse)
