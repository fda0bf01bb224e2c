import time
import zlib
from io import BytesIO
from types import SimpleNamespace

import pytest
from openmind.domain.config import ExtractionConfig, OcrConfig
from openmind.domain.documents import Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.plugins.registries import ExtractionTools
from openmind.ports.extractor import Blob
from openmind_extractors.pdf import PdfExtractor
from openmind_extractors.pdfium import PdfiumDocument

LINES = [
    "The committee met on Tuesday and agreed that the bridge",
    "needs a new deck before the winter, and that the work shall be",
    "paid for by the county.",
]
XOBJECT = "/XObject << /Im1 4 0 R >>"
NO_OCR_LIMIT = ExtractionConfig(ocr=OcrConfig(min_text_chars_per_page=5))


def encrypt(data: bytes, **options: str) -> bytes:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(BytesIO(data)))
    writer.encrypt(**options)
    packed = BytesIO()
    writer.write(packed)
    return packed.getvalue()


def test_each_page_is_a_place_with_its_number_and_label(read, make: SimpleNamespace) -> None:
    labels = "/PageLabels << /Nums [0 << /S /r >> 1 << /S /D >>] >>"

    reading = read("a.pdf", make.pdf(LINES, [*LINES, "A second page."], LINES, catalog=labels))

    assert reading.where("A second page.") == "page 1"
    places = [segment.locator[0] for segment in reading.segments]
    assert [(place.start, place.label) for place in places] == [(1, "i"), (2, "1"), (3, "2")]
    assert reading.facts.metadata["page_count"] == 3
    assert reading.facts.metadata["file_type"] == "pdf"
    assert reading.facts.metadata["extraction_method"] == "text"
    assert reading.facts.metadata["ocr_used"] is False
    assert "bridge\nneeds a new deck" in reading.text


def test_title_author_and_dates_are_known(read, make: SimpleNamespace) -> None:
    info = (
        "/Title (Bridges of the county) /Author (Ann Angler) /CreationDate (D:20240102030405+01'00') /ModDate (D:2025)"
    )

    facts = read("a.pdf", make.pdf(LINES, info=info)).facts

    assert facts.title == "Bridges of the county"
    assert facts.metadata["author"] == "Ann Angler"
    assert facts.metadata["created"] == "2024-01-02T03:04:05"
    assert facts.metadata["modified"] == "2025"


def test_bookmarks_are_headings_and_divide_the_page_they_point_to(read, make: SimpleNamespace) -> None:
    data = make.pdf(
        [*LINES, "Methods", "We counted cars."],
        ["We counted again. " * 6],
        LINES,
        outline=[("Summary", 0), ("Methods", 0), ("Results", 2)],
    )

    reading = read("a.pdf", data)

    assert reading.where("committee") == "page 1 › heading Summary"
    assert reading.where("We counted cars.") == "page 1 › heading Methods"
    assert reading.where("We counted again.") == "page 2 › heading Methods"
    assert [place.label for place in reading.segments[-1].locator] == ["", "Results"]


def test_a_bookmark_divides_no_word_and_no_sentence(read, make: SimpleNamespace) -> None:
    page = [
        "Annual AUDIT of the II. Infantry",
        "with details in the section Costs of this report.",
        "I",
        "The first part.",
    ]
    more = ["Chapter 3", "Observations of the Birds of the Northern", "Marshes", "Herons came.", "4. COSTS", "Few."]
    outline = [("I", 0), ("Observations of the Birds of the Northern Marshes", 0), ("Costs", 0)]

    reading = read("a.pdf", make.pdf(page + more, outline=outline))

    assert [segment.text.split("\n")[0] for segment in reading.segments] == [page[0], "I", "Chapter 3", "4. COSTS"]
    assert [segment.locator[1:] and segment.locator[1].label for segment in reading.segments] == [
        (),
        "I",
        "Observations of the Birds of the Northern Marshes",
        "Costs",
    ]


