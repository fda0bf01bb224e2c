"""The copy of a picture that is handed out for a model to describe."""

from io import BytesIO
from types import SimpleNamespace

import pytest
from openmind.domain.config import ExtractionConfig, ImagesConfig
from openmind.domain.documents import DocumentFacts, Picture, Segment
from openmind.plugins.registries import ExtractionTools
from openmind.ports.extractor import Blob
from openmind_extractors.image import ImageExtractor
from PIL import Image

EYES = ExtractionConfig(images=ImagesConfig(model="eyes"))


def shown(data: bytes, config: ExtractionConfig = EYES, ocr=None) -> list[Picture]:
    parts = ImageExtractor(ExtractionTools(config=config, ocr=ocr)).extract(Blob(name="a.png", data=data))
    return [part for part in parts if isinstance(part, Picture)]


def opened(picture: Picture) -> Image.Image:
    image = Image.open(BytesIO(picture.data))
    image.load()
    return image


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "AVIF"])
def test_every_kind_of_picture_is_shown_as_a_jpeg(make: SimpleNamespace, kind: str) -> None:
    [picture] = shown(make.encoded(make.picture_of("A red bicycle", size=(400, 300)), kind))

    assert picture.media_type == "image/jpeg"
    assert opened(picture).format == "JPEG"
    assert opened(picture).size == (400, 300)


@pytest.mark.parametrize(("size", "small"), [((3_000, 1_500), (1_024, 512)), ((1_000, 6_000), (171, 1_024))])
def test_a_large_picture_is_shown_small(make: SimpleNamespace, size: tuple[int, int], small: tuple[int, int]) -> None:
    [picture] = shown(make.encoded(make.picture_of("Large", size=size), "PNG"))

    assert opened(picture).size == small


def test_the_copy_holds_pixels_and_nothing_else(make: SimpleNamespace) -> None:
    exif = Image.Exif()
    exif[0x010F] = "Canon"
    exif.get_ifd(0x8825)[2] = (48.0, 8.0, 0.0)
    data = make.encoded(make.picture_of("A bridge", size=(300, 200)), "JPEG", exif=exif, comment=b"secret")

    [picture] = shown(data)

    assert not opened(picture).getexif()
    assert b"Canon" not in picture.data
    assert b"secret" not in picture.data


def test_a_picture_taken_sideways_is_shown_upright(make: SimpleNamespace) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    sideways = make.picture_of("Upright", size=(600, 200)).rotate(90, expand=True)

    [picture] = shown(make.encoded(sideways, "JPEG", exif=exif))

    assert opened(picture).size == (600, 200)


def test_of_several_pages_the_first_is_shown(make: SimpleNamespace) -> None:
    pages = [make.picture_of(f"Page {n}", size=(600, 200 + n)) for n in range(3)]

    [picture] = shown(make.encoded(pages[0], "TIFF", save_all=True, append_images=pages[1:]))

    assert opened(picture).size == (600, 200)


@pytest.mark.parametrize("picture", [Image.new("RGB", (500, 500), "navy"), Image.effect_noise((400, 20), 90)])
def test_what_shows_nothing_is_not_shown(make: SimpleNamespace, picture: Image.Image) -> None:
    assert shown(make.encoded(picture, "PNG")) == []


def test_a_photo_without_a_hard_edge_is_shown(make: SimpleNamespace) -> None:
    assert len(shown(make.encoded(Image.linear_gradient("L"), "PNG"))) == 1


def test_without_a_model_nothing_is_shown(make: SimpleNamespace) -> None:
    assert shown(make.encoded(make.picture_of("Text"), "PNG"), ExtractionConfig()) == []


def test_it_comes_before_the_text_is_read_which_may_take_long(make: SimpleNamespace) -> None:
    engine = make.ocr(["Please keep off the grass"])
    data = make.encoded(make.picture_of("Please keep off the grass"), "PNG")
    tools = ExtractionTools(config=EYES, ocr=lambda: engine)

    parts = list(ImageExtractor(tools).extract(Blob(name="a.png", data=data)))

    assert [type(part) for part in parts] == [DocumentFacts, Segment, Picture, Segment, DocumentFacts]
