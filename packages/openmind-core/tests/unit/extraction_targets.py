"""What the reading workers of these tests run: the real handler over extractors that behave in all ways."""

import errno
import os
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import cast

from attrs import frozen
from openmind.adapters.worker_main import Handler
from openmind.application.lookout import Lookout
from openmind.domain.config import ExtractionConfig, OcrConfig
from openmind.domain.documents import DocumentFacts, Picture, Place, Segment
from openmind.domain.errors import ExtractionFailed, StoreFull
from openmind.domain.files import FileReason
from openmind.plugins.registries import ExtractionTools, ExtractorRegistry
from openmind.ports.extractor import Blob, ExtractorInfo
from openmind.ports.ocr_engine import OcrText, PageImage
from openmind.reading_worker import IsolatedReading, _forbid_network
from openmind.testing.fakes.jobs import FakeClock

Parts = Iterator[Segment | DocumentFacts | Picture]


def scripted(setup: Mapping[str, object]) -> Handler:
    _forbid_network()
    registry = ExtractorRegistry()
    for package, ways in {"openmind-extractors": WAYS, "openmind-acme": FOREIGN_WAYS}.items():
        registry.let_in(package, package)
        for name, way in ways.items():
            info = ExtractorInfo(name=name.replace(" ", "-"), version=1, extensions=frozenset({".x"}))
            registry.add(info, partial(Scripted, way))
    registry.add_ocr("plain-eyes", lambda config: PlainEyes())
    registry.add_ocr("stuck-eyes", lambda config: StuckEyes())
    registry.add_ocr("broken-eyes", _broken_eyes)
    registry.let_in("openmind-acme", "openmind-acme")
    registry.add_ocr("acme-eyes", lambda config: AcmeEyes())
    registry.add_ocr("late-eyes", lambda config: time.sleep(3_600))  # type: ignore[arg-type, return-value]
    registry.let_in("openmind-extractors", "openmind-extractors")
    registry.add_ocr("sharp-eyes", lambda config: SharpEyes())
    backend = cast(dict[str, str], setup["ocr"])["backend"]
    config, lookout = ExtractionConfig(ocr=OcrConfig(backend=backend)), _hasty if backend == "late-eyes" else Lookout
    return IsolatedReading(registry, config, lookout=lambda tell: lookout(tell=tell)).answer


def _hasty(*, tell: Callable[[str], None]) -> Lookout:
    """Make a lookout whose time passes faster."""
    clock = FakeClock()

    def sleep(seconds: float) -> None:
        time.sleep(0.01)
        clock.sleep(seconds)

    return Lookout(tell=tell, clock=clock.monotonic, sleep=sleep)


@frozen
class Scripted:
    way: Callable[[Blob, ExtractionTools], Parts]
    tools: ExtractionTools

    def extract(self, blob: Blob) -> Parts:
        return self.way(blob, self.tools)


class PlainEyes:
    name = "plain-eyes"
    revision = "1"

    def read(self, page: PageImage) -> OcrText:
        return OcrText(text="seen")


class StuckEyes(PlainEyes):
    name = "stuck-eyes"

    def read(self, page: PageImage) -> OcrText:
        time.sleep(60)
        return super().read(page)


class SharpEyes:
    """Reads the number that is the picture, and how often it was asked."""

    name = "sharp-eyes"
    revision = "1"

    def __init__(self) -> None:
        self.asked = 0

    def read(self, page: PageImage) -> OcrText:
        self.asked += 1
        return OcrText(text=f"page {page.pixels.decode()}, {self.asked}. look", confidence=0.5, warning="blurred")


class AcmeEyes:
    """An engine of another package that goes wrong on the second page as its pixels tell it."""

    name = "acme-eyes"
    revision = "1"

    def read(self, page: PageImage) -> OcrText:
        way = page.pixels.decode()
        if page.page == 1:
            return OcrText(text="page one")
        return cast(OcrText, BAD_SIGHTS[way]())


def _broken_eyes(config: ExtractionConfig) -> PlainEyes:
    raise OSError("libGL.so.1: cannot open shared object file")


