"""What is left out of a file is told, and the rest is read."""

import zipfile
from io import BytesIO
from types import SimpleNamespace

import pytest
from openmind.domain.documents import DocumentFacts
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind_extractors.losses import Losses
from PIL import Image, PngImagePlugin

ODF = (
    "xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' "
    "xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0'"
)
DRAWING = "xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main'"


def damaged(data: bytes, member: str) -> bytes:
    """Spoil the bytes of one member of a container, and nothing else."""
    with zipfile.ZipFile(BytesIO(data)) as file:
        info = file.getinfo(member)
    start = info.header_offset + 30 + len(member)
    return data[:start] + bytes(byte ^ 0xFF for byte in data[start : start + 8]) + data[start + 8 :]


def document(make: SimpleNamespace) -> bytes:
    header = f"<w:hdr {make.W}>{make.paragraph('Letterhead')}</w:hdr>"
    return make.word(make.paragraph("Needle"), styles=f"<w:styles {make.W}/>", header1=header)


def text(make: SimpleNamespace) -> bytes:
    body = (
        f"<office:document-content {ODF}><office:body><text:p>Needle</text:p></office:body></office:document-content>"
    )
    styles = f"<office:document-styles {ODF}><text:p>nothing</text:p></office:document-styles>"
    return make.pack({"content.xml": body, "styles.xml": styles, "meta.xml": "<meta><title>Report</title></meta>"})


def book(make: SimpleNamespace) -> bytes:
    package = (
        "<package><title>Ducks</title><manifest>"
        "<item id='a' href='a.xhtml' media-type='application/xhtml+xml'/>"
        "<item id='b' href='b.xhtml' media-type='application/xhtml+xml'/>"
        "</manifest><spine><itemref idref='b'/><itemref idref='a'/><itemref idref='b'/></spine></package>"
    )
    return make.pack(
        {
            "META-INF/container.xml": "<container><rootfile full-path='book.opf'/></container>",
            "book.opf": package,
            "a.xhtml": "<html><body><p>Needle</p></body></html>",
            "b.xhtml": "<html><body><p>Another chapter</p></body></html>",
        }
    )


def slides(make: SimpleNamespace) -> bytes:
    def slide(words: str) -> str:
        return f"<sld {DRAWING}><a:p><a:r><a:t>{words}</a:t></a:r></a:p></sld>"

    return make.pack(
        {
            "ppt/presentation.xml": "<presentation/>",
            "ppt/slides/slide1.xml": slide("Needle"),
            "ppt/slides/slide2.xml": slide("Another slide"),
            "ppt/charts/chart1.xml": slide("Chart"),
            "docProps/core.xml": "<core><title>Talk</title></core>",
        }
    )


def sheet(make: SimpleNamespace) -> bytes:
    table = "xmlns:table='urn:oasis:names:tc:opendocument:xmlns:table:1.0'"
    row = "<table:table-row><table:table-cell><text:p>Needle</text:p></table:table-cell></table:table-row>"
    body = f"<office:spreadsheet><table:table table:name='One'>{row}</table:table></office:spreadsheet>"
    content = f"<office:document-content {ODF} {table}><office:body>{body}</office:body></office:document-content>"
    return make.pack({"content.xml": content, "meta.xml": "<meta><title>Report</title></meta>"})


SIDE_PARTS = [
    ("a.docx", document, "word/styles.xml"),
    ("a.docx", document, "word/header1.xml"),
    ("a.odt", text, "styles.xml"),
    ("a.odt", text, "meta.xml"),
    ("a.ods", sheet, "meta.xml"),
    ("a.epub", book, "META-INF/container.xml"),
    ("a.epub", book, "book.opf"),
    ("a.epub", book, "b.xhtml"),
    ("a.pptx", slides, "ppt/slides/slide2.xml"),
    ("a.pptx", slides, "ppt/charts/chart1.xml"),
    ("a.pptx", slides, "docProps/core.xml"),
]


@pytest.mark.parametrize(("name", "build", "part"), SIDE_PARTS)
def test_a_damaged_part_costs_nothing_but_itself(read, make: SimpleNamespace, name: str, build, part: str) -> None:
    whole = read(name, build(make))
    assert whole.reason is FileReason.OK

    reading = read(name, damaged(build(make), part))

    assert "Needle" in reading.text
    assert reading.reason is FileReason.PARTIAL
    assert reading.note.startswith(f"{part} was left out: ")


