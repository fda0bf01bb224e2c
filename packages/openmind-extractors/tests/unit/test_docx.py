import time
from types import SimpleNamespace

import pytest
from openmind.domain.files import FileReason

HIDDEN_RUN = "<w:rPr><w:vanish/></w:rPr>"


@pytest.fixture(scope="session")
def report(make: SimpleNamespace) -> bytes:
    p, w = make.paragraph, make.W
    cell = "<w:tc>{}</w:tc>".format
    body = (
        p("Annual report", style="Title")
        + p("Methods", style="Heading1")
        + p("We caught fish")
        + "<w:p><w:r><w:t>with a net</w:t></w:r><w:r><w:footnoteReference w:id='2'/></w:r></w:p>"
        + p("Results", style="berschrift2")
        + f"<w:tbl><w:tr>{cell(p('Kind'))}{cell(p('Count'))}</w:tr>"
        + f"<w:tr>{cell(p('Trout'))}{cell(p('12'))}</w:tr></w:tbl>"
        + "<w:p><w:ins><w:r><w:t>inserted words</w:t></w:r></w:ins>"
        + "<w:del><w:r><w:delText>deleted words</w:delText></w:r></w:del></w:p>"
        + p("secret words", run=HIDDEN_RUN)
        + p("styled secret", run="<w:rPr><w:rStyle w:val='Ghost'/></w:rPr>")
        + p("shown words", run="<w:rPr><w:vanish w:val='0'/></w:rPr>")
        + "<w:p><w:r><w:t>commented</w:t></w:r><w:r><w:commentReference w:id='0'/></w:r></w:p>"
        + "<w:p><w:r><mc:AlternateContent xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'>"
        + f"<mc:Choice><w:txbxContent>{p('boxed words')}</w:txbxContent></mc:Choice></mc:AlternateContent></w:r></w:p>"
    )
    styles = (
        f"<w:styles {w}><w:style w:type='paragraph' w:styleId='berschrift2'><w:name w:val='heading 2'/></w:style>"
        "<w:style w:type='paragraph' w:styleId='Title'><w:name w:val='Title'/></w:style>"
        "<w:style w:type='character' w:styleId='Ghost'><w:name w:val='Ghost'/><w:rPr><w:vanish/></w:rPr></w:style>"
        "</w:styles>"
    )
    return make.word(
        body,
        styles=styles,
        header1=f"<w:hdr {w}>{p('Secretariat of fish')}</w:hdr>",
        header2=f"<w:hdr {w}>{p('Secretariat of fish')}</w:hdr>",
        footer1=f"<w:ftr {w}>{p('Printed on paper')}{p('12')}</w:ftr>",
        footnotes=f"<w:footnotes {w}><w:footnote w:id='2'>{p('A fine net')}</w:footnote></w:footnotes>",
        comments=f"<w:comments {w}><w:comment w:id='0' w:author='Ann'>{p('Check this')}</w:comment></w:comments>",
        **{
            "docProps/core.xml": "<c xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>Fish 2024</dc:title>"
            "<dc:creator>Ann Angler</dc:creator></c>",
            "word/charts/chart1.xml": "<c xmlns:a='urn:a'><a:p><a:r><a:t>Catch by month</a:t></a:r></a:p>"
            "<strCache><pt><v>January</v></pt></strCache><numCache><pt><v>4711</v></pt></numCache></c>",
            "word/afchunk.htm": "<p>An inserted page</p>",
        },
    )


KEPT = [
    "We caught fish",
    "with a net",
    "A fine net",
    "Kind | Count\nTrout | 12",
    "inserted words",
    "shown words",
    "Check this",
    "boxed words",
    "Secretariat of fish",
    "Printed on paper",
    "Catch by month",
    "January",
    "An inserted page",
]
LEFT_OUT = ["deleted words", "secret words", "styled secret", "4711", "↑"]


def test_a_document_keeps_text_tables_notes_comments_boxes_headers_and_charts(read, report: bytes) -> None:
    reading = read("report.docx", report)

    assert [words for words in KEPT if words not in reading.text] == []
    assert reading.text.count("Secretariat of fish") == 1
    assert reading.facts.metadata["extraction_method"] == "mammoth"
    assert reading.facts.metadata["file_type"] == "docx"


M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