@pytest.mark.parametrize("title", ["Prices", "Prices (draft)"])
def test_the_place_that_a_bookmark_points_at_decides_where_its_title_does_not(
    read, make: SimpleNamespace, title: str
) -> None:
    lines = ["Prices", "An otter.", "Prices", "A badger.", "Prices", "A heron."]  # at 800, 788, 776 … above the bottom

    reading = read("a.pdf", make.pdf(lines, outline=[("All", 0, 842), (title, 0, 786)]))

    assert [segment.text for segment in reading.segments] == [
        "Prices\nAn otter.",
        "Prices\nA badger.\nPrices\nA heron.",
    ]
    assert reading.where("badger") == f"page 1 › heading {title}"


def test_lines_along_the_side_of_a_page_that_is_turned_stay_lines(read, make: SimpleNamespace) -> None:
    lines = [f"Station {name} on the shore was visited twice" for name in ("one", "two", "three", "four")]
    drawn = "".join(f"0 1 -1 0 {80 + 30 * n} 50 Tm ({line}) Tj " for n, line in enumerate(lines))

    reading = read("side.pdf", make.pdf(f"BT /F1 10 Tf {drawn} ET".encode(), page="/Rotate 90"))

    assert reading.text.split("\n") == lines


def test_hyphens_ligatures_and_running_heads_are_mended(read, make: SimpleNamespace) -> None:
    pages = [["County of Example", *LINES, "An exam-", f"ple number {n}", *LINES, str(n)] for n in range(6)]

    reading = read("a.pdf", make.pdf(*pages))

    assert reading.text.count("County of Example") == 1
    assert reading.text.count("An example number") == 6


def test_form_values_and_comments_are_passages_of_their_page(read, make: SimpleNamespace) -> None:
    widget = (
        "<< /Type /Annot /Subtype /Widget /FT /Tx /T (applicant) /TU (Name of applicant) /V (Ann Angler)"
        " /Rect [50 600 300 620] /DA (/F1 10 Tf) >>"
    )
    comment = "<< /Type /Annot /Subtype /Text /Rect [10 10 20 20] /Contents (Please check the sum) >>"
    link = "<< /Type /Annot /Subtype /Link /Rect [10 10 20 20] /Contents (not text) >>"
    data = make.pdf(
        LINES,
        extra=[widget, comment, link],
        catalog="/AcroForm << /Fields [4 0 R] /DA (/F1 10 Tf) >>",
        page="/Annots [4 0 R 5 0 R 6 0 R]",
    )

    reading = read("form.pdf", data)

    assert reading.of_kind("form") == ["Name of applicant: Ann Angler"]
    assert reading.of_kind("annotation") == ["Please check the sum"]
    assert reading.where("check the sum") == "page 1"
    assert "not text" not in reading.text


def test_attachments_are_named(read, make: SimpleNamespace) -> None:
    extra = [
        "<< /Type /Filespec /F (data.csv) /UF (data.csv) /EF << /F 5 0 R >> >>",
        "<< /Length 3 >> stream\na,b\nendstream",
    ]
    catalog = "/Names << /EmbeddedFiles << /Names [(data.csv) 4 0 R] >> >>"

    assert read("a.pdf", make.pdf(LINES, extra=extra, catalog=catalog)).facts.metadata["attachments"] == ["data.csv"]


def test_only_pages_without_usable_text_are_recognised(read, make: SimpleNamespace) -> None:
    image, page = make.scan(make.picture_of("anything", size=(600, 800)))
    engine = make.ocr(["What the scan says, recognised. " * 5])
    data = make.pdf(LINES, page, b"", [*LINES, "end"], extra=[image], resources="/XObject << /Im1 4 0 R >>")

    reading = read("a.pdf", data, ocr=lambda: engine)

    assert len(engine.seen) == 1
    assert reading.where("What the scan says") == "page 2"
    assert reading.reason is FileReason.OK
    assert reading.facts.metadata["extraction_method"] == "text+ocr"
    assert reading.facts.metadata["ocr_used"] is True
    assert reading.facts.metadata["ocr_engine"] == "fake+pypdfium2"
    assert reading.facts.metadata["ocr_quality"] == "good"


