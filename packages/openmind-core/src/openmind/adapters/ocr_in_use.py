"""An OCR engine in use: what it does wrong is a failure that names it, and says nothing against the file."""

from collections.abc import Callable
from numbers import Real
from typing import Self

from attrs import define, evolve

from openmind.domain.errors import ExtractionFailed, OpenMindError
from openmind.domain.files import FileReason
from openmind.domain.foreign_errors import named, words_of
from openmind.domain.plugins import engine_of
from openmind.ports.ocr_engine import OcrEngine, OcrText, PageImage

STARTS = "its start"
"""What an engine is at before it reads, as a part of a sentence."""
MAX_PAGE_CHARS = 1_000_000
"""No page of paper holds as many."""
_ROUNDING = 0.001
HINT = "Update that package, or choose another engine with `openmind config set extraction.ocr.backend`."


@define(eq=False)
class EngineInUse:
    """An `OcrEngine` of any package. After its first fault it is not asked any more: whoever has it makes another."""

    inner: OcrEngine
    whom: str
    """It as a part of a sentence."""
    name: str
    revision: str
    fault: ExtractionFailed | None = None
    """What broke it, other than a page that it may fail on."""

    @classmethod
    def start(cls, make: Callable[[], OcrEngine], backend: str, package: str) -> Self:
        """Make an engine, and ask it what it is.

        Raises:
            ExtractionFailed: it does not start, or cannot say what it is.
        """
        whom = engine_of(backend, package)
        try:
            engine = make()
            name, revision = engine.name, engine.revision
        except ExtractionFailed:
            raise
        except OpenMindError as error:
            raise ExtractionFailed(error.message, reason=FileReason.NEEDS_OCR, hint=error.hint) from error
        except BaseException as error:
            said = words_of(error).strip("'")
            told = f"{whom} does not start{f' (“{said}”)' if said else ''}"
            raise ExtractionFailed(told, reason=FileReason.NEEDS_OCR) from error
        for what, value in {"name": name, "revision": revision}.items():
            if not isinstance(value, str):
                raise ExtractionFailed(_wrong(whom, what, value), reason=FileReason.NEEDS_OCR, hint=HINT)
        return cls(engine, whom, name, revision)

    def read(self, page: PageImage) -> OcrText:
        """See the port. What is given back has the types and the range that were promised.

        Raises:
            ExtractionFailed: the engine failed on this page, or is broken: then `fault` says how.
        """
        if self.fault is not None:
            raise self.fault
        try:
            return self._checked(self.inner.read(page))
        except ExtractionFailed as failure:
            if not isinstance(failure.reason, FileReason):
                raise self._broken(_wrong(self.whom, "reason", failure.reason)) from failure
            raise
        except (MemoryError, GeneratorExit):
            raise  # the process is of no more use
        except BaseException as error:
            raise self._broken(f"{self.whom} failed: {named(error)}") from error

    def _checked(self, found: object) -> OcrText:
        if not isinstance(found, OcrText):
            raise self._broken(f"{self.whom} gives {type(found).__name__} instead of OcrText")
        for what, value in {"text": found.text, "warning": found.warning}.items():
            if not isinstance(value, str):
                raise self._broken(_wrong(self.whom, what, value))
        if len(found.text) > MAX_PAGE_CHARS:
            raise self._broken(f"{self.whom} gives {len(found.text):,} characters for one page")
        sure: object = found.confidence
        if not isinstance(sure, Real) or isinstance(sure, bool) or not abs(float(sure) - 0.5) <= 0.5 + _ROUNDING:
            raise self._broken(_wrong(self.whom, "confidence", sure, wanted="a number from 0 to 1"))
        return evolve(found, confidence=min(1.0, max(0.0, float(sure))))

    def _broken(self, told: str) -> ExtractionFailed:
        if self.fault is None:
            self.fault = ExtractionFailed(told, reason=FileReason.NEEDS_OCR, hint=HINT)
        return self.fault


def _wrong(whom: str, what: str, value: object, *, wanted: str = "text") -> str:
    shown = repr(value) if isinstance(value, int | float) else type(value).__name__
    return f"{whom} gives a {what} that is {shown[:40]} instead of {wanted}"
