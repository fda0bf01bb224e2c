import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from openmind.domain.config import ExtractionConfig
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.plugins.registries import ExtractorRegistry
from openmind.ports.ocr_engine import OcrEngine, OcrText, PageImage
from openmind.testing.contracts.ocr_engine import OcrEngineContract
from openmind_extractors.ocr.engine import is_blank
from openmind_extractors.ocr.layout import Line, in_reading_order
from openmind_extractors.ocr.ocrmypdf import build_ocrmypdf
from openmind_extractors.ocr.rapid import RapidOcr, bands
from PIL import Image, ImageDraw, ImageFilter, ImageOps


def as_page(picture: Image.Image) -> PageImage:
    channels = 1 if picture.mode == "L" else 3
    return PageImage(pixels=picture.tobytes(), width=picture.width, height=picture.height, channels=channels)


@pytest.fixture(scope="module")
def engine(registry: ExtractorRegistry) -> OcrEngine:
    return registry.ocr.find("rapidocr")(ExtractionConfig())


class TestRapidOcr(OcrEngineContract):
    @pytest.fixture
    def page(self, make: SimpleNamespace) -> PageImage:
        return as_page(make.printed("The bridge needs a new deck", "before the winter comes").convert("L"))

    @pytest.fixture
    def words(self) -> set[str]:
        return {"bridge", "needs", "winter"}


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_text_in_two_languages_is_read_with_its_spaces(engine: OcrEngine, make: SimpleNamespace, mode: str) -> None:
    picture = make.printed("The bridge needs a new deck", "Die Straße ist größer").convert(mode)

    found = engine.read(as_page(picture))

    assert found.text == "The bridge needs a new deck\nDie Straße ist größer"
    assert found.confidence > 0.9
    assert found.warning == ""
    assert engine.name == "rapidocr"


def test_a_page_on_its_head_is_read(engine: OcrEngine, make: SimpleNamespace) -> None:
    picture = make.printed("The bridge needs a new deck", "before the winter comes").rotate(180)

    words = set(engine.read(as_page(picture)).text.split())

    assert {"bridge", "needs", "winter"} <= words


@pytest.mark.parametrize("angle", [90, 270])
def test_a_page_on_its_side_is_read_line_by_line(engine: OcrEngine, make: SimpleNamespace, angle: int) -> None:
    picture = make.printed("The bridge needs a new deck", "before the winter comes").rotate(angle, expand=True)

    assert engine.read(as_page(picture)).text == "The bridge needs a new deck\nbefore the winter comes"


def test_a_picture_of_shapes_alone_holds_no_text_that_was_not_read(engine: OcrEngine) -> None:
    shapes = [Image.new("RGB", (600, 200), "white") for _ in range(2)]
    ImageDraw.Draw(shapes[0]).rectangle((100, 50, 500, 150), fill="red")
    tiles = Image.frombytes("L", (25, 25), bytes(255 * (n * n % 7 % 3 > 0) for n in range(625)))
    shapes[1].paste(tiles.resize((150, 150), Image.Resampling.NEAREST), (225, 25))

    assert [engine.read(as_page(shape)) for shape in shapes] == [OcrText(text="", confidence=1.0)] * 2


def test_white_letters_on_a_transparent_ground_are_read(read, engine: OcrEngine, make: SimpleNamespace) -> None:
    picture = Image.new("RGBA", (400, 100), "white")
    picture.putalpha(ImageOps.invert(make.picture_of("White on nothing", size=(400, 100), height=30)))

    assert "White on nothing" in read("logo.png", make.encoded(picture, "PNG"), ocr=lambda: engine).text


def test_a_page_of_nothing_gives_nothing(engine: OcrEngine) -> None:
    assert engine.read(as_page(Image.new("L", (400, 300), 255))).text == ""


def test_small_letters_are_read_on_a_doubled_picture(engine: OcrEngine, make: SimpleNamespace) -> None:
    picture = make.picture_of("Small print on a label", size=(260, 80), height=13)

    assert engine.read(as_page(picture)).text == "Small print on a label"