def test_a_page_is_rendered_at_160_dpi_and_no_larger_than_12_megapixels(read, make: SimpleNamespace) -> None:
    image, page = make.scan(make.picture_of("anything", size=(600, 800)))
    engine = make.ocr(["text " * 30])
    options = {"extra": [image], "resources": "/XObject << /Im1 4 0 R >>"}

    read("a4.pdf", make.pdf(page, **options), ocr=lambda: engine)
    big = page.replace(b"595 0 0 842", b"7200 0 0 7200")
    read("poster.pdf", make.pdf(big, size=(7_200, 7_200), **options), ocr=lambda: engine)

    a4, poster = engine.seen
    assert (a4.width, a4.height) == (1_323, 1_872)
    assert 11_000_000 < poster.width * poster.height <= 12_100_000
    assert len(a4.pixels) == a4.width * a4.height


def test_a_page_that_claims_to_be_70_metres_wide_is_not_rendered(read, make: SimpleNamespace) -> None:
    engine = make.ocr(["never"])

    reading = read("huge.pdf", make.pdf(b"0 0 m 9 9 l S", size=(200_000, 200_000)), ocr=lambda: engine)

    assert engine.seen == []
    assert reading.reason is FileReason.NEEDS_OCR
    assert "too large to be recognised" in str(reading.facts.metadata["ocr_error"])
    assert "too large to be recognised" in reading.facts.note


def test_a_scan_without_recognition_needs_it(read, make: SimpleNamespace) -> None:
    image, page = make.scan(make.picture_of("anything", size=(600, 800)))
    data = make.pdf(page, extra=[image], resources="/XObject << /Im1 4 0 R >>")

    off = read("scan.pdf", data)

    def missing() -> object:
        raise ExtractionFailed("text recognition is not installed", reason=FileReason.NEEDS_OCR)

    broken = read("scan.pdf", data, ocr=missing)
    failing = read("scan.pdf", data, ocr=lambda: make.ocr([ExtractionFailed("out of paper")]))

    assert off.reason is broken.reason is failing.reason is FileReason.NEEDS_OCR
    assert "text recognition is off" in off.note
    assert broken.facts.metadata["ocr_error"] == "Text recognition is not installed"
    assert failing.facts.metadata["ocr_error"] == "Out of paper"
    assert "not installed" in broken.note


def test_a_document_of_text_and_scans_is_partial_without_recognition(read, make: SimpleNamespace) -> None:
    image, page = make.scan(make.picture_of("anything", size=(600, 800)))

    reading = read("a.pdf", make.pdf(LINES, page, extra=[image], resources="/XObject << /Im1 4 0 R >>"))

    assert reading.reason is FileReason.PARTIAL
    assert "page 2 could not be recognised" in reading.note


def test_a_short_page_of_pure_text_is_not_recognised(read, make: SimpleNamespace) -> None:
    engine = make.ocr(["never"])

    reading = read("a.pdf", make.pdf(["Part two"]), ocr=lambda: engine)

    assert engine.seen == []
    assert reading.text == "Part two"
    assert reading.reason is FileReason.OK


def test_letters_that_were_turned_into_curves_are_recognised(read, make: SimpleNamespace) -> None:
    engine = make.ocr(["What the curves say. " * 5])
    curves = b"".join(
        b"%d %d m %d %d 9 9 %d %d c f\n" % (x, y, x + 5, y, x, y + 9)
        for x in range(50, 500, 20)
        for y in range(100, 700, 40)
    )

    reading = read("a.pdf", make.pdf(make.text_stream(["Page 12"]) + b"\n" + curves), ocr=lambda: engine)

    assert len(engine.seen) == 1
    assert reading.text.startswith("What the curves say.")


