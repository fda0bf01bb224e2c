import json
import struct
import zlib
from io import BytesIO
from types import SimpleNamespace

import pytest
from attrs import evolve
from openmind.domain.config import ExtractionConfig, ImagesConfig
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.ports.ocr_engine import PageImage
from PIL import Image, PngImagePlugin, TiffImagePlugin

KINDS = {
    "png": "PNG",
    "jpg": "JPEG",
    "jpeg": "JPEG",
    "webp": "WEBP",
    "bmp": "BMP",
    "tif": "TIFF",
    "tiff": "TIFF",
    "gif": "GIF",
}


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_header(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))


def photo(**exif: object) -> bytes:
    """A JPEG with what a camera writes."""
    tags = {"Make": 0x010F, "Model": 0x0110, "ImageDescription": 0x010E, "Orientation": 0x0112, "Artist": 0x013B}
    data = Image.Exif()
    for name, value in exif.items():
        if name in tags:
            data[tags[name]] = value
    data.get_ifd(0x8769).update({0x9003: "2023:05:01 12:30:00", 0x927C: b"\0\1\2" * 400, 0x829A: (1, 250)})
    data[0x9C9E] = "Fluss; Brücke".encode("utf-16-le") + b"\0\0"
    data.get_ifd(0x8825).update({1: "N", 2: (48.0, 8.0, 0.0), 3: "E", 4: (11.0, 34.0, 0.0)})
    packed = BytesIO()
    Image.new("RGB", (120, 80), "green").save(packed, "JPEG", exif=data)
    return packed.getvalue()


@pytest.mark.parametrize(("extension", "kind"), KINDS.items())
def test_every_kind_of_picture_is_described_by_its_file(read, make: SimpleNamespace, extension: str, kind: str) -> None:
    data = make.encoded(Image.new("RGB", (120, 80), "red"), kind)

    reading = read(f"a.{extension}", data)

    assert reading.reason is FileReason.OK
    assert reading.text.startswith(f"{kind} image, 120 × 80 pixels")
    metadata = reading.facts.metadata
    assert metadata["file_type"] == "image"
    assert metadata["raw_image_stored"] is False
    assert (metadata["image_width"], metadata["image_height"], metadata["image_format"]) == (120, 80, kind)
    assert metadata["image_size_bytes"] == len(data)
    assert metadata["image_ocr_used"] is False


def test_what_a_camera_writes_is_kept_and_searchable_but_not_the_place(read) -> None:
    reading = read("a.jpg", photo(Make="Canon", Model="EOS 5D", ImageDescription="A bridge", Artist="Ann"))

    exif = reading.facts.metadata["image_exif"]
    assert exif["Make"] == "Canon"
    assert exif["XPKeywords"] == "Fluss; Brücke"
    assert exif["ExposureTime"] == 0.004 or exif["ExposureTime"] == [1, 250]
    assert "MakerNote" not in exif
    assert "GPSInfo" not in exif
    assert "48" not in json.dumps(exif)
    assert reading.facts.title == "A bridge"
    assert reading.text == (
        "JPEG image, 120 × 80 pixels\nCamera: Canon EOS 5D\nTaken: 2023-05-01 12:30:00\n"
        "Description: A bridge\nKeywords: Fluss; Brücke\nArtist: Ann"
    )


def test_the_place_is_kept_where_a_person_wants_it(read) -> None:
    config = ExtractionConfig(images=ImagesConfig(keep_gps=True))

    exif = read("a.jpg", photo(), config=config).facts.metadata["image_exif"]

    assert exif["GPSInfo"]["GPSLatitude"] == [48.0, 8.0, 0.0]


def test_text_chunks_are_searchable_and_binary_ones_only_counted(read, make: SimpleNamespace) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("Title", "Plan of the bridge")
    info.add_text("Comment", "drawn by hand")
    data = make.encoded(Image.new("L", (50, 50)), "PNG", pnginfo=info, icc_profile=b"\1\2" * 300)

    reading = read("a.png", data)

    assert "Comment: drawn by hand" in reading.text
    assert reading.facts.title == "Plan of the bridge"
    assert reading.facts.metadata["image_info"]["icc_profile"] == "600 bytes"
    json.dumps(reading.facts.metadata, allow_nan=False)


def test_fractions_without_a_value_and_odd_types_are_safe_for_json(read) -> None:
    exif = Image.Exif()
    exif[0x011A] = TiffImagePlugin.IFDRational(1, 0)
    exif[0x010F] = "Ca\0non\x07"
    packed = BytesIO()
    Image.new("RGB", (20, 20)).save(packed, "JPEG", exif=exif)

    metadata = read("a.jpg", packed.getvalue()).facts.metadata

    json.dumps(metadata, allow_nan=False)
    assert "\0" not in json.dumps(metadata)