def test_the_engine_uses_one_thread_and_the_models_of_the_wheel(engine: OcrEngine) -> None:
    import cv2

    assert cv2.getNumThreads() == 1
    assert find_spec("rapidocr") is not None


def test_a_script_that_the_model_does_not_know_is_no_text() -> None:
    commas = RapidOcr("rapidocr", lambda pixels: [(",- . , . -, ,.,.,;-,.,", [[0, 0], [9, 9]], 0.86)] * 3)

    found = commas.read(as_page(Image.new("L", (50, 50))))

    assert found.text == ""
    assert "script" in found.warning


def test_letters_of_which_the_model_reads_nothing_are_no_blank_page() -> None:
    silent = RapidOcr("rapidocr", lambda pixels: [("", [[0, 0], [400, 20]], 0.0)] * 3)

    found = silent.read(as_page(Image.new("L", (500, 50))))

    assert found.text == ""
    assert "script" in found.warning


@pytest.mark.parametrize(
    "line",
    [
        "Договор аренды жилого помещения",
        "Συμβόλαιο μίσθωσης κατοικίας",
        " ,  12.  45",  # what is left of a line of Cyrillic
    ],
)
def test_figures_and_signs_do_not_make_a_page_of_another_script_read(line: str) -> None:
    engine = RapidOcr("rapidocr", lambda pixels: [(line, [[0, 0], [600, 0], [600, 30], [0, 30]], 0.95)])

    assert "script" in engine.read(as_page(Image.new("L", (700, 50)))).warning


def test_a_page_of_which_a_line_cannot_be_read_keeps_the_others() -> None:
    lines = [("A clear line of text", [[0, y], [300, y + 20]], 0.99) for y in (0, 40)]
    engine = RapidOcr("rapidocr", lambda pixels: [*lines, ("", [[0, 80], [90, 100]], 0.0)])

    assert engine.read(as_page(Image.new("L", (300, 100)))).text == "A clear line of text\nA clear line of text"


def test_lines_of_which_nothing_was_read_are_reported_by_the_engine(engine: OcrEngine) -> None:
    signs = Image.new("L", (900, 300), 255)
    draw = ImageDraw.Draw(signs)
    for left in range(60, 800, 36):  # no letters of a script it knows, but as dark and as regular
        for right in (left, left + 24):
            draw.line([(left + 12, 116), (left + 12, 150)], fill=0, width=4)
            draw.line([(right, 116), (left + 12, 133), (right, 150)], fill=0, width=4)

    found = engine.read(as_page(signs))

    assert found.text == ""
    assert found.warning


def test_an_engine_that_fails_says_so() -> None:
    def broken(pixels: object) -> list[tuple[str, list[list[float]], float]]:
        raise RuntimeError("out of memory")

    with pytest.raises(ExtractionFailed, match=r"failed on this picture .“out of memory”") as caught:
        RapidOcr("rapidocr", broken).read(as_page(Image.new("L", (50, 50))))

    assert caught.value.reason is FileReason.NEEDS_OCR


def test_a_tall_picture_is_divided_between_its_lines() -> None:
    pixels = np.full((9_000, 50, 3), 255, dtype=np.uint8)
    pixels[::7] = 0
    pixels[1_500:1_520] = 255
    pixels[1_500:1_520, 0] = 254

    parts = list(bands(pixels))

    assert sum(part.shape[0] for part in parts) == 9_000
    assert all(part.shape[0] <= 2_600 for part in parts)
    assert all(part.shape[0] >= 1_000 for part in parts[:-1])


def test_blank_pages_are_told_from_written_ones(make: SimpleNamespace) -> None:
    photo = Image.linear_gradient("L").resize((1_200, 900))
    blurred = Image.effect_noise((1_200, 900), 30).filter(ImageFilter.GaussianBlur(20))

    assert is_blank(as_page(Image.new("L", (1_300, 1_800), 255)))
    assert is_blank(as_page(Image.new("RGB", (1_300, 1_800), "navy")))
    assert is_blank(as_page(photo))
    assert is_blank(as_page(blurred))
    assert not is_blank(as_page(make.picture_of("One short line", size=(1_300, 1_800), height=22)))