def test_doubtful_recognition_is_said(read, make: SimpleNamespace) -> None:
    image, page = make.scan(make.picture_of("anything", size=(600, 800)))
    engine = make.ocr(["allthespacesofthispagewerelostbytheengine " * 5])

    reading = read("a.pdf", make.pdf(page, extra=[image], resources="/XObject << /Im1 4 0 R >>"), ocr=lambda: engine)

    assert reading.facts.metadata["ocr_quality"] == "low"
    assert reading.facts.metadata["ocr_warnings"] == ["spaces between words were not recognised"]


def test_a_script_that_cannot_be_recognised_is_no_text(read, make: SimpleNamespace) -> None:
    image, page = make.scan(make.picture_of("anything", size=(600, 800)))
    engine = make.ocr([""], warning="the page is in a script that text recognition cannot read")

    reading = read("a.pdf", make.pdf(page, extra=[image], resources="/XObject << /Im1 4 0 R >>"), ocr=lambda: engine)

    assert reading.reason is FileReason.NEEDS_OCR
    assert "script" in reading.note


def test_a_scan_on_which_no_text_was_found_is_not_called_blank(read, make: SimpleNamespace) -> None:
    image, page = make.scan(make.picture_of("anything", size=(600, 800)))

    reading = read("a.pdf", make.pdf(page, extra=[image], resources=XOBJECT), ocr=lambda: make.ocr([""]))

    assert reading.reason is FileReason.NEEDS_OCR
    assert reading.facts.metadata["ocr_error"] == "no text was found on them"


def test_a_page_that_was_hard_to_recognise_makes_the_document_partial(read, make: SimpleNamespace) -> None:
    image, page = make.scan(make.picture_of("anything", size=(600, 800)))
    engine = make.ocr(["UIU ACLIU 4LILU"], warning="the text was hard to recognise")

    reading = read("a.pdf", make.pdf(page, extra=[image], resources=XOBJECT), ocr=lambda: engine)

    assert reading.reason is FileReason.PARTIAL
    assert reading.note == "page 1: the text was hard to recognise"
    assert reading.facts.metadata["ocr_error"] == "the text was hard to recognise"
    assert reading.text == "UIU ACLIU 4LILU"


def test_garbled_text_gives_way_to_recognition(read, make: SimpleNamespace) -> None:
    garbled = make.text_stream(["!\"#$%&'()*+,-./:;<=>?@" * 3] * 4)
    engine = make.ocr(["What the page really says. " * 5])

    reading = read("a.pdf", make.pdf(garbled), ocr=lambda: engine)

    assert reading.text.startswith("What the page really says.")


def test_torn_words_are_read_by_pypdf(read, make: SimpleNamespace) -> None:
    spaced = b"BT /F1 10 Tf 3.5 Tc 50 800 Td (Here is some text that a typesetter set wide apart) Tj ET"

    reading = read("a.pdf", make.pdf(spaced), config=NO_OCR_LIMIT)

    assert "some text that a typesetter" in reading.text


def test_a_line_whose_letters_are_set_apart_is_read_as_words(read, make: SimpleNamespace) -> None:
    apart = " ".join("-700" if letter == " " else f"({letter}) -400" for letter in "ANNUAL CENSUS OF HERONS")
    heading = f"BT /F1 14 Tf 50 600 Td [{apart}] TJ 0 -30 Td (A B C D E F G) Tj ET"
    columns = "BT /F1 10 Tf 50 500 Td" + "".join(f" ({letter}) Tj 30 0 Td" for letter in "GFEDCBA") + " ET"
    data = make.pdf(make.text_stream(LINES * 5) + f"\n{heading}\n{columns}".encode())

    lines = read("a.pdf", data).text.split("\n")

    assert [*map(str.strip, lines[-3:])] == ["ANNUAL CENSUS OF HERONS", "A B C D E F G", "G F E D C B A"]