@pytest.mark.parametrize(
    ("name", "build", "part"),
    [("a.docx", document, "word/document.xml"), ("a.odt", text, "content.xml")],
)
def test_without_its_text_a_document_is_damaged(read, make: SimpleNamespace, name: str, build, part: str) -> None:
    assert read(name, damaged(build(make), part)).reason is FileReason.DAMAGED


def test_a_document_of_which_nothing_could_be_read_is_damaged_and_not_empty(read, make: SimpleNamespace) -> None:
    one = make.pack({"ppt/presentation.xml": "<presentation/>", "ppt/slides/slide1.xml": f"<sld {DRAWING}/>"})
    assert read("a.pptx", one).reason is FileReason.EMPTY

    assert read("a.pptx", damaged(one, "ppt/slides/slide1.xml")).reason is FileReason.DAMAGED


def test_chapters_of_a_book_are_read_once_and_missing_ones_told(read, make: SimpleNamespace) -> None:
    data = book(make)
    with zipfile.ZipFile(BytesIO(data)) as file:
        parts = {name: file.read(name) for name in file.namelist() if name != "b.xhtml"}

    assert [segment.text for segment in read("a.epub", data).segments] == ["Another chapter", "Needle"]
    assert read("a.epub", data).facts.metadata["chapter_count"] == 2
    reading = read("a.epub", make.pack(parts))
    assert (reading.text, reading.note) == ("Needle", "b.xhtml is listed in the book and missing")


def test_a_book_of_more_than_a_thousand_chapters_is_read_to_its_end(read, make: SimpleNamespace) -> None:
    numbers = range(1_050)
    items = "".join(f"<item id='c{n}' href='{n}.xhtml' media-type='application/xhtml+xml'/>" for n in numbers)
    order = "".join(f"<itemref idref='c{n}'/>" for n in numbers)
    package = f"<package><manifest>{items}</manifest><spine>{order}</spine></package>"

    reading = read("long.epub", make.pack({"book.opf": package, **{f"{n}.xhtml": f"<p>needle {n}" for n in numbers}}))

    assert "needle 1049" in reading.text
    assert reading.facts.metadata["chapter_count"] == 1_050
    assert reading.reason is FileReason.OK


