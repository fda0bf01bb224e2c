"""Documents that are built so that a reader runs in circles, or shows what nobody is shown."""

import time
from types import SimpleNamespace

import pytest
from openmind.domain.files import FileReason


def circular(make: SimpleNamespace, kids: str, count: int) -> bytes:
    content = make.text_stream(["The heron stands in the shallow water and waits."] * 3)
    stream = b"<< /Length %d >> stream\n" % len(content) + content + b"\nendstream"
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 3 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
    )
    pages = f"<< /Type /Pages /Kids [{kids}] /Count {count} >>"
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", pages, stream, page, font]
    return make.write_objects([each if isinstance(each, bytes) else each.encode() for each in objects], "/Root 1 0 R")


@pytest.mark.parametrize(
    ("kids", "count"),
    [("4 0 R 2 0 R", 2), ("2 0 R 4 0 R", 3), ("4 0 R " * 300, 300), ("4 0 R", 2_000_000_000), ("9 0 R 4 0 R", 2)],
    ids=["itself last", "itself first", "one page often", "count that lies", "a page that is not there"],
)
def test_pages_that_go_in_circles_or_are_not_there_end_with_what_can_be_read(
    read, make: SimpleNamespace, kids: str, count: int
) -> None:
    began = time.process_time()

    reading = read("circle.pdf", circular(make, kids, count))

    assert time.process_time() - began < 60
    assert reading.reason in {FileReason.OK, FileReason.PARTIAL, FileReason.DAMAGED, FileReason.TOO_BIG}
    if reading.reason in {FileReason.OK, FileReason.PARTIAL}:
        assert "heron" in reading.text
    else:
        assert reading.note


def test_frames_addresses_and_pictures_within_a_page_are_no_text_of_it(read) -> None:
    page = (
        '<p>shown ibis</p><iframe srcdoc="<p>framed gull</p>"></iframe><img src="data:image/png;base64,iVBORw0KGgo=" '
        'alt="drawn egret"><a href="data:text/plain,linked crow">named rook</a><object data="x">objected kite</object>'
    )

    reading = read("page.html", page.encode())

    assert all(word in reading.text for word in ("shown ibis", "drawn egret", "named rook"))
    assert not any(word in reading.text for word in ("framed gull", "iVBOR", "linked crow", "objected kite"))


def test_the_first_of_the_pictures_of_a_stereo_camera_is_read(read, make: SimpleNamespace) -> None:
    left, right = (make.picture_of(word, size=(300, 80), mode="RGB") for word in ("left", "right"))
    engine = make.ocr(["left"])

    reading = read("stereo.jpg", make.encoded(left, "MPO", save_all=True, append_images=[right]), ocr=lambda: engine)

    assert reading.reason is FileReason.OK
    assert len(engine.seen) == 1