def test_a_raised_figure_ends_no_number(read, make: SimpleNamespace) -> None:
    line = "(He came in 1148) Tj /F1 6 Tf 4 Ts (12) Tj /F1 10 Tf 0 Ts ( and left in 1150; 10) Tj /F1 6 Tf 4 Ts (6) Tj"

    reading = read("a.pdf", make.pdf(f"BT /F1 10 Tf 50 800 Td {line} ET".encode()))

    assert reading.text == "He came in 1148^12 and left in 1150; 10^6"


def test_blank_pages_are_empty_and_not_waiting(read, make: SimpleNamespace) -> None:
    engine = make.ocr(["never"])

    reading = read("blank.pdf", make.pdf(b"", b""), ocr=lambda: engine)

    assert engine.seen == []
    assert reading.reason is FileReason.EMPTY
    assert reading.note == "its pages are blank"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_a_password_is_reported_and_an_empty_one_opens(read, make: SimpleNamespace, algorithm: str) -> None:
    data = make.pdf(LINES)

    locked = read("a.pdf", encrypt(data, user_password="secret", algorithm=algorithm))
    restricted = read("b.pdf", encrypt(data, user_password="", owner_password="owner", algorithm=algorithm))

    assert locked.reason is FileReason.ENCRYPTED
    assert "password" in locked.note
    assert "committee" in restricted.text
    assert restricted.facts.metadata["restricted"] is True


@pytest.mark.parametrize("cut", [4, 100, 300])
def test_a_half_downloaded_document_is_damaged(read, make: SimpleNamespace, cut: int) -> None:
    reading = read("half.pdf", make.pdf(LINES)[:cut])

    assert reading.reason is FileReason.DAMAGED
    assert reading.segments == ()


def test_no_byte_and_no_pdf_are_damaged(read) -> None:
    assert read("a.pdf", b"").reason is FileReason.EMPTY
    assert read("a.pdf", b"\x93\0\x01\xff" * 40).reason is FileReason.DAMAGED


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.odt"])
def test_plain_text_under_another_name_is_read_as_what_it_is(read, name: str) -> None:
    reading = read(name, b"The takin lives in Bhutan\n")

    assert reading.reason is FileReason.OK
    assert reading.facts.metadata["file_type"] == "text"
    assert reading.where("takin") == "lines 1–1"


def test_a_table_of_text_that_is_called_a_workbook_is_read_row_by_row(read) -> None:
    assert "row" in read("a.xlsx", b"Kind,Size\nTrout,1\nPerch,2\n").where("Perch")


def test_a_document_after_junk_is_read(read, make: SimpleNamespace) -> None:
    reading = read("a.pdf", b"junk\n" * 400 + make.pdf(LINES))

    assert "committee" in reading.text


def test_one_broken_page_costs_one_page(read, make: SimpleNamespace) -> None:
    data = make.pdf(LINES, [*LINES, "second"], LINES)
    broken = data.replace(b"/Kids [5 0 R 7 0 R 9 0 R]", b"/Kids [5 0 R 3 0 R 9 0 R]")
    assert broken != data

    reading = read("a.pdf", broken)

    assert reading.reason is FileReason.PARTIAL
    assert "page 2" in reading.note
    assert len(reading.segments) == 2


def test_pages_that_are_a_circle_do_not_go_round_forever(read, make: SimpleNamespace) -> None:
    data = make.pdf(LINES).replace(b"/Kids [5 0 R]", b"/Kids [2 0 R]")
    started = time.process_time()

    reading = read("circle.pdf", data)

    assert reading.reason in {FileReason.DAMAGED, FileReason.EMPTY}
    assert time.process_time() - started < 5


def test_a_hundred_thousand_references_to_a_page_are_read_up_to_the_limit(read, make: SimpleNamespace) -> None:
    data = make.pdf(["Same page"])
    many = data.replace(b"/Kids [5 0 R] /Count 1", b"/Kids [" + b"5 0 R " * 100_000 + b"] /Count 100000")

    reading = read("many.pdf", many, config=NO_OCR_LIMIT)

    assert reading.reason in {FileReason.PARTIAL, FileReason.DAMAGED}
    if reading.reason is FileReason.PARTIAL:
        assert "5,000 of 100,000 pages" in reading.note