@pytest.mark.parametrize(
    ("within", "shown"),
    [
        ('<w:fldSimple w:instr="REF x"><w:r><w:t>bilby</w:t></w:r></w:fldSimple>', "bilby"),
        (f"<m:oMathPara {M}><m:oMath><m:r><m:t>E=</m:t></m:r><m:r><m:t>mc</m:t></m:r></m:oMath></m:oMathPara>", "E=mc"),
        ('<w:dir w:val="rtl"><w:bdo w:val="ltr"><w:r><w:t>bilby</w:t></w:r></w:bdo></w:dir>', "bilby"),
        (
            "<w:r><w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt>"
            "<w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby></w:r>",
            "漢字(かんじ)",
        ),
        ("<w:r><w:t>bil</w:t><w:softHyphen/><w:t>by da\u00adsy</w:t></w:r>", "bilby dasy"),
    ],
)
def test_text_within_elements_that_mammoth_does_not_know_is_kept(
    read, make: SimpleNamespace, within: str, shown: str
) -> None:
    body = f'<w:p><w:r><w:t xml:space="preserve">Before </w:t></w:r>{within}</w:p>'
    footnote = f'<w:footnotes {make.W}><w:footnote w:id="2"><w:p>{within}</w:p></w:footnote></w:footnotes>'
    reference = '<w:p><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'

    reading = read("a.docx", make.word(body + reference, footnotes=footnote))

    assert reading.facts.metadata["extraction_method"] == "mammoth"
    assert f"Before {shown}" in reading.text
    assert reading.text.count(shown) == 2


def test_deleted_and_hidden_text_is_left_out(read, report: bytes) -> None:
    reading = read("report.docx", report)

    assert [words for words in LEFT_OUT if words in reading.text] == []


def test_the_place_is_the_heading_path_and_the_paragraph(read, report: bytes) -> None:
    reading = read("report.docx", report)

    assert reading.where("Kind | Count") == "heading Methods › heading Results › paragraphs 6–6"
    assert reading.where("Printed on paper") == "part footer › paragraphs 1–1"
    assert reading.where("boxed words") == "part text boxes › paragraphs 1–1"


CHAPTERS = [
    ("Corp1", ""),  # based on a style that is based on Heading 1
    ("Corp2", ""),  # says itself that it is of the second level
    ("", "<w:outlineLvl w:val='2'/>"),  # the paragraph says so
]


