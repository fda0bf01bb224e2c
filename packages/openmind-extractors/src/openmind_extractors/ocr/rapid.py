"""RapidOCR: recognition with the models that come in its wheel, and nothing from anywhere else."""

import logging
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
from attrs import define, frozen
from openmind.domain.config import ExtractionConfig
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.ocr_engine import OcrEngine, OcrText, PageImage

from openmind_extractors.ocr.drawn_shapes import is_shape
from openmind_extractors.ocr.layout import Line, in_reading_order

THREADS = 1
"""There is a worker process for each processor already."""

MIN_SCORE = 0.5
"""Lines of which the model itself is less sure are left out."""

BAND_PIXELS = 2_000
"""The engine shrinks its pictures to this; taller ones are read in bands, so that letters keep their size."""

_MAX_UNBANDED = 2_600

DETECTION_PIXELS = 1_280
"""Lines are found on a picture of this size and read at full size: half the memory and time, and no worse."""

SMALL_PIXELS = 1_000
"""Smaller pictures are doubled: their letters are too small to be found."""

UNSURE_SCORE = 0.9
"""Mean score of a page; good scans have 0.99."""

UPRIGHT_SCORE = 0.85
"""A page read with less may stand on its head, and is read once more the other way round."""

MIN_LETTERS = 0.3
"""Letters and figures on a piece of a line that is as long as it is high; Latin has 1 to 2, Chinese 1. Of a script that
the model does not know it reads the spaces, the commas and the few letters that look like Latin ones."""

MAX_UNREAD_SHARE = 0.5
"""Of the length of all lines; above, what was read is chance."""

SIDEWAYS_COST = 0.05
"""Of the mean score, for a page whose lines run from top to bottom: of two ways to lay it that are read as well, it is
the other one."""

SETTINGS_VERSION = 3
"""Grows when something here makes the same picture give another text."""

_UNREAD = "there is text in a script that recognition cannot read, or too unclear to be read"
_UNSURE = "the text was hard to recognise; it may be in a script that recognition cannot read"
_EMPTY_LINE = "\ufffd"
_READ_SCRIPTS = frozenset({"LATIN", "DIGIT", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "FULLWIDTH"})


Pixels = npt.NDArray[np.uint8]


Box = Sequence[Sequence[float]]
"""The four corners of a line, in pixels."""

Recognise = Callable[[Pixels], Iterable[tuple[str, Box, float]]]
"""Finds lines of text on a picture: the text, empty when it cannot be read, where it stands, how sure the model is."""


@frozen
class RapidOcr:
    """Reads European, Chinese and Japanese text."""

    name: str
    _recognise: Recognise
    revision: str = ""

    def read(self, page: PageImage) -> OcrText:
        """See the port."""
        pixels = _as_array(page)
        found = self._read(pixels)
        is_upright = found.clarity.confidence >= UPRIGHT_SCORE
        quarters = (1, 3) if found.clarity.is_sideways else () if is_upright else (2,)
        turned = [self._read(np.rot90(pixels, quarter)) for quarter in quarters]
        found = max([found, *(each for each in turned if each.clarity.confidence >= UPRIGHT_SCORE)], key=_likelihood)
        confidence = found.clarity.confidence
        if found.clarity.unread_share > MAX_UNREAD_SHARE:
            return OcrText(text="", confidence=confidence, warning=_UNREAD)
        return OcrText(text=found.text, confidence=confidence, warning=_UNSURE if confidence < UNSURE_SCORE else "")

    def _read(self, pixels: Pixels) -> "_Reading":
        texts: list[str] = []
        clarity = _Clarity()
        for band in bands(np.ascontiguousarray(pixels)):
            try:
                found = list(self._recognise(band))
            except Exception as error:
                told = " ".join(str(error).split())[:200]
                said = f" (“{told}”)" if told else ""
                raise ExtractionFailed(
                    f"text recognition failed on this picture{said}", reason=FileReason.NEEDS_OCR
                ) from error
            lines = []
            for text, box, score in found:
                line = _line(text, box)
                if (_is_read(line, score) and (len(line.text) > 1 or score >= UNSURE_SCORE)) or not is_shape(
                    band, line
                ):
                    clarity.add(line, score)
                    lines += [line] if line.text and score >= MIN_SCORE else []
            texts.append(in_reading_order(lines))
        return _Reading("\n".join(texts), clarity)


@frozen
class _Reading:
    """What was read of a page that was laid one way."""

    text: str
    clarity: "_Clarity"


def _likelihood(reading: _Reading) -> float:
    """Return how likely a page lies as it was laid; lines that stand upright can be read, too, but not in order."""
    return reading.clarity.confidence - SIDEWAYS_COST * reading.clarity.is_sideways


@define
class _Clarity:
    """How much of the lines that were found was read, long lines counting more; lengths are pixels."""

    _length: float = 0.0
    _unread: float = 0.0
    _scored: float = 0.0
    _sideways: float = 0.0

    def add(self, line: Line, score: float) -> None:
        width, length = line.right - line.left, _length(line)
        self._length += length
        self._scored += length * score
        self._unread += 0 if _is_read(line, score) else length
        self._sideways += length if width * 2 < length else 0

    @property
    def is_sideways(self) -> bool:
        """Whether most lines run from top to bottom."""
        return self._sideways > 0.5 * self._length

    @property
    def unread_share(self) -> float:
        return self._unread / self._length if self._length else 0.0

    @property
    def confidence(self) -> float:
        return self._scored / self._length if self._length else 1.0


def _length(line: Line) -> float:
    return max(line.right - line.left, line.bottom - line.top, 1.0)