def deflated(make: SimpleNamespace, content: bytes, kind: str = "") -> bytes:
    packed = zlib.compress(content, 9)
    stream = f"<< {kind} /Filter /FlateDecode /Length {len(packed)} >> stream\n".encode() + packed + b"\nendstream"
    page = "/Contents 4 0 R /Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 595 842]"
    return make.pdf(b"", extra=[stream, f"<< /Type /Page /Parent 2 0 R {page} >>"]).replace(
        b"/Kids [7 0 R]", b"/Kids [5 0 R]"
    )


def test_a_stream_that_unpacks_to_gigabytes_is_not_unpacked(read, make: SimpleNamespace, tmp_path) -> None:
    bomb = deflated(make, b" " * 150_000_000)
    path = tmp_path / "bomb.pdf"
    path.write_bytes(bomb)

    assert len(bomb) < 200_000
    assert read("bomb.pdf", bomb).reason is FileReason.TOO_BIG
    assert "100 MB" in read("bomb.pdf", path).note


def test_a_long_but_honest_stream_and_a_blank_picture_are_no_bombs(read, make: SimpleNamespace) -> None:
    text = make.text_stream(LINES)
    honest = deflated(make, text + b" " * 60_000_000)
    picture = deflated(make, b"\xff" * 150_000_000, "/Subtype /Image")

    assert "committee" in read("a.pdf", honest).text
    assert read("b.pdf", picture).reason is not FileReason.TOO_BIG


def test_many_drawing_operations_are_no_text_and_take_bounded_time(read, make: SimpleNamespace) -> None:
    started = time.process_time()

    reading = read("plan.pdf", make.pdf(b"0 0 1 1 re f\n" * 300_000))

    assert reading.segments == ()
    assert time.process_time() - started < 30


def test_what_is_no_pdf_is_read_as_what_it_is_or_named(read) -> None:
    page = read("page.pdf", b"<!doctype html><p>A page</p>")
    program = read("tool.pdf", b"MZ\x90\0\x03\0\0\0\x04\0\0\0")

    assert page.text == "A page"
    assert page.facts.metadata["file_type"] == "html"
    assert program.reason is FileReason.UNSUPPORTED
    assert "a program" in program.note


def test_a_reader_that_ends_takes_only_the_page_it_is_at(make: SimpleNamespace, monkeypatch) -> None:
    read: list[int] = []
    open_page = PdfiumDocument.page

    def counted(self: PdfiumDocument, index: int) -> object:
        read.append(index)
        return open_page(self, index)

    monkeypatch.setattr(PdfiumDocument, "page", counted)
    pieces = PdfExtractor(ExtractionTools()).extract(Blob(name="a.pdf", data=make.pdf(*[LINES] * 40)))

    held_back = []
    for piece in pieces:
        if isinstance(piece, Segment):
            held_back.append(len(read) - piece.locator[0].start)

    assert held_back[0] == 0
    assert max(held_back[:5]) == 3
    assert set(held_back[5:]) == {0}
    assert len(held_back) == 40


def test_a_dynamic_form_is_said_to_be_one(read, make: SimpleNamespace) -> None:
    xfa = "/AcroForm << /Fields [] /XFA [(template) 4 0 R] >>"
    data = make.pdf(b"", extra=["<< /Length 3 >> stream\n<a/\nendstream"], catalog=xfa)

    reading = read("form.pdf", data)

    assert reading.reason in {FileReason.UNSUPPORTED, FileReason.EMPTY}
    assert reading.facts.metadata.get("form") == "xfa" or reading.reason is FileReason.EMPTY


def test_a_file_on_disk_is_read_like_one_in_memory(read, make: SimpleNamespace, tmp_path) -> None:
    path = tmp_path / "größe.pdf"
    path.write_bytes(make.pdf(LINES))

    assert read("größe.pdf", path).text == read("a.pdf", path.read_bytes()).text