@pytest.mark.parametrize("method", ["mammoth", "xml"])
def test_headings_in_a_companys_own_styles_are_headings(
    read, make: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def style(id: str, *properties: str) -> str:
        return f"<w:style w:type='paragraph' w:styleId='{id}'><w:name w:val='{id} x'/>{''.join(properties)}</w:style>"

    styles = (
        f"<w:styles {make.W}><w:style w:type='paragraph' w:styleId='Heading1'><w:name w:val='heading 1'/></w:style>"
        + "<w:style w:type='paragraph' w:styleId='Title'><w:name w:val='Title'/></w:style>"
        + style("Corp0", "<w:basedOn w:val='Heading1'/>")
        + style("Corp1", "<w:basedOn w:val='Corp0'/>")
        + style("Corp2", "<w:pPr><w:outlineLvl w:val='1'/></w:pPr>")
        + style("Contents", "<w:basedOn w:val='Heading1'/><w:pPr><w:outlineLvl w:val='9'/></w:pPr>")
        + style("Author", "<w:basedOn w:val='Title'/>")
        + style("Circle", "<w:basedOn w:val='Circle'/>")
        + "</w:styles>"
    )
    body = "".join(
        f"<w:p><w:pPr><w:pStyle w:val='{style}'/>{outline}</w:pPr><w:r><w:t>Chapter {n}</w:t></w:r></w:p>"
        for n, (style, outline) in enumerate(CHAPTERS)
    )
    body += "".join(make.paragraph(f"Text of {name}", style=name) for name in ("Contents", "Author", "Circle"))
    if method == "xml":
        monkeypatch.setattr("openmind_extractors.docx.MAX_MAMMOTH_XML", 0)

    reading = read("corp.docx", make.word(body, styles=styles))

    assert reading.facts.metadata["extraction_method"] == method
    assert (
        reading.where("Text of Author") == "heading Chapter 0 › heading Chapter 1 › heading Chapter 2 › paragraphs 3–6"
    )
    assert reading.where("Text of Contents") == reading.where("Text of Circle") == reading.where("Text of Author")


def test_title_and_author_come_from_the_properties(read, report: bytes) -> None:
    facts = read("report.docx", report).facts

    assert facts.title == "Fish 2024"
    assert facts.metadata["author"] == "Ann Angler"


def test_a_title_that_the_program_made_up_gives_way_to_the_first_heading(read, make: SimpleNamespace) -> None:
    core = "<c><title>Microsoft Word - draft.doc</title></c>"
    data = make.word(make.paragraph("Real title", style="Heading1"), **{"docProps/core.xml": core})

    assert read("a.docx", data).facts.title == "Real title"


def test_the_direct_way_reads_the_same_as_mammoth(read, report: bytes, make: SimpleNamespace) -> None:
    nested = "<w:tbl><w:tr><w:tc>" * 400 + make.paragraph("deep inside") + "</w:tc></w:tr></w:tbl>" * 400
    data = make.word(
        make.paragraph("Part", style="Heading1") + make.paragraph("secret", run=HIDDEN_RUN) + nested,
        comments=f"<w:comments {make.W}><w:comment>{make.paragraph('Noted')}</w:comment></w:comments>",
    )

    reading = read("nested.docx", data)

    assert reading.facts.metadata["extraction_method"] == "xml"
    assert reading.where("deep inside").startswith("heading Part")
    assert "secret" not in reading.text
    assert reading.where("Noted") == "part comments › paragraphs 1–1"


def test_a_very_long_document_is_read_within_its_time(read, make: SimpleNamespace) -> None:
    data = make.word("".join(make.paragraph(f"Line {n * n} of text") for n in range(100_000)))
    started = time.process_time()

    reading = read("long.docx", data)

    assert f"Line {99_999**2} of" in reading.text
    assert time.process_time() - started < 30


def test_a_zip_bomb_is_not_unpacked(read, make: SimpleNamespace) -> None:
    data = make.word(make.paragraph("x" * 5_000_000))

    reading = read("bomb.docx", data)

    assert reading.reason is FileReason.TOO_BIG
    assert "times its size" in reading.note


def test_a_container_of_too_many_parts_is_not_read(read, make: SimpleNamespace) -> None:
    data = make.pack({f"word/{number}.xml": "" for number in range(5_001)})

    assert read("many.docx", data).reason is FileReason.TOO_BIG


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("part", ["word/document.xml", "word/styles.xml", "word/footnotes.xml"])
def test_a_document_type_is_refused_in_every_part(read, make: SimpleNamespace, part: str, encoding: str) -> None:
    laughs = (
        f"<?xml version='1.0' encoding='{encoding}'?>"
        "<!DOCTYPE w [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]><w:document xmlns:w='urn:w'>&b;</w:document>"
    ).encode(encoding)

    reading = read("laughs.docx", make.word(make.paragraph("text"), **{part: laughs}))

    assert reading.reason is (FileReason.DAMAGED if part == "word/document.xml" else FileReason.PARTIAL)
    assert "ha" not in reading.text
    assert "document type" in reading.note


def test_an_encrypted_document_and_an_old_one_are_told_apart(read) -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)

    encrypted = read("a.docx", ole + "EncryptedPackage".encode("utf-16-le"))
    old = read("b.docx", ole + "WordDocument".encode("utf-16-le"))

    assert encrypted.reason is FileReason.ENCRYPTED
    assert old.reason is FileReason.UNSUPPORTED
    assert ".docx" in old.failure.hint


@pytest.mark.parametrize("cut", [10, 200, -1, -40])
def test_a_half_downloaded_document_is_damaged(read, report: bytes, cut: int) -> None:
    assert read("half.docx", report[:cut]).reason is FileReason.DAMAGED


def test_a_file_of_no_bytes_is_damaged(read) -> None:
    assert read("nothing.docx", b"").reason is FileReason.EMPTY


def test_a_document_without_text_is_empty(read, make: SimpleNamespace) -> None:
    reading = read("blank.docx", make.word("<w:p/>"))

    assert reading.reason is FileReason.EMPTY
    assert reading.segments == ()


def test_a_container_that_holds_no_document_says_so(read, make: SimpleNamespace) -> None:
    assert read("photos.docx", make.pack({"a.jpg": b"x"})).reason is FileReason.UNSUPPORTED