def page_of(size: int) -> str:
    filling = " ".join(str(number * 7919) for number in range(size // 8))
    return f"<html><body><p>Needle</p><p>{filling}</p><p>behind</p></body></html>"


def long_chapter(make: SimpleNamespace) -> bytes:
    return make.pack({"book.opf": "<package/>", "a.xhtml": page_of(1_100_000)})


def inserted_page(make: SimpleNamespace) -> bytes:
    return make.word(make.paragraph("Text"), **{"word/chunk.html": page_of(1_100_000)})


def crowded_page(make: SimpleNamespace) -> bytes:
    comment = "<< /Type /Annot /Subtype /Text /Rect [10 10 20 20] /Contents (Needle) >>"
    return make.pdf(["An example"], extra=[comment], page=f"/Annots [{'4 0 R ' * 2_001}]")


def bookmarked(make: SimpleNamespace) -> bytes:
    return make.pdf(["Needle"], outline=[(f"Chapter {number}", 0) for number in range(5)])


def annotated_picture(make: SimpleNamespace) -> bytes:
    told = PngImagePlugin.PngInfo()
    for number in range(505):
        told.add_text(f"note{number}", "Needle")
    return make.encoded(Image.new("L", (4, 4)), "PNG", pnginfo=told)


LIMITS = [
    ("a.epub", long_chapter, {"epub.MAX_TREE_CHARS": 1_000_000}, "only the first 1 MB of a.xhtml were read"),
    ("a.docx", inserted_page, {"docx.MAX_HTML_BYTES": 1_000_000}, "only the first 1 MB of word/chunk.html were read"),
    ("a.pdf", crowded_page, {}, "only the first 2,000 of 2,001 notes and fields of page 1 were read"),
    (
        "a.pdf",
        bookmarked,
        {"pdf.MAX_BOOKMARKS": 4, "pdfium.MAX_BOOKMARKS": 4},
        "only the first 4 bookmarks were read",
    ),
    ("a.png", annotated_picture, {}, "only the first 500 of 505 texts beside the picture were read"),
]


@pytest.mark.parametrize(("name", "build", "limits", "note"), LIMITS)
def test_what_lies_beyond_a_limit_makes_a_file_partial(
    read, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, name: str, build, limits: dict[str, int], note: str
) -> None:
    for limit, value in limits.items():
        monkeypatch.setattr(f"openmind_extractors.{limit}", value)

    reading = read(name, build(make))

    assert "Needle" in reading.text
    assert "behind" not in reading.text
    assert (reading.reason, reading.note) == (FileReason.PARTIAL, note)


def test_a_cell_of_a_notebook_is_read_to_its_end(read) -> None:
    source = "x = 1 " * 200_000 + "needle"

    reading = read("a.ipynb", f'{{"cells": [{{"cell_type": "code", "source": "{source}"}}]}}'.encode())

    assert len(reading.segments) == 2
    assert reading.text.endswith("needle")
    assert reading.reason is FileReason.OK


def test_text_that_people_added_to_a_picture_is_found_to_its_end(read, make: SimpleNamespace) -> None:
    told = PngImagePlugin.PngInfo()
    told.add_text("Description", "long " * 400 + "needle")
    picture = Image.new("L", (4, 4))

    png = read("a.png", make.encoded(picture, "PNG", pnginfo=told))
    gif = read("a.gif", make.encoded(picture, "GIF", comment=("Größe " * 20 + "needle").encode()))

    assert "needle" in png.text
    assert len(png.facts.metadata["image_info"]["Description"]) == 1_000
    assert "Größe needle" in gif.text
    assert "GIF8" not in gif.text


def test_a_number_too_long_for_python_is_told_in_words_of_ours(read) -> None:
    assert read("a.ipynb", b'{"cells": [' + b"1" * 10_000 + b"]}").note == (
        "The notebook is no valid JSON (a number in it has too many digits)"
    )


def test_losses_name_a_few_and_count_the_rest() -> None:
    losses = Losses()
    for number in range(7):
        losses.add(f"part {number}")
        losses.add(f"part {number}")

    assert losses.note == "part 0; part 1; part 2; part 3; part 4; and 2 more"


def test_a_part_that_is_refused_for_another_reason_than_damage_refuses_the_file() -> None:
    def encrypted() -> str:
        raise ExtractionFailed("it has a password", reason=FileReason.ENCRYPTED)

    with pytest.raises(ExtractionFailed, match="password"):
        Losses().attempt("part", encrypted, "")


def test_facts_keep_their_own_note_beside_the_losses() -> None:
    losses = Losses()
    losses.add("b")

    told = losses.told(DocumentFacts(reason=FileReason.PARTIAL, note="a"))

    assert (told.reason, told.note) == (FileReason.PARTIAL, "a; b")


def test_a_page_of_a_scan_that_is_too_large_is_told_and_the_others_keep_their_numbers(
    read, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = make.picture_of("Needle"), make.picture_of("Large", size=(1_000, 600))
    monkeypatch.setattr("openmind_extractors.image.MAX_DECODED_BYTES", 500_000)
    data = make.encoded(small, "TIFF", save_all=True, append_images=[large, small])

    reading = read("scan.tif", data, ocr=lambda: make.ocr(["Needle one", "Needle two"]))

    assert reading.where("Needle two") == "page 3"
    assert (reading.reason, reading.note) == (FileReason.PARTIAL, "page 2 is too large for its text to be read")


def test_a_slide_that_is_listed_and_missing_is_told(read, make: SimpleNamespace) -> None:
    relations = "".join(f"<Relationship Id='r{n}' Target='slides/slide{n}.xml'/>" for n in (1, 2))
    data = make.pack(
        {
            "ppt/presentation.xml": "<p xmlns:r='r'><sldId r:id='r1'/><sldId r:id='r2'/></p>",
            "ppt/_rels/presentation.xml.rels": f"<Relationships>{relations}</Relationships>",
            "ppt/slides/slide1.xml": f"<sld {DRAWING}><a:p><a:t>Needle</a:t></a:p></sld>",
        }
    )

    reading = read("talk.pptx", data)

    assert (reading.text, reading.note) == (
        "Needle",
        "ppt/slides/slide2.xml is listed in the presentation and missing",
    )
