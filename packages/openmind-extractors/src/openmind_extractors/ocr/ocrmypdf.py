"""OCRmyPDF, with Tesseract behind it, where a person has installed them."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import frozen
from openmind.domain.config import ExtractionConfig
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.ocr_engine import OcrEngine, OcrText, PageImage

from openmind_extractors.ocr.engine import as_picture
from openmind_extractors.pdfium import RENDER_DPI

PAGE_TIMEOUT_S = 150
"""Tesseract takes 2 to 20 seconds a page."""

MAX_LANGUAGES = 4
"""Each language of Tesseract costs its time on every page."""

_HINT = 'Install OCRmyPDF, Tesseract and Ghostscript, or set backend = "rapidocr" in [extraction.ocr].'


@frozen
class OcrMyPdf:
    """Gives each page to the `ocrmypdf` program and takes the text it writes beside."""

    command: tuple[str, ...]
    languages: str = ""
    """As Tesseract names them, `eng+deu`; empty for its default."""
    name: str = "ocrmypdf"

    @property
    def revision(self) -> str:
        """See the port."""
        return self.languages

    def read(self, page: PageImage) -> OcrText:
        """See the port."""
        with TemporaryDirectory(prefix="openmind-ocr-") as folder:
            picture, text = Path(folder, "page.png"), Path(folder, "page.txt")
            as_picture(page).save(picture)
            self._run(picture, text)
            found = text.read_text(encoding="utf-8", errors="replace") if text.exists() else ""
        return OcrText(text=found.replace("\f", "\n").strip())

    def _run(self, picture: Path, text: Path) -> None:
        languages = ("-l", self.languages) if self.languages else ()
        options = ("--output-type", "none", "--image-dpi", str(RENDER_DPI), "--jobs", "1", "--quiet")
        command = (*self.command, *options, *languages, "--sidecar", str(text), str(picture), "-")
        try:
            done = subprocess.run(command, capture_output=True, timeout=PAGE_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise ExtractionFailed("OCRmyPDF took too long for a page", reason=FileReason.NEEDS_OCR) from error
        except OSError as error:
            raise ExtractionFailed(f"OCRmyPDF cannot be run: {error}", reason=FileReason.NEEDS_OCR) from error
        if done.returncode:
            told = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
            raise ExtractionFailed(f"OCRmyPDF failed: {told}", reason=FileReason.NEEDS_OCR)


def build_ocrmypdf(config: ExtractionConfig) -> OcrEngine:
    """Find the program.

    Raises:
        ExtractionFailed: it, or Tesseract, is not installed.
    """
    program = shutil.which("ocrmypdf")
    if program is None and find_spec("ocrmypdf") is None:
        raise ExtractionFailed("OCRmyPDF is not installed", reason=FileReason.NEEDS_OCR, hint=_HINT)
    tesseract = shutil.which("tesseract")
    if tesseract is None:
        raise ExtractionFailed("tesseract is not installed", reason=FileReason.NEEDS_OCR, hint=_HINT)
    command = (program,) if program else (sys.executable, "-m", "ocrmypdf")
    return OcrMyPdf(command, _languages(tesseract))


def _languages(tesseract: str) -> str:
    """Return the languages that are installed."""
    try:
        told = subprocess.run((tesseract, "--list-langs"), capture_output=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    names = [line.strip() for line in told.decode("utf-8", "replace").splitlines()[1:]]
    return "+".join([name for name in names if name and name not in {"osd", "equ"}][:MAX_LANGUAGES])