def seen(read, make: SimpleNamespace, name: str, data: bytes) -> PageImage:
    engine = make.ocr(["text"])
    reading = read(name, data, ocr=lambda: engine)
    assert reading.reason is FileReason.OK
    [page] = engine.seen
    assert len(page.pixels) == page.width * page.height * page.channels
    return page


def as_picture(page: PageImage) -> Image.Image:
    return Image.frombytes("L" if page.channels == 1 else "RGB", (page.width, page.height), page.pixels)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "I;16", "I", "F", "LAB"])
def test_every_mode_is_read_black_on_white(read, make: SimpleNamespace, mode: str) -> None:
    drawn = make.picture_of("Black letters", size=(600, 200))
    if mode == "I;16":
        picture = Image.frombytes(
            "I;16", drawn.size, b"".join(struct.pack("<H", 30_000 + v * 40) for v in drawn.tobytes())
        )
    elif mode in {"RGBA", "LA"}:
        picture = drawn.convert(mode)
        picture.putalpha(drawn.point(lambda value: 255 - value))
    elif mode == "LAB":
        grey = Image.new("L", drawn.size, 128)
        picture = Image.merge("LAB", (drawn, grey, grey))
    else:
        picture = drawn.convert(mode)

    page = as_picture(seen(read, make, "a.tif", make.encoded(picture, "TIFF"))).convert("L")

    low, high = page.getextrema()
    assert low < 60
    assert high > 200
    assert page.getpixel((5, 5)) > 200


def test_a_photo_taken_sideways_is_read_upright(read, make: SimpleNamespace) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    sideways = make.picture_of("Upright", size=(600, 200)).rotate(90, expand=True)

    page = seen(read, make, "a.jpg", make.encoded(sideways, "JPEG", exif=exif))

    assert (page.width, page.height) == (600, 200)