def _is_read(line: Line, score: float) -> bool:
    height = max(min(line.right - line.left, line.bottom - line.top), 1.0)
    return score >= MIN_SCORE and sum(map(_is_known_letter, line.text)) >= MIN_LETTERS * _length(line) / height


def _is_known_letter(char: str) -> bool:
    return char.isalnum() and (char.isascii() or unicodedata.name(char, "").split(" ")[0] in _READ_SCRIPTS)


def _as_array(page: PageImage) -> Pixels:
    pixels = np.frombuffer(page.pixels, dtype=np.uint8)
    if page.channels == 1:
        colours = np.repeat(pixels.reshape(page.height, page.width, 1), 3, axis=2)
    else:
        colours = np.ascontiguousarray(pixels.reshape(page.height, page.width, 3)[:, :, ::-1])  # the engine wants BGR
    if max(page.width, page.height) < SMALL_PIXELS:
        colours = colours.repeat(2, axis=0).repeat(2, axis=1)
    return colours


def bands(pixels: Pixels) -> Iterator[Pixels]:
    """Divide a tall picture where it is emptiest, so that no line is cut."""
    start, height = 0, pixels.shape[0]
    while height - start > _MAX_UNBANDED:
        window = pixels[start + BAND_PIXELS // 2 : start + BAND_PIXELS, :, 0]
        cut = start + BAND_PIXELS // 2 + int(np.argmin(window.std(axis=1)))
        yield pixels[start:cut]
        start = cut
    yield pixels[start:]


def _line(text: str, box: Box) -> Line:
    xs, ys = [float(point[0]) for point in box], [float(point[1]) for point in box]
    return Line(text.strip(), min(xs), min(ys), max(xs), max(ys))


def build_rapid(config: ExtractionConfig) -> OcrEngine:
    """Start the engine: RapidOCR 3, or its predecessor where only that is installed.

    Raises:
        ExtractionFailed: neither is installed, or the models are not in the wheel.
    """
    if find_spec("rapidocr") is not None:
        return RapidOcr("rapidocr", _rapidocr(), _revision("rapidocr"))
    if find_spec("rapidocr_onnxruntime") is not None:
        return RapidOcr("rapidocr-onnxruntime", _rapidocr_onnxruntime(), _revision("rapidocr-onnxruntime"))
    raise ExtractionFailed(
        "text recognition is not installed",
        reason=FileReason.NEEDS_OCR,
        hint="Install it: `pip install rapidocr onnxruntime`.",
    )


def _revision(distribution: str) -> str:
    """Say what the text depends on: the models, which come with the package, and how they are asked here."""
    return f"{version(distribution)}.{SETTINGS_VERSION}"


def _rapidocr() -> Recognise:
    import cv2
    from rapidocr import RapidOCR
    from rapidocr.ch_ppocr_rec import TextRecOutput
    from rapidocr.utils.output import RapidOCROutput

    class Complete(RapidOCR):
        """Keeps the lines of which nothing could be read, which the engine would forget."""

        def recognize_txt(self, img: list[Pixels]) -> TextRecOutput:
            output = super().recognize_txt(img)
            output.txts = tuple(text if text.strip() else _EMPTY_LINE for text in output.txts or ())  # type: ignore[assignment]  # its own hint says one line
            return output

    cv2.setNumThreads(THREADS)
    models = _models("rapidocr")
    # Each path is given: a model that the engine looks for by its name would be downloaded.
    engine = Complete(
        params={
            "Global.log_level": "critical",
            "Global.text_score": 0.0,  # what cannot be read has to be known, too
            "Global.max_side_len": BAND_PIXELS,
            "EngineConfig.onnxruntime.intra_op_num_threads": THREADS,
            "EngineConfig.onnxruntime.inter_op_num_threads": THREADS,
            "Det.limit_type": "max",
            "Det.limit_side_len": DETECTION_PIXELS,
            "Rec.rec_batch_num": 1,  # six long lines at once take a gigabyte, and no less time
            "Det.model_path": str(models["det"]),
            "Cls.model_path": str(models["cls"]),
            "Rec.model_path": str(models["rec"]),
        }
    )

    def found_by(output: object) -> list[tuple[str, Box, float]]:
        if not isinstance(output, RapidOCROutput) or output.txts is None or output.boxes is None:
            return []
        texts = ["" if text == _EMPTY_LINE else text for text in output.txts]
        return list(zip(texts, output.boxes.tolist(), map(float, output.scores or ()), strict=True))

    # Its classifier, which turns lines round, turns some that stand right; whole pages are turned here instead.
    return lambda pixels: found_by(engine(pixels, use_cls=False))


def _models(package: str) -> dict[str, Path]:
    """Find the models in the installed package."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "models"
    found = {}
    for task in ("det", "cls", "rec"):
        paths = sorted(folder.glob(f"*_{task}_*.onnx"))
        if not paths:
            raise ExtractionFailed(
                f"the {task} model of text recognition is missing",
                reason=FileReason.NEEDS_OCR,
                hint=f"Install it again: `pip install --force-reinstall {package}`.",
            )
        found[task] = paths[-1]
    return found


def _rapidocr_onnxruntime() -> Recognise:
    """Start the engine of 2023; it answers in another shape."""
    from rapidocr_onnxruntime import RapidOCR

    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    engine = RapidOCR(intra_op_num_threads=THREADS, inter_op_num_threads=THREADS, text_score=MIN_SCORE)

    def recognise(pixels: Pixels) -> Iterable[tuple[str, Box, float]]:
        found, _ = engine(pixels)
        return [(str(text), box, float(score)) for box, text, score in found or ()]

    return recognise
