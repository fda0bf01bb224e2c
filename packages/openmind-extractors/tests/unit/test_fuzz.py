"""Valid files, mutated: whatever comes of them is text, facts or a failure that was foreseen, in bounded time."""

import json
import time
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openmind.domain.documents import DocumentFacts, Segment

LIMIT_S = 10


@st.composite
def mutations(draw: st.DrawFn) -> list[tuple[str, float, bytes]]:
    """Draw what is done to a file: bytes replaced, put in, taken out or doubled, at some share of its length."""
    kinds = st.sampled_from(["replace", "insert", "cut", "double", "truncate"])
    places = st.floats(0, 1, exclude_max=True)
    pieces = st.one_of(
        st.binary(min_size=1, max_size=8),
        st.sampled_from(
            [
                b"\0",
                b"\xff" * 4,
                b"<",
                b">",
                b"]]>",
                b"&",
                b'"',
                b"\\",
                b"(",
                b"<<",
                b"99999999",
                b"-1",
                b"{",
                b"[" * 50,
            ]
        ),
    )
    return draw(st.lists(st.tuples(kinds, places, pieces), min_size=1, max_size=6))


def mutate(data: bytes, changes: list[tuple[str, float, bytes]]) -> bytes:
    for kind, place, piece in changes:
        at = int(place * len(data))
        match kind:
            case "replace":
                data = data[:at] + piece + data[at + len(piece) :]
            case "insert":
                data = data[:at] + piece + data[at:]
            case "cut":
                data = data[:at] + data[at + 10 * len(piece) :]
            case "double":
                data = data[: at + 100] + data[at:]
            case _:
                data = data[: max(at, 1)]
    return data


def samples(make: SimpleNamespace) -> dict[str, bytes]:
    p = make.paragraph
    lines = ["The committee met on Tuesday and agreed", "that the bridge needs a new deck (at last)."] * 3
    office = "urn:oasis:names:tc:opendocument:xmlns"
    return {
        "a.txt": "Ein Text mit Größe.\n\nUnd noch einer.\n".encode(),
        "a.rst": b"Title\n=====\n\nText.\n\nSub\n---\n\nMore.\n",
        "a.md": b"---\ntitle: A\ntags: [x, y]\n---\n# Head\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx\n```\n",
        "a.html": b"<html><head><title>T</title></head><body><h1>H</h1><table><tr><td>a<td>b</table>x &amp; y</html>",
        "a.csv": b'name;size\n"Trout; big";12\nPike;"two\nlines"\n' * 10,
        "a.docx": make.word(
            p("Head", style="Heading1") + p("text") + f"<w:tbl><w:tr><w:tc>{p('a')}</w:tc></w:tr></w:tbl>",
            header1=f"<w:hdr {make.W}>{p('header')}</w:hdr>",
        ),
        "a.pdf": make.pdf(lines, lines, outline=[("One", 0), ("Two", 1)], info="/Title (A)"),
        "a.png": make.encoded(make.picture_of("text", size=(80, 60), height=20), "PNG"),
        "a.jpg": make.encoded(make.picture_of("text", size=(80, 60), height=20), "JPEG"),
        "a.tif": make.encoded(make.picture_of("text", size=(80, 60), height=20), "TIFF", compression="tiff_lzw"),
        "a.gif": make.encoded(make.picture_of("text", size=(80, 60), height=20), "GIF"),
        "a.webp": make.encoded(make.picture_of("text", size=(80, 60), height=20), "WEBP"),
        "a.ipynb": json.dumps(
            {"cells": [{"cell_type": "code", "source": ["x = 1"], "outputs": [{"text": "1"}]}]}
        ).encode(),
        "a.eml": b"Subject: =?utf-8?q?x?=\nDate: Tue, 05 Mar 2024 10:00:00 +0100\n"
        b"Content-Type: multipart/mixed; boundary=X\n\n"
        b"--X\nContent-Type: text/plain; charset=utf-8\n\nbody\n--X\nContent-Type: text/html\n\n<p>x</p>\n--X--\n",
        "a.odt": make.pack(
            {
                "mimetype": "application/vnd.oasis.opendocument.text",
                "content.xml": f"<o xmlns:text='{office}:text:1.0'>"
                "<text:h text:outline-level='2'>H</text:h><text:p>x</text:p></o>",
            }
        ),
        "a.pptx": make.pack(
            {"ppt/slides/slide1.xml": "<p:sld xmlns:p='urn:p' xmlns:a='urn:a'><a:p><a:t>text</a:t></a:p></p:sld>"}
        ),
        "a.epub": make.pack(
            {
                "mimetype": "application/epub+zip",
                "b.opf": "<package><item id='a' href='a.html' media-type='text/html'/><itemref idref='a'/></package>",
                "a.html": "<h1>One</h1><p>text</p>",
            }
        ),
    }


NAMES = [
    *("a.txt", "a.rst", "a.md", "a.html", "a.csv", "a.docx", "a.pdf", "a.png", "a.jpg", "a.tif", "a.gif", "a.webp"),
    *("a.ipynb", "a.eml", "a.odt", "a.pptx", "a.epub"),
]


def check(reading: object) -> None:
    """Hold whatever was read to the promises of the port."""
    json.dumps(reading.facts.metadata, allow_nan=False)
    assert isinstance(reading.facts, DocumentFacts)
    for segment in reading.segments:
        assert isinstance(segment, Segment)
        assert segment.text.strip()
        segment.text.encode()
        assert "\0" not in segment.text
        for place in segment.locator:
            assert place.start is None or place.start >= 1
            assert place.end is None or place.end >= place.start
    if not reading.segments:
        assert reading.reason.value != "ok"
        assert reading.note


@pytest.mark.parametrize("name", NAMES)
def test_a_mutated_file_is_read_or_refused(read, make: SimpleNamespace, name: str) -> None:
    valid = samples(make)[name]
    check(read(name, valid))

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(mutations())
    def mutated(changes: list[tuple[str, float, bytes]]) -> None:
        started = time.process_time()
        check(read(name, mutate(valid, changes)))
        assert time.process_time() - started < LIMIT_S

    mutated()


@pytest.mark.parametrize("name", ["a.docx", "a.odt", "a.pptx", "a.epub"])
def test_a_container_with_a_mutated_part_is_read_or_refused(read, make: SimpleNamespace, name: str) -> None:
    import zipfile
    from io import BytesIO

    with zipfile.ZipFile(BytesIO(samples(make)[name])) as file:
        parts = {member: file.read(member) for member in file.namelist()}

    @settings(max_examples=40, deadline=None)
    @given(st.sampled_from(sorted(parts)), mutations())
    def mutated(part: str, changes: list[tuple[str, float, bytes]]) -> None:
        check(read(name, make.pack({**parts, part: mutate(parts[part], changes)})))

    mutated()


@pytest.mark.parametrize("name", [*NAMES, "a.xlsx", "a.ods"])
@settings(max_examples=15, deadline=None)
@given(data=st.binary(max_size=300))
def test_any_bytes_under_any_name_are_read_or_refused(read, name: str, data: bytes) -> None:
    check(read(name, data))