def _pages(blob: Blob, tools: ExtractionTools) -> Parts:
    for number, text in enumerate(blob.read().decode().split("\f"), start=1):
        yield Segment(text=text, locator=(Place(kind="page", start=number, label=f"{number}"),))
    yield DocumentFacts(title=blob.name, metadata={"pid": os.getpid(), "odd": {1, 2}.__class__, "pages": number})


def _abort(blob: Blob, tools: ExtractionTools) -> Parts:
    yield DocumentFacts(title="Half a book")
    yield Segment(text="page one")
    os.abort()


def _killed(blob: Blob, tools: ExtractionTools) -> Parts:
    """As a system does that runs out of memory: once for the file's text, always for `killed again`."""
    trace = Path(f"{blob.path}.trace")
    yield Segment(text="page one")
    if b"again" in blob.read() or not trace.exists():
        trace.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    yield Segment(text="page two")


def _killed_in_book(blob: Blob, tools: ExtractionTools) -> Parts:
    assert tools.ocr is not None
    eyes = tools.ocr()
    yield Segment(text=eyes.read(PageImage(pixels=b"1", width=1, height=1, channels=1, page=1, pages=2)).text)
    os.kill(os.getpid(), signal.SIGKILL)


class Panic(BaseException):
    """What no parser of Python raises, and which cannot even be told."""

    def __str__(self) -> str:
        raise RuntimeError


def _panic(blob: Blob, tools: ExtractionTools) -> Parts:
    yield Segment(text="page one")
    raise Panic


def _loop(blob: Blob, tools: ExtractionTools) -> Parts:
    yield Segment(text="page one")
    while True:
        pass


def _encrypted(blob: Blob, tools: ExtractionTools) -> Parts:
    raise ExtractionFailed("it wants a password", reason=FileReason.ENCRYPTED)
    yield Segment(text="")


def _stumble(blob: Blob, tools: ExtractionTools) -> Parts:
    yield Segment(text="page one")
    raise KeyError("/Root")


def _talk(blob: Blob, tools: ExtractionTools) -> Parts:
    print("printed")
    os.write(1, b"written\n")
    yield Segment(text="said")


def _swell(blob: Blob, tools: ExtractionTools) -> Parts:
    yield Segment(text="page one")
    held = b"x" * 200_000_000
    time.sleep(600)  # until somebody looks on
    yield Segment(text=str(len(held)))


def _endless(blob: Blob, tools: ExtractionTools) -> Parts:
    while True:
        yield Segment(text="word " * 400_000)


def _call_home(blob: Blob, tools: ExtractionTools) -> Parts:
    try:
        socket.create_connection(("127.0.0.1", 9))
    except PermissionError as error:
        yield Segment(text=str(error))


def _surrogates(blob: Blob, tools: ExtractionTools) -> Parts:
    yield Segment(text="a\ud800b")
    yield DocumentFacts(title="\udfff", metadata={"k\ud800": ["\ud800", float("nan"), b"123"]})


def _scan(blob: Blob, tools: ExtractionTools) -> Parts:
    if tools.ocr is None:
        yield DocumentFacts(reason=FileReason.NEEDS_OCR, note="OCR is off")
        return
    eyes = tools.ocr()
    for number in (1, 2, 3):
        text = eyes.read(PageImage(pixels=b"\0", width=1, height=1, channels=1)).text
        yield Segment(text=text, locator=(Place(kind="page", start=number),))
    yield DocumentFacts(metadata={"engine": eyes.name})


def _book(blob: Blob, tools: ExtractionTools) -> Parts:
    """Three scanned pages; a cut one ends in the midst."""
    assert tools.ocr is not None
    eyes = tools.ocr()
    for number in (1, 2, 3):
        if number == 3 and blob.read() == b"cut":
            os.abort()
        image = PageImage(pixels=b"%d" % number, width=1, height=1, channels=1, page=number, pages=3)
        yield Segment(text=eyes.read(image).text)


