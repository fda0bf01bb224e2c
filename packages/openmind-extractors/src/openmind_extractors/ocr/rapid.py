"""RapidOCR: recognition with the models that come in its wheel, and nothing from anywhere else."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
from attrs import frozen
from openmind.domain.config import ExtractionConfig
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.ocr_engine import OcrEngine, OcrText, PageImage

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
"""A page read with less may stand on its head."""

MIN_WORD_SHARE = 0.5
"""Letters and figures among what was read. Of a script that the model does not know it reads only the commas."""

SETTINGS_VERSION = 1
"""Grows when something here makes the same picture give another text."""

_UNKNOWN_SCRIPT = "the page is in a script that text recognition cannot read"
_ENOUGH_CHARS = 20


Pixels = npt.NDArray[np.uint8]


Box = Sequence[Sequence[float]]
"""The four corners of a line, in pixels."""

Recognise = Callable[[Pixels], Iterable[tuple[str, Box, float]]]
"""Finds lines of text on a picture: the text, where it stands, how sure the model is."""


@frozen
class RapidOcr:
    """Reads European, Chinese and Japanese text."""

    name: str
    _recognise: Recognise
    revision: str = ""

    def read(self, page: PageImage) -> OcrText:
        """See the port."""
        lines: list[str] = []
        scores: list[float] = []
        for band in bands(_as_array(page)):
            try:
                found = list(self._recognise(band))
            except Exception as error:
                raise ExtractionFailed(
                    f"text recognition failed: {type(error).__name__}: {error}"[:300], reason=FileReason.NEEDS_OCR
                ) from error
            lines.append(in_reading_order([_line(text, box) for text, box, _ in found]))
            scores.extend(score for _, _, score in found)
        text = "\n".join(lines)
        confidence = sum(scores) / len(scores) if scores else 1.0
        if _is_of_unknown_script(text):
            return OcrText(text="", confidence=confidence, warning=_UNKNOWN_SCRIPT)
        warning = "the text was hard to recognise" if confidence < UNSURE_SCORE else ""
        return OcrText(text=text, confidence=confidence, warning=warning)


def _is_of_unknown_script(text: str) -> bool:
    printed = "".join(text.split())
    words = sum(char.isalnum() for char in printed)
    return len(printed) >= _ENOUGH_CHARS and words < MIN_WORD_SHARE * len(printed)


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
    from rapidocr.utils.output import RapidOCROutput

    cv2.setNumThreads(THREADS)
    models = _models("rapidocr")
    # Each path is given: a model that the engine looks for by its name would be downloaded.
    engine = RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.text_score": MIN_SCORE,
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
        return list(zip(output.txts, output.boxes.tolist(), map(float, output.scores or ()), strict=True))

    def recognise(pixels: Pixels) -> Iterable[tuple[str, Box, float]]:
        # The classifier that turns lines round also turns some that stand right, so it is asked when nothing fits.
        upright = found_by(engine(pixels, use_cls=False))
        if not upright or _mean_score(upright) >= UPRIGHT_SCORE:
            return upright
        turned = found_by(engine(pixels, use_cls=True))
        return max(upright, turned, key=_mean_score)

    return recognise


def _mean_score(lines: Sequence[tuple[str, Box, float]]) -> float:
    return sum(score for _, _, score in lines) / len(lines) if lines else 0.0


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
