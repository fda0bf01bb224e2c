"""What every OCR engine promises."""

from contextlib import suppress

import pytest

from openmind.domain.errors import ExtractionFailed
from openmind.ports.ocr_engine import OcrEngine, PageImage


class OcrEngineContract:
    """Subclass and give the fixtures; every promise is checked.

    `engine` is the engine, `page` a picture of printed text in grey (`channels=1`), `words` some words of it.
    """

    def test_it_says_what_ran(self, engine: OcrEngine) -> None:
        assert engine.name
        assert engine.revision
        assert (engine.name, engine.revision) == (engine.name, engine.revision)

    def test_it_reads_what_stands_on_a_page(self, engine: OcrEngine, page: PageImage, words: set[str]) -> None:
        assert words <= set(engine.read(page).text.split())

    def test_colour_makes_no_difference(self, engine: OcrEngine, page: PageImage, words: set[str]) -> None:
        coloured = PageImage(
            pixels=bytes(value for grey in page.pixels for value in (grey, grey, grey)),
            width=page.width,
            height=page.height,
            channels=3,
        )

        assert words <= set(engine.read(coloured).text.split())

    def test_it_says_how_sure_it_is(self, engine: OcrEngine, page: PageImage) -> None:
        assert 0 <= engine.read(page).confidence <= 1

    def test_the_same_page_gives_the_same_text(self, engine: OcrEngine, page: PageImage) -> None:
        assert engine.read(page).text == engine.read(page).text

    def test_a_page_without_text_gives_none(self, engine: OcrEngine) -> None:
        blank = PageImage(pixels=b"\xff" * 300 * 200, width=300, height=200, channels=1)

        assert engine.read(blank).text == ""

    @pytest.mark.parametrize(("width", "height"), [(1, 1), (3, 400), (400, 3)])
    def test_a_page_of_an_odd_shape_is_read_or_refused(self, engine: OcrEngine, width: int, height: int) -> None:
        odd = PageImage(pixels=b"\x80" * width * height, width=width, height=height, channels=1)

        with suppress(ExtractionFailed):
            assert engine.read(odd).text == ""