def column(left: int, words: str, count: int = 8) -> list[Line]:
    return [Line(f"{words} line {n} of the column", left, 100 + 30 * n, left + 400, 120 + 30 * n) for n in range(count)]


def test_columns_are_read_one_after_the_other() -> None:
    title = Line("A title across both of the columns", 100, 20, 900, 50)
    foot = Line("A caption across both of the columns", 100, 400, 900, 420)

    text = in_reading_order([foot, *column(500, "right"), title, *column(50, "left")])

    lines = text.split("\n")
    assert lines[0].startswith("A title")
    assert [line.split()[0] for line in lines[1:9]] == ["left"] * 8
    assert [line.split()[0] for line in lines[9:17]] == ["right"] * 8
    assert lines[17].startswith("A caption")


def test_cells_of_a_table_are_read_row_by_row() -> None:
    cells = [
        Line(f"{name}{n}", left, 30 * n, left + 60, 30 * n + 20)
        for n in range(9)
        for left, name in ((0, "a"), (300, "b"))
    ]

    assert in_reading_order(cells[::-1]).split("\n")[:2] == ["a0 b0", "a1 b1"]


def test_a_skewed_line_stays_one_line() -> None:
    pieces = [Line("one", 0, 0, 100, 30), Line("two", 120, 6, 200, 36), Line("three", 220, 12, 300, 42)]

    assert in_reading_order(pieces) == "one two three"


PROGRAM = """#!{python}
import sys
if sys.argv[1:] == ["--list-langs"]:
    print("List of available languages:\\neng\\nosd\\ndeu")
    raise SystemExit
from pathlib import Path
if "fail" in Path(sys.argv[0]).parent.name:
    print("Tesseract crashed", file=sys.stderr)
    raise SystemExit(2)
picture = Path(sys.argv[-2])
assert picture.read_bytes().startswith(b"\\x89PNG")
Path(sys.argv[sys.argv.index("--sidecar") + 1]).write_text("read with " + sys.argv[sys.argv.index("-l") + 1] + "\\f")
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """Put programs that behave like OCRmyPDF and Tesseract on the path."""
    folder = tmp_path / request.param
    folder.mkdir()
    for name in ("ocrmypdf", "tesseract"):
        (folder / name).write_text(PROGRAM.replace("{python}", sys.executable))
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.mark.parametrize("programs", ["bin"], indirect=True)
def test_ocrmypdf_reads_a_page_in_the_installed_languages(programs: Path) -> None:
    engine = build_ocrmypdf(ExtractionConfig())

    assert engine.name == "ocrmypdf"
    assert engine.read(as_page(Image.new("L", (20, 20)))).text == "read with eng+deu"


@pytest.mark.parametrize("programs", ["fail"], indirect=True)
def test_ocrmypdf_that_fails_is_reported(programs: Path) -> None:
    with pytest.raises(ExtractionFailed, match="Tesseract crashed"):
        build_ocrmypdf(ExtractionConfig()).read(as_page(Image.new("L", (20, 20))))


def test_ocrmypdf_that_is_not_installed_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ExtractionFailed, match="not installed") as caught:
        build_ocrmypdf(ExtractionConfig())

    assert caught.value.reason is FileReason.NEEDS_OCR
    assert "backend" in caught.value.hint


def test_a_scan_is_read_from_end_to_end(read, make: SimpleNamespace, engine: OcrEngine) -> None:
    picture = make.picture_of("Minutes of the meeting\nof the bridge committee", size=(900, 1_270), height=42)
    image, page = make.scan(picture)

    reading = read("scan.pdf", make.pdf(page, extra=[image], resources="/XObject << /Im1 4 0 R >>"), ocr=lambda: engine)

    assert reading.text == "Minutes of the meeting\nof the bridge committee"
    assert reading.facts.metadata["ocr_engine"] == "rapidocr+pypdfium2"
    assert reading.facts.metadata["extraction_method"] == "ocr"