def _pictures(blob: Blob, tools: ExtractionTools) -> Parts:
    yield Segment(text="drawn")
    for number in range(2):
        yield Picture(data=b"\xff\xd8\xff%d" % number, media_type="image/jpeg")


def _pictured(blob: Blob, tools: ExtractionTools) -> Parts:
    yield from _pictures(blob, tools)
    raise KeyError("the rest")


def _raising(error: BaseException) -> Callable[[], OcrText]:
    def see() -> OcrText:
        raise error

    return see


BAD_SIGHTS: dict[str, Callable[[], object]] = {
    "raise": _raising(RuntimeError("no film")),
    "exit": _raising(SystemExit(5)),
    "banana": _raising(ExtractionFailed("odd", reason=cast(FileReason, "banana"))),
    "none": lambda: None,
    "text": lambda: OcrText(text=cast(str, 5)),
    "warning": lambda: OcrText(text="", warning=cast(str, None)),
    "nan": lambda: OcrText(text="", confidence=float("nan")),
    "nine": lambda: OcrText(text="", confidence=9),
    "gone": lambda: os._exit(3),
}


def _read_as_told(blob: Blob, tools: ExtractionTools) -> Parts:
    """Two pages, and no care for what the engine raises."""
    assert tools.ocr is not None
    eyes = tools.ocr()
    yield DocumentFacts(title="Two pages")
    for number in (1, 2):
        image = PageImage(pixels=blob.read(), width=1, height=1, channels=1, page=number, pages=2)
        yield Segment(text=eyes.read(image).text)


_KEPT: list[int] = []


def _greedy(blob: Blob, tools: ExtractionTools) -> Parts:
    """Keep some handles, or take the right to have any."""
    if blob.read() == b"all":
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    else:
        _KEPT.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(40))
    yield Segment(text="greedy")


def _crowded(blob: Blob, tools: ExtractionTools) -> Parts:
    """As where no handle is left: once for the file's text, always for `full`."""
    trace = Path(f"{blob.path}.trace")
    if blob.read() == b"full" or not trace.exists():
        trace.touch()
        raise OSError(errno.EMFILE, "Too many open files")
    yield Segment(text="room")


def _odd(blob: Blob, tools: ExtractionTools) -> Parts:
    """Go wrong as the file's text tells."""
    way = blob.read().decode()
    if way == "full":
        raise StoreFull("the disk is full")
    if way == "banana":
        raise ExtractionFailed("odd", reason=cast(FileReason, "banana"))
    yield Segment(text="odd", locator=(Place(kind="page", start=way == "true" or 1),))
    yield DocumentFacts(metadata={"long": 10**5_000})


def _one_long(blob: Blob, tools: ExtractionTools) -> Parts:
    yield Segment(text="short")
    yield Segment(text="x" * 20_000_001)


def _careless(blob: Blob, tools: ExtractionTools) -> Parts:
    """Take what the engine raises for a fault of the file, as far as it is an `Exception`."""
    try:
        yield from _read_as_told(blob, tools)
    except Exception:  # noqa: BLE001  so do many
        yield DocumentFacts(title="Two pages", reason=FileReason.PARTIAL, note="the file is broken")


WAYS = {
    "pages": _pages,
    "abort": _abort,
    "loop": _loop,
    "killed": _killed,
    "killed in book": _killed_in_book,
    "encrypted": _encrypted,
    "stumble": _stumble,
    "swell": _swell,
    "endless": _endless,
    "call home": _call_home,
    "surrogates": _surrogates,
    "scan": _scan,
    "book": _book,
    "pictures": _pictures,
    "pictured": _pictured,
    "read as told": _read_as_told,
    "careless": _careless,
    "one long": _one_long,
}
FOREIGN_WAYS: dict[str, Callable[[Blob, ExtractionTools], Parts]] = {
    "acme": _stumble,
    "acme-panic": _panic,
    "acme-loop": _loop,
    "acme-swell": _swell,
    "acme-talk": _talk,
    "acme-greedy": _greedy,
    "acme-crowded": _crowded,
    "acme-odd": _odd,
}