def test_each_page_of_a_tiff_is_a_page(read, make: SimpleNamespace) -> None:
    pages = [make.picture_of(f"Page {n}", size=(600, 200)) for n in range(3)]
    data = make.encoded(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    engine = make.ocr(["first fax", "second fax", "third fax"])

    reading = read("fax.tiff", data, ocr=lambda: engine)

    assert reading.where("second fax") == "page 2"
    assert reading.facts.metadata["page_count"] == 3
    assert "3 pages" in reading.text


def test_a_tiff_of_very_many_pages_is_read_up_to_the_limit(read, make: SimpleNamespace) -> None:
    page = make.picture_of("Page", size=(100, 60), height=20)
    data = make.encoded(page, "TIFF", save_all=True, append_images=[page] * 59)
    engine = make.ocr(["fax"])

    reading = read("fax.tiff", data, ocr=lambda: engine)

    assert len(engine.seen) == 50
    assert reading.reason is FileReason.PARTIAL
    assert "50 pages" in reading.note


def test_of_an_animation_the_first_picture_is_read(read, make: SimpleNamespace) -> None:
    pages = [make.picture_of(f"Frame {n}", size=(300, 100)) for n in range(3)]
    engine = make.ocr(["text"])

    read("a.gif", make.encoded(pages[0], "GIF", save_all=True, append_images=pages[1:]), ocr=lambda: engine)

    assert len(engine.seen) == 1


def test_text_on_a_picture_is_kept_beside_its_metadata(read, make: SimpleNamespace) -> None:
    engine = make.ocr(["Please keep off the grass"])
    data = make.encoded(make.picture_of("Please keep off the grass"), "PNG")

    reading = read("sign.png", data, ocr=lambda: engine)

    assert [segment.text for segment in reading.segments][1] == "Please keep off the grass"
    assert reading.facts.metadata["image_ocr_used"] is True
    assert reading.facts.metadata["ocr_engine"] == "fake"
    assert reading.facts.metadata["extraction_method"] == "metadata+ocr"


def test_a_picture_whose_text_cannot_be_read_needs_recognition_and_stays_findable(read, make: SimpleNamespace) -> None:
    engine = make.ocr([ExtractionFailed("out of paper")])
    data = make.encoded(make.picture_of("Please keep off the grass"), "PNG")

    failed, off = read("sign.png", data, ocr=lambda: engine), read("sign.png", data)
    icon = read("icon.png", make.encoded(make.picture_of("x", size=(200, 20), height=30), "PNG"))

    assert [each.reason for each in (failed, off, icon)] == [FileReason.NEEDS_OCR, FileReason.NEEDS_OCR, FileReason.OK]
    assert failed.facts.metadata["ocr_error"] == "Out of paper"
    assert off.note == "text on the picture was not recognised: text recognition is off"
    assert failed.segments
    assert off.segments


def test_a_fax_of_which_one_page_was_recognised_is_partial(read, make: SimpleNamespace) -> None:
    page = make.picture_of("Page", size=(100, 60), height=20)
    engine = make.ocr(["fax", ExtractionFailed("out of paper")])

    reading = read("fax.tiff", make.encoded(page, "TIFF", save_all=True, append_images=[page]), ocr=lambda: engine)

    assert reading.reason is FileReason.PARTIAL


def test_a_picture_in_another_script_is_partial(read, make: SimpleNamespace) -> None:
    engine = make.ocr(["UIU ACLIU 4LILU"], warning="the text was hard to recognise")

    reading = read("a.png", make.encoded(make.picture_of("Text"), "PNG"), ocr=lambda: engine)

    assert reading.reason is FileReason.PARTIAL
    assert reading.facts.metadata["ocr_error"] == "the text was hard to recognise"


def test_recognition_can_be_switched_off_for_pictures(read, make: SimpleNamespace) -> None:
    engine = make.ocr(["never"])
    config = evolve(ExtractionConfig(), images=ImagesConfig(ocr_enabled=False))

    data = make.encoded(make.picture_of("Text"), "PNG")

    reading, without_engine = read("a.png", data, ocr=lambda: engine, config=config), read("a.png", data, config=config)

    assert engine.seen == []
    assert reading.reason is without_engine.reason is FileReason.OK


def test_on_an_icon_nothing_is_looked_for(read, make: SimpleNamespace) -> None:
    engine = make.ocr(["never"])

    reading = read("icon.png", make.encoded(make.picture_of("x", size=(200, 20), height=30), "PNG"), ocr=lambda: engine)

    assert engine.seen == []
    assert reading.reason is FileReason.OK


@pytest.mark.parametrize(("width", "height"), [(12_000, 12_000), (20_000, 20_000), (60_000, 60_000), (9_000, 8_000)])
def test_a_picture_of_too_many_pixels_is_not_decoded(read, width: int, height: int) -> None:
    reading = read("bomb.png", png_header(width, height) + chunk(b"IDAT", zlib.compress(b"\0" * 1_000)))

    assert reading.reason is FileReason.TOO_BIG
    assert "megapixels" in reading.note


def test_a_large_photo_is_read_smaller(read, make: SimpleNamespace) -> None:
    large = make.picture_of("Large", size=(7_000, 4_000), height=900)

    page = seen(read, make, "a.jpg", make.encoded(large, "JPEG"))

    assert page.width * page.height <= 12_000_000


def test_of_a_picture_that_is_large_but_honest_the_metadata_is_kept(read) -> None:
    reading = read("poster.png", png_header(9_000, 7_000) + chunk(b"IDAT", zlib.compress(b"\0" * 1_000)))

    assert reading.reason is FileReason.PARTIAL
    assert "too large for its text" in reading.note
    assert "9000 × 7000 pixels" in reading.text


def test_a_bomb_in_a_text_chunk_is_damage(read) -> None:
    text = b"Comment\0\0" + zlib.compress(b"x" * 80_000_000, 9)
    data = png_header(1, 1) + chunk(b"zTXt", text) + chunk(b"IDAT", zlib.compress(b"\0\0\0\0")) + chunk(b"IEND", b"")

    assert read("a.png", data).reason in {FileReason.DAMAGED, FileReason.TOO_BIG}


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF"])
def test_half_a_picture_is_damaged(read, make: SimpleNamespace, kind: str) -> None:
    data = make.encoded(make.picture_of("Half of it", size=(400, 300)), kind)

    reading = read("a.png", data[: len(data) // 2])

    assert reading.reason is FileReason.DAMAGED
    assert reading.segments == ()


def test_heic_is_unsupported_and_says_what_to_do(read) -> None:
    reading = read("a.heic", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")

    assert reading.reason is FileReason.UNSUPPORTED
    assert "JPEG" in reading.failure.hint


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", FileReason.EMPTY),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", FileReason.UNSUPPORTED),
        (b"\x93\0\x01\xff" * 40, FileReason.DAMAGED),
        (b"a text, and nothing like a picture", FileReason.OK),
    ],
)
def test_what_is_no_picture_is_told(read, data: bytes, reason: FileReason) -> None:
    assert read("a.png", data).reason is reason


def test_a_pdf_that_is_called_a_picture_is_read_as_a_pdf(read, make: SimpleNamespace) -> None:
    reading = read("a.png", make.pdf(["The committee met on Tuesday and agreed."]))

    assert reading.facts.metadata["file_type"] == "pdf"
