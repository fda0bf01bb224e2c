from hypothesis import given, settings
from hypothesis import strategies as st
from openmind.testing.contracts.image_describer import JPEG, PNG
from openmind_lmstudio.pictures import Picture, look_at


def test_format_and_size_are_read_from_the_header() -> None:
    assert look_at(PNG) == Picture(media_type="image/png", width=24, height=16)
    assert look_at(JPEG) == Picture(media_type="image/jpeg", width=24, height=16)


def test_fill_bytes_before_a_marker_are_passed_over() -> None:
    assert look_at(JPEG[:2] + b"\xff\xff" + JPEG[2:]) == look_at(JPEG)


def test_other_formats_are_none() -> None:
    assert look_at(b"GIF89a" + b"\0" * 64) is None


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=200), st.sampled_from([b"", PNG[:16], JPEG[:3], JPEG[:30]]))
def test_no_bytes_make_it_fail(rest: bytes, start: bytes) -> None:
    picture = look_at(start + rest)

    assert picture is None or picture.width >= 0
