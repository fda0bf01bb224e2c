import json
from types import SimpleNamespace

import pytest
from openmind.domain.files import FileReason
from openmind_extractors.number_formats import NumberFormat, formatted_cells, read_format
from openmind_extractors.sheet_cutting import start_and_rows

A = "xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main'"
P = "xmlns:p='http://schemas.openxmlformats.org/presentationml/2006/main'"
R = "xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'"
RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
ODF = (
    "xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' "
    "xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0' "
    "xmlns:table='urn:oasis:names:tc:opendocument:xmlns:table:1.0' "
    "xmlns:style='urn:oasis:names:tc:opendocument:xmlns:style:1.0'"
)


def relations(*targets: tuple[str, str]) -> str:
    listed = "".join(f"<Relationship Id='{id}' Target='{target}'/>" for id, target in targets)
    return f"<Relationships xmlns='{RELATIONSHIPS}'>{listed}</Relationships>"


# --- notebooks


def notebook(*cells: dict[str, object], **metadata: object) -> bytes:
    return json.dumps({"nbformat": 4, "metadata": metadata, "cells": list(cells)}).encode()


def test_a_notebook_keeps_sources_and_short_outputs(read) -> None:
    picture = {"data": {"image/png": "iVBORw0KGgo" * 1_000, "text/plain": "<Figure>"}}
    data = notebook(
        {"cell_type": "markdown", "source": ["# Fish\n", "\n", "We count fish."]},
        {
            "cell_type": "code",
            "source": "len(fish)",
            "outputs": [
                {"text": ["12\n"]},
                picture,
                {"text": "x" * 5_000},
                {"ename": "ValueError", "evalue": "no fish"},
            ],
        },
        {"cell_type": "raw", "source": ""},
        kernelspec={"language": "python"},
    )

    reading = read("fish.ipynb", data)

    assert reading.facts.title == "Fish"
    assert reading.facts.metadata["language"] == "python"
    assert reading.of_kind("code") == ["len(fish)"]
    assert reading.where("len(fish)") == "heading Fish › cell 2"
    assert reading.where("12") == "heading Fish › cell 2"
    assert "ValueError: no fish" in reading.text
    assert "iVBOR" not in reading.text
    assert "xxx" not in reading.text


def test_a_notebook_of_version_3_is_read(read) -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Old"},
        {"cell_type": "code", "input": ["print 1"], "outputs": [{"output_type": "stream", "text": ["1"]}]},
    ]

    reading = read("old.ipynb", json.dumps({"worksheets": [{"cells": cells}]}).encode())

    assert reading.where("print 1") == "heading Old › cell 2"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", FileReason.EMPTY),
        (b"{", FileReason.DAMAGED),
        (b"[" * 100_000, FileReason.DAMAGED),
        (b"[1]", FileReason.UNSUPPORTED),
        (b"{}", FileReason.EMPTY),
        (b'{"cells": [1, {"cell_type": "code", "source": 7, "outputs": "x"}], "metadata": 3}', FileReason.EMPTY),
    ],
)
def test_what_is_no_notebook_is_told(read, data: bytes, reason: FileReason) -> None:
    assert read("a.ipynb", data).reason is reason


# --- mail

MAIL = """\
From: =?utf-8?q?J=C3=BCrgen_Fischer?= <j@example.com>
To: Ann <ann@example.com>
Date: Tue, 05 Mar 2024 10:00:00 +0100
Subject: =?utf-8?b?QnLDvGNrZSDDvGJlciBkZW4gRmx1c3M=?=
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=X

--X
Content-Type: multipart/alternative; boundary=Y

--Y
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

The bridge is gesch=FCtzt.
--Y
Content-Type: text/html

<p>The <b>bridge</b> in HTML</p>
--Y--
--X
Content-Type: text/csv; name="tolls.csv"
Content-Disposition: attachment; filename="tolls.csv"

car,2
--X
Content-Type: image/png; name="plan.png"
Content-Transfer-Encoding: base64

iVBORw0KGgo=
--X--
"""


def test_a_mail_keeps_headers_body_and_text_attachments(read) -> None:
    reading = read("bridge.eml", MAIL.encode())

    assert reading.facts.title == "Brücke über den Fluss"
    assert reading.facts.metadata["from"] == "Jürgen Fischer <j@example.com>"
    assert reading.facts.metadata["date"] == "2024-03-05T10:00:00+01:00"
    assert reading.facts.metadata["attachments"] == ["tolls.csv", "plan.png"]
    assert "From: Jürgen Fischer" in reading.text
    assert "The bridge is geschützt." in reading.text
    assert "in HTML" not in reading.text
    assert reading.where("The bridge is") == "body text › lines 1–1"
    assert reading.where("car,2") == "attachment tolls.csv › lines 1–1"
    assert "iVBOR" not in reading.text


def test_a_mail_of_only_html_is_read_as_a_page(read) -> None:
    reading = read("a.eml", b"Subject: x\nContent-Type: text/html\n\n<p>Dear <b>Ann</b></p><script>no()</script>")

    assert reading.segments[1].text == "Dear Ann"


def test_only_the_html_version_of_the_same_text_is_left_out(read) -> None:
    mail = (
        "Subject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=X\n\n"
        "--X\nContent-Type: text/html\n\n<p>A body that is only there as a page</p>\n"
        "--X\nContent-Type: text/plain\n\nSent with a list server\n"
        "--X\nContent-Type: multipart/alternative; boundary=Y\n\n"
        "--Y\nContent-Type: text/plain\n\nYour program shows no HTML.\n"
        "--Y\nContent-Type: text/html\n\n<p>News of the pademelon</p>\n--Y--\n--X--\n"
    )

    reading = read("list.eml", mail.encode())

    assert "only there as a page" in reading.text
    assert "list server" in reading.text
    assert "pademelon" in reading.text


def test_a_forwarded_mail_keeps_who_wrote_it(read) -> None:
    mail = (
        "Subject: Fwd\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=X\n\n"
        "--X\nContent-Type: text/plain\n\nSee below\n--X\nContent-Type: message/rfc822\n\n"
        "From: Ilse <ilse@example.com>\nSubject: The old bridge\n\nIt will be closed.\n--X--\n"
    )

    reading = read("fwd.eml", mail.encode())

    assert "From: Ilse <ilse@example.com>\nSubject: The old bridge" in reading.text
    assert reading.where("Ilse") == "attachment The old bridge › part headers"
    assert reading.where("It will be closed.") == "attachment The old bridge › body text › lines 1–1"
    assert reading.facts.title == "Fwd"


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_headers_that_are_not_encoded_as_they_should_be_are_read(read, encoding: str) -> None:
    mail = (
        "From: Jürgen <j@example.com>\nSubject: Größe =?utf-8?q?f=C3=BCr?= Müller\nMIME-Version: 1.0\n"
        "Content-Type: multipart/mixed; boundary=X\n\n--X\nContent-Type: image/png\n"
        'Content-Disposition: attachment; filename="Brücke.png"\n\nx\n--X--\n'
    )

    reading = read("a.eml", mail.encode(encoding))

    assert reading.facts.metadata["from"] == "Jürgen <j@example.com>"
    assert reading.facts.title == "Größe für Müller"
    assert "Attachments: Brücke.png" in reading.text


def test_a_mail_that_begins_with_a_byte_order_mark_is_a_mail(read) -> None:
    assert read("a.eml", "\ufeffSubject: Bridge\n\nClosed".encode()).facts.title == "Bridge"


def test_a_text_that_was_attached_as_bytes_is_read(read) -> None:
    mail = (
        "Subject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=X\n\n"
        "--X\nContent-Type: application/octet-stream\nContent-Transfer-Encoding: base64\n"
        'Content-Disposition: attachment; filename="=?utf-8?q?Gr=C3=B6=C3=9Fen=2Etxt?="\n\nVGhlIHRvbGxz\n--X--\n'
    )

    assert read("a.eml", mail.encode()).where("The tolls") == "attachment Größen.txt › lines 1–1"


def mixed(*parts: str) -> bytes:
    """Write a mail of several parts, each with its headers."""
    head = "Subject: x\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=X\n\n"
    return (head + "".join(f"--X\n{part}\n" for part in parts) + "--X--\n").encode()


def attached(name: str, text: str) -> str:
    return f'Content-Type: text/plain\nContent-Disposition: attachment; filename="{name}"\n\n{text}'


def test_the_text_of_a_mail_is_counted_in_lines_and_each_attachment_by_itself(read) -> None:
    data = mixed(
        "Content-Type: text/plain\n\nDear Ann\n\nBye",
        attached("notes.txt", "one\ntwo"),
        attached("notes.txt", "three"),
        "Content-Type: text/plain\n\nSent with a list",
    )

    reading = read("list.eml", data)

    assert reading.where("Dear Ann") == "body text › lines 1–3"
    assert reading.where("one") == "attachment notes.txt › lines 1–2"
    assert reading.where("three") == "attachment notes.txt › lines 1–1"
    assert reading.where("Sent with") == "body text › lines 4–4"
    first, second = (
        next(segment.locator[0] for segment in reading.segments if text in segment.text) for text in ("one", "three")
    )
    assert first != second, "equal places would make the two files one text"


def test_of_a_long_part_of_a_mail_the_beginning_is_read(read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openmind_extractors.mail.MAX_ATTACHMENT_BYTES", 1_000_000)

    reading = read("long.eml", mixed(attached("log.txt", "needle\n" + "x\n" * 500_000 + "behind")))

    assert "needle" in reading.text
    assert "behind" not in reading.text
    assert (reading.reason, reading.note) == (FileReason.PARTIAL, "only the first 1 MB of log.txt were read")


def test_beyond_the_limit_of_parts_a_mail_is_partial(read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openmind_extractors.mail.MAX_PARTS", 3)

    reading = read("many.eml", mixed(*(attached(f"{number}.txt", f"number {number}") for number in range(5))))

    assert "number 2" in reading.text
    assert "number 3" not in reading.text
    assert (reading.reason, reading.note) == (FileReason.PARTIAL, "only the first 3 of 5 parts were read")


def test_the_headers_of_a_mail_are_found_however_long_they_are(read) -> None:
    people = ", ".join(f"person{number}@example.com" for number in range(300))
    parts = [attached(f"{'n' * 250}{number}.txt", "x") for number in range(60)]

    reading = read("crowd.eml", f"To: {people}\n".encode() + mixed(*parts))

    assert "person299@example.com" in reading.text
    assert f"{'n' * 250}59.txt" in reading.text
    assert reading.reason is FileReason.OK
    assert len(reading.facts.metadata["to"]) == 2_000


def test_a_mail_that_lies_about_its_encoding_is_read(read) -> None:
    reading = read(
        "a.eml", b"Subject: =?nonsense?q?x?=\nContent-Type: text/plain; charset=nonsense\n\nGr\xc3\xbc\xc3\x9fe"
    )

    assert "Grüße" in reading.text


def test_mails_within_mails_do_not_end_in_recursion(read) -> None:
    deep = "Subject: deep\n" + "Content-Type: message/rfc822\n\nSubject: inner\n" * 2_000 + "\nneedle"

    reading = read("deep.eml", deep.encode())

    assert reading.reason is FileReason.PARTIAL
    assert reading.facts.title == "deep"


def test_of_parts_nested_too_deeply_the_outer_ones_are_read(read) -> None:
    levels = (
        f"Content-Type: multipart/mixed; boundary=B{number}\n\n--B{number}\n"
        f"Content-Type: text/plain\n\nlevel {number} of it\n--B{number}\n"
        for number in range(2_000)
    )

    reading = read("deep.eml", ("From: ann@example.com\nSubject: deep\n" + "".join(levels) + "\n").encode())

    assert reading.reason is FileReason.PARTIAL
    assert "From: ann@example.com" in reading.text
    assert "level 40 of it" in reading.text


def test_what_is_no_mail_is_told(read) -> None:
    assert read("a.eml", b"just some text without headers").reason is FileReason.UNSUPPORTED


# --- spreadsheets


def workbook(make: SimpleNamespace, *sheets: tuple[str, str], **more: str) -> bytes:
    main = "xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'"
    types = "".join(
        f"<Override PartName='/xl/worksheets/sheet{n}.xml' ContentType="
        "'application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml'/>"
        for n in range(1, len(sheets) + 1)
    )
    listed = "".join(f"<sheet name='{name}' sheetId='{n}' r:id='r{n}'/>" for n, (name, _) in enumerate(sheets, 1))
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"
    linked = "".join(
        f"<Relationship Id='r{n}' Type='{kind}' Target='worksheets/sheet{n}.xml'/>" for n in range(1, len(sheets) + 1)
    )
    members = {
        "[Content_Types].xml": f"<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'>{types}</Types>",
        "_rels/.rels": f"<Relationships xmlns='{RELATIONSHIPS}'><Relationship Id='r' Target='xl/workbook.xml' "
        "Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument'/></Relationships>",
        "xl/workbook.xml": f"<workbook {main} {R}><sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"<Relationships xmlns='{RELATIONSHIPS}'>{linked}</Relationships>",
        **{
            f"xl/worksheets/sheet{n}.xml": f"<worksheet {main}><sheetData>{rows}</sheetData></worksheet>"
            for n, (_, rows) in enumerate(sheets, 1)
        },
        **more,
    }
    return make.pack(members)


def row(number: int, *cells: str | float, column: str = "") -> str:
    letters = "ABCDEFGH"
    shown = "".join(
        f"<c r='{column or letters[i]}{number}' t='inlineStr'><is><t>{cell}</t></is></c>"
        if isinstance(cell, str)
        else f"<c r='{column or letters[i]}{number}'><v>{cell}</v></c>"
        for i, cell in enumerate(cells)
    )
    return f"<row r='{number}'>{shown}</row>"


def test_a_workbook_is_read_sheet_by_sheet_with_the_numbers_of_its_rows(read, make: SimpleNamespace) -> None:
    data = workbook(
        make,
        ("Prices", row(3, "Item", "Price") + row(4, "00123", 2) + row(5, "Net", 1.5)),
        ("Notes", row(1, "Only a remark")),
        **{"docProps/core.xml": "<c><title>Price list</title><creator>Ann</creator></c>"},
    )

    reading = read("prices.xlsx", data)

    assert reading.segments[0].text == "Item | Price\n00123 | 2\nNet | 1.5"
    assert reading.where("00123") == "sheet Prices › rows 4–5"
    assert reading.where("Only a remark") == "sheet Notes › rows 1–1"
    assert reading.facts.title == "Price list"
    assert reading.facts.metadata["sheet_count"] == 2
    assert reading.facts.metadata["author"] == "Ann"


STYLES = (
    "<styleSheet xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'><numFmts>"
    "<numFmt numFmtId='164' formatCode='00000'/><numFmt numFmtId='165' formatCode='#,##0.00\\ &quot;€&quot;;[Red]-0'/>"
    "<numFmt numFmtId='166' formatCode='[h]:mm'/><numFmt numFmtId='167' formatCode='#,##0,'/></numFmts>"
    "<cellStyleXfs><xf numFmtId='9'/></cellStyleXfs>"
    "<cellXfs><xf numFmtId='0'/><xf numFmtId='164'/><xf numFmtId='9'/><xf numFmtId='165'/><xf numFmtId='166'/>"
    "<xf numFmtId='20'/><xf numFmtId='22'/><xf numFmtId='167'/></cellXfs></styleSheet>"
)


@pytest.mark.parametrize("far", ["", "XF"])
def test_a_number_of_a_workbook_is_kept_with_what_its_format_adds(read, make: SimpleNamespace, far: str) -> None:
    values = [
        (1, 1067),
        (2, 0.19),
        (2, 0.1234),
        (3, -1234.5),
        (4, 36.5 / 24),
        (5, 9.5 / 24),
        (6, 46083.3958333),
        (7, 2),
    ]
    cells = "".join(f"<c r='{far}{'ABCDEFGH'[at]}2' s='{s}'><v>{v}</v></c>" for at, (s, v) in enumerate(values))
    data = workbook(make, ("Accounts", f"<row r='2'>{cells}</row>"), **{"xl/styles.xml": STYLES})

    text = read("accounts.xlsx", data).text

    assert text == "01067 | 19% | 12.34% | -1234.50 € | 36:30 | 09:30 | 2026-03-02 09:30 | 2"


def test_text_boxes_are_read_in_their_sheet(read, make: SimpleNamespace) -> None:
    box = f"<d {A}><a:p><a:r><a:t>Nobody touches column C</a:t></a:r></a:p></d>"
    parts = {
        "xl/worksheets/_rels/sheet2.xml.rels": relations(("d", "../drawings/drawing1.xml")),
        "xl/drawings/drawing1.xml": box,
    }

    reading = read("a.xlsx", workbook(make, ("Prices", row(1, "Trout") + row(2, "Perch")), ("Notes", ""), **parts))

    assert reading.where("Nobody") == "sheet Notes › part text boxes"


def test_formatted_cells_are_found_across_the_pieces_that_a_sheet_is_read_in() -> None:
    xml = b"".join(
        b'<row r="%d"><c r="AB%d" s="1"><v>7</v></c><c r="AC%d" s="2"/></row>' % (n, n, n) for n in range(1, 9)
    )

    for size in (1, 9, 64, 1_000):
        pieces = [xml[start : start + size] for start in range(0, len(xml), size)]
        found = list(formatted_cells(pieces, {1: NumberFormat(digits=5)}))
        assert [(cell.row, cell.column) for cell in found] == [(n, 28) for n in range(1, 9)]


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ('_-* #,##0.00\\ "€"_-;\\-* #,##0.00', 12, "12.00 €"),
        ("[$$-409]#,##0.00", -3.5, "$-3.50"),
        ("0.00", 1.239, "1.239"),
        ("0.0#", 0.1 + 0.2, "0.3"),
        ('0 "kg"', 1e20, "1e+20"),
        ("0 %", 0.07, "7 %"),
    ],
)
def test_a_format_adds_to_a_number_and_takes_nothing(code: str, value: float, shown: str) -> None:
    known = read_format(code)

    assert known is not None
    assert known.shown(value) == shown


@pytest.mark.parametrize("code", ["General", "@", "0.00E+00", "# ?/?", "#,##0,", "000-00", ";;;", '"none"', "yyyy", ""])
def test_a_format_that_does_other_things_is_not_followed(code: str) -> None:
    assert read_format(code) is None


def test_a_sheet_that_spans_the_whole_grid_is_not_built_in_memory(read, make: SimpleNamespace) -> None:
    far = "<row r='1'><c r='A1'><v>1</v></c></row><row r='1048576'><c r='XFD1048576'><v>1</v></c></row>"

    reading = read("grid.xlsx", workbook(make, ("Far", far)))

    assert reading.reason is FileReason.PARTIAL
    assert reading.note == "Far: only 1 of 2 rows are searchable"


def test_of_a_sheet_too_large_for_memory_the_first_rows_are_read(read, make: SimpleNamespace, monkeypatch) -> None:
    monkeypatch.setattr("openmind_extractors.sheets.MAX_CELLS", 4_000)
    rows = "".join(f"<row r='{n}'><c r='A{n}'><v>{n}</v></c><c r='H{n}'><v>7</v></c></row>" for n in range(1, 601))

    reading = read("large.xlsx", workbook(make, ("Large", rows), ("Small", row(1, "Trout") + row(2, "Perch"))))

    assert reading.reason is FileReason.PARTIAL
    assert reading.note == "Large: only 500 of 600 rows are searchable"
    assert "500 |" in reading.text
    assert "501 |" not in reading.text
    assert reading.where("Perch").startswith("sheet Small › rows")


def test_a_sheet_without_a_row_within_the_bounds_is_too_big(read, make: SimpleNamespace, monkeypatch) -> None:
    monkeypatch.setattr("openmind_extractors.sheets.MAX_CELLS", 2)

    assert read("wide.xlsx", workbook(make, ("Wide", row(1, 1, 2, 3, 4)))).reason is FileReason.TOO_BIG


def test_rows_are_counted_across_the_pieces_that_a_sheet_is_read_in() -> None:
    xml = b"<x:sheetData>" + b"<x:row r='1'></x:row><x:row/><x:rowBreaks/>" * 50 + b"</x:sheetData>"

    for size in (1, 7, 31, 64, 1_000):
        pieces = [xml[start : start + size] for start in range(0, len(xml), size)]
        assert start_and_rows(iter(pieces)) == (xml, 100)


def test_a_sheet_that_is_too_large_costs_the_others_nothing(read, make: SimpleNamespace) -> None:
    far = row(1, 1) + row(1_048_576, 1, column="XFD")

    reading = read("a.xlsx", workbook(make, ("Prices", row(1, "Trout") + row(2, "Perch")), ("Far", far)))

    assert reading.reason is FileReason.PARTIAL
    assert reading.note == "Far: only 1 of 2 rows are searchable"
    assert "Trout" in reading.text


def test_empty_rows_of_a_sheet_are_left_out(read, make: SimpleNamespace) -> None:
    rows = row(1, "Kind", "Size") + row(2, "Trout", 1) + row(6, "Perch", 2)

    reading = read("a.xlsx", workbook(make, ("Fish", rows)))

    assert reading.text == "Kind | Size\nTrout | 1\nPerch | 2"
    assert reading.where("Perch") == "sheet Fish › rows 2–6"


def test_a_single_far_cell_is_read(read, make: SimpleNamespace) -> None:
    far = row(1_048_576, "needle", column="XFD")

    assert "needle" in read("far.xlsx", workbook(make, ("Far", far))).text


def ods(make: SimpleNamespace, rows: str, **more: str) -> bytes:
    content = (
        f"<office:document-content {ODF}><office:body><office:spreadsheet><table:table table:name='Fish'>{rows}"
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    manifest = "<manifest:manifest xmlns:manifest='urn:oasis:names:tc:opendocument:xmlns:manifest:1.0'/>"
    return make.pack(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": manifest,
            "content.xml": content,
            **more,
        }
    )


def cell(text: str, repeated: int = 1) -> str:
    return (
        f"<table:table-cell office:value-type='string' table:number-columns-repeated='{repeated}'>"
        f"<text:p>{text}</text:p></table:table-cell>"
    )


def test_an_opendocument_sheet_is_read(read, make: SimpleNamespace) -> None:
    rows = "".join(
        f"<table:table-row>{cell(a)}{cell(b)}</table:table-row>" for a, b in (("Kind", "Size"), ("Trout", "small"))
    )
    nothing = "<table:table-cell table:number-columns-repeated='1024'/>"
    trailing = f"<table:table-row table:number-rows-repeated='1048574'>{nothing}</table:table-row>"

    reading = read("fish.ods", ods(make, rows + trailing))

    assert reading.text == "Kind | Size\nTrout | small"
    assert reading.where("Trout") == "sheet Fish › rows 2–2"


def test_an_opendocument_sheet_that_repeats_a_cell_a_billion_times_is_not_built(read, make: SimpleNamespace) -> None:
    repeated = f"<table:table-row table:number-rows-repeated='1000000'>{cell('x', 1_000)}</table:table-row>"
    last = f"<table:table-row>{cell('end')}</table:table-row>"

    reading = read("bomb.ods", ods(make, repeated + last))

    assert len(reading.text) < 500_000
    assert reading.reason is FileReason.PARTIAL
    assert "the first 200 columns" in reading.facts.note
    assert reading.where("end") == "sheet Fish › rows 1000001–1000001"


def typed(text: str, **attributes: str) -> str:
    given = "".join(f" office:{name.replace('_', '-')}='{value}'" for name, value in attributes.items())
    shown = f"<text:p>{text}</text:p>" if text else ""
    return f"<table:table-cell{given}>{shown}</table:table-cell>"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (typed("no type at all"), "no type at all"),
        (typed("FALSE", value_type="float", value="0"), "FALSE"),
        (typed("WAHR", value_type="boolean", boolean_value="true"), "WAHR"),
        (typed("", value_type="boolean", boolean_value="true"), "TRUE"),
        (typed("3.14", value_type="float", value="3.14159"), "3.14159"),
        (typed("12", value_type="float", value="12.0"), "12"),
        (typed("19 %", value_type="percentage", value="0.19"), "19 %"),
        (typed("12,50 €", value_type="currency", value="12.5"), "12,50 €"),
        (typed("05.03.24", value_type="date", date_value="2024-03-05T00:00:00"), "2024-03-05"),
        (typed("10:30", value_type="time", time_value="PT10H30M00S"), "10:30"),
        (typed("two<text:s/>words<text:line-break/>and more", value_type="string"), "two words and more"),
        (typed("", value_type="string", string_value="only a value"), "only a value"),
        (typed("kept<office:annotation><text:p>remark</text:p></office:annotation>"), "kept"),
    ],
)
def test_a_cell_of_an_opendocument_sheet_is_kept_as_it_is_shown(read, make, cell: str, shown: str) -> None:
    rows = f"<table:table-row>{typed('before')}<table:table-cell/>{cell}</table:table-row>"

    assert read("a.ods", ods(make, rows)).text == f"before |  | {shown}"


def test_a_huge_opendocument_sheet_is_read_in_part(read, make: SimpleNamespace) -> None:
    rows = "".join(f"<table:table-row>{typed(f'row{number}')}</table:table-row>" for number in range(52_000))

    reading = read("huge.ods", ods(make, rows))

    assert reading.reason is FileReason.PARTIAL
    assert "of 51,999 rows are searchable" in reading.facts.note
    assert reading.where("row49000").startswith("sheet Fish › rows 4")


def test_an_encrypted_opendocument_file_is_told(read, make: SimpleNamespace) -> None:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"

    assert read("a.ods", ods(make, "", **{"META-INF/manifest.xml": manifest})).reason is FileReason.ENCRYPTED


def test_a_workbook_without_cells_is_empty_and_a_broken_one_damaged(read, make: SimpleNamespace) -> None:
    assert read("a.xlsx", workbook(make, ("Empty", ""))).reason is FileReason.EMPTY
    assert read("b.xlsx", make.pack({"xl/workbook.xml": "<workbook"})).reason is FileReason.DAMAGED


# --- slides


def slide(*paragraphs: str, title: str = "", more: str = "") -> str:
    placeholder = "<p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr>"
    shapes = f"<p:sp>{placeholder}<a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:sp>"
    body = "".join(f"<p:sp><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sp>" for text in paragraphs)
    return f"<p:sld {P} {A}>{shapes}{body}{more}</p:sld>"


def presentation(make: SimpleNamespace) -> bytes:
    table = "<a:tbl><a:tr><a:tc><a:p><a:t>Kind</a:t></a:p></a:tc><a:tc><a:p><a:t>Size</a:t></a:p></a:tc></a:tr></a:tbl>"
    return make.pack(
        {
            "ppt/presentation.xml": f"<p:presentation {P} {R}><p:sldIdLst>"
            "<p:sldId id='1' r:id='b'/><p:sldId id='2' r:id='a'/></p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations(("a", "slides/slide1.xml"), ("b", "slides/slide2.xml")),
            "ppt/slides/slide1.xml": slide("Second in order", title="Results", more=table),
            "ppt/slides/slide2.xml": slide("First in order", title="Welcome"),
            "ppt/slides/_rels/slide2.xml.rels": relations(("n", "../notesSlides/notesSlide1.xml")),
            "ppt/notesSlides/notesSlide1.xml": slide("Say hello first", "2"),
            "ppt/slides/_rels/slide1.xml.rels": relations(
                ("l", "../slideLayouts/slideLayout1.xml"), ("c", "../charts/chart1.xml"), ("d", "../diagrams/data1.xml")
            ),
            "ppt/charts/chart1.xml": f"<c {A}><a:p><a:r><a:t>Catch by month</a:t></a:r></a:p></c>",
            "ppt/charts/chart2.xml": f"<c {A}><a:p><a:r><a:t>On no slide</a:t></a:r></a:p></c>",
            "ppt/diagrams/data1.xml": f"<c {A}><a:p><a:r><a:t>Who does what</a:t></a:r></a:p></c>",
        }
    )


def test_slides_are_read_in_order_with_notes_tables_and_charts(read, make: SimpleNamespace) -> None:
    reading = read("talk.pptx", presentation(make))

    assert reading.facts.title == "Welcome"
    assert reading.facts.metadata["slide_count"] == 2
    assert reading.segments[0].text == "Welcome\nFirst in order"
    assert reading.where("First in order") == "slide Welcome"
    assert reading.where("Second in order") == "slide Results"
    assert reading.where("Say hello first") == "slide Welcome › part notes"
    assert reading.of_kind("table") == ["Kind | Size"]
    assert reading.where("Catch by month") == "slide Results › part chart"
    assert reading.where("Who does what") == "slide Results › part chart"
    assert reading.where("On no slide") == "part chart"


def test_a_break_in_a_slide_ends_a_line_and_the_number_of_the_slide_is_none_of_its_words(read, make) -> None:
    number = "<a:p><a:fld type='slidenum'><a:t>&lt;number&gt;</a:t></a:fld></a:p>"
    address = "<a:p><a:r><a:t>Main Street 1</a:t></a:r><a:br/><a:r><a:t>1010 Vienna</a:t></a:r></a:p>"
    data = make.pack({"ppt/slides/slide1.xml": slide(more=address + number)})

    assert read("talk.pptx", data).text == "Main Street 1\n1010 Vienna"


def test_slides_without_text_are_empty_and_other_containers_no_slides(read, make: SimpleNamespace) -> None:
    blank = make.pack({"ppt/presentation.xml": f"<p:presentation {P}/>", "ppt/slides/slide1.xml": f"<p:sld {P}/>"})

    assert read("blank.pptx", blank).reason is FileReason.EMPTY
    assert read("a.pptx", make.pack({"readme.txt": "x"})).reason is FileReason.UNSUPPORTED


# --- OpenDocument text


def odt(make: SimpleNamespace, body: str, **more: str) -> bytes:
    text = f"<office:body><office:text>{body}</office:text></office:body>"
    content = f"<office:document-content {ODF}>{text}</office:document-content>"
    return make.pack({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content, **more})


def test_an_opendocument_text_keeps_headings_lists_tables_notes_and_headers(read, make: SimpleNamespace) -> None:
    body = (
        "<text:tracked-changes><text:p>deleted words</text:p></text:tracked-changes>"
        "<text:h text:outline-level='1'>Report</text:h><text:p>First<text:s/>words<text:note><text:note-citation>1"
        "</text:note-citation><text:note-body><text:p>A note</text:p></text:note-body></text:note></text:p>"
        "<text:h text:outline-level='2'>Kinds</text:h>"
        "<text:list><text:list-item><text:p>Trout</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
        "<text:p><text:hidden-text>secret</text:hidden-text></text:p>"
    )
    header = "<style:header><text:p>Secretariat</text:p></style:header>"
    styles = f"<office:document-styles {ODF}>{header}</office:document-styles>"
    meta = "<m><title>Fish report</title><initial-creator>Ann</initial-creator></m>"

    reading = read("fish.odt", odt(make, body, **{"styles.xml": styles, "meta.xml": meta}))

    assert reading.facts.title == "Fish report"
    assert reading.facts.metadata["author"] == "Ann"
    assert "First words" in reading.text
    assert "A note" in reading.text
    assert reading.where("- Trout") == "heading Report › heading Kinds › paragraphs 4–5"
    assert reading.of_kind("table") == ["a | b"]
    assert reading.where("Secretariat") == "part header › paragraphs 1–1"
    assert "deleted" not in reading.text
    assert "secret" not in reading.text


def test_opendocument_texts_that_hold_nothing_or_are_none_are_told(read, make: SimpleNamespace) -> None:
    assert read("a.odt", odt(make, "")).reason is FileReason.EMPTY
    assert read("b.odt", make.pack({"x": ""})).reason is FileReason.UNSUPPORTED
    bomb = "<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>"
    assert read("c.odt", odt(make, "", **{"content.xml": bomb})).reason is FileReason.DAMAGED


def hidden_style(name: str, family: str, *, parent: str = "", display: str = "none") -> str:
    properties = f"<style:text-properties text:display='{display}'/>" if display else ""
    return (
        f"<style:style style:name='{name}' style:family='{family}' style:parent-style-name='{parent}'>"
        f"{properties}</style:style>"
    )


def odt_of(make: SimpleNamespace, automatic: str, body: str, *, common: str = "", around: str = "") -> bytes:
    content = (
        f"<office:document-content {ODF}><office:automatic-styles>{automatic}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    styles = (
        f"<office:document-styles {ODF}><office:styles>{common}</office:styles><office:automatic-styles>"
        f"{hidden_style('T1', 'text', display='true')}</office:automatic-styles>"
        f"<office:master-styles><style:master-page>{around}</style:master-page></office:master-styles>"
        "</office:document-styles>"
    )
    return odt(make, "", **{"content.xml": content, "styles.xml": styles})


def test_text_that_an_opendocument_style_hides_is_left_out(read, make: SimpleNamespace) -> None:
    common = hidden_style("Hidden", "paragraph") + hidden_style("Shy", "text")
    automatic = (
        hidden_style("T1", "text")
        + hidden_style("T2", "text", display="true")
        + hidden_style("P1", "paragraph", parent="Hidden", display="")
        + hidden_style("P2", "paragraph", parent="P2", display="")
    )
    body = (
        "<text:p>Open <text:span text:style-name='T1'>secretspan</text:span> text "
        "<text:span text:style-name='Shy'>secretcommon</text:span></text:p>"
        "<text:p text:style-name='P1'>secretparagraph <text:span text:style-name='T2'>shownagain</text:span></text:p>"
        "<text:h text:style-name='Hidden' text:outline-level='1'>secretheading</text:h>"
        "<text:p text:style-name='P2'>A style that is its own parent</text:p>"
    )
    header = "<style:header><text:p><text:span text:style-name='T1'>Letterhead</text:span></text:p></style:header>"

    reading = read("a.odt", odt_of(make, automatic, body, common=common, around=header))

    assert "secret" not in reading.text + reading.facts.title
    assert "Open text\nshownagain\nA style that is its own parent" in reading.text
    assert "Letterhead" in reading.text


def test_hidden_sections_and_fields_of_an_opendocument_text_are_left_out(read, make: SimpleNamespace) -> None:
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        "<text:section text:display='none'><text:p>secretsection</text:p></text:section>"
        "<text:section text:display='condition' text:is-hidden='true'><text:p>secretcondition</text:p></text:section>"
        "<text:section text:display='condition'><text:p>Section that is shown</text:p></text:section>"
        "<text:p>secretfield <text:hidden-paragraph text:is-hidden='true'/></text:p>"
        "<text:p>Field that <text:hidden-paragraph text:is-hidden='false'/>shows</text:p>"
        "<text:p><text:hidden-text text:is-hidden='false'>Words on show</text:hidden-text></text:p>"
    )

    reading = read("a.odt", odt_of(make, "", body))

    assert reading.text == "Section that is shown\nField that shows\nWords on show"


def test_comments_and_footers_of_an_opendocument_text_are_told_apart(read, make: SimpleNamespace) -> None:
    body = (
        "<text:p>Slate<office:annotation><dc:creator xmlns:dc='d'>Ann</dc:creator>"
        "<dc:date xmlns:dc='d'>2024-03-05T10:00:00</dc:date><text:p>Which quarry?</text:p></office:annotation>"
        " on Thursdays, <text:date>5 March</text:date></text:p>"
    )
    around = (
        "<style:header><text:p>Letterhead</text:p></style:header>"
        "<style:footer><text:p>Bank account</text:p></style:footer>"
        "<style:footer-left><text:p>Left bank</text:p></style:footer-left>"
    )

    reading = read("a.odt", odt_of(make, "", body, around=around))

    assert "Slate on Thursdays, 5 March\nAnn\nWhich quarry?" in reading.text
    assert "2024" not in reading.text
    assert reading.where("Letterhead") == "part header › paragraphs 1–1"
    assert reading.where("Bank account") == reading.where("Left bank") == "part footer › paragraphs 1–2"


# --- books


def book(make: SimpleNamespace, **more: str) -> bytes:
    package = (
        "<package><metadata><title>The river</title><creator>Ann Angler</creator></metadata><manifest>"
        "<item id='n' href='nav.xhtml' media-type='application/xhtml+xml' properties='nav'/>"
        "<item id='b' href='text/two%20b.xhtml' media-type='application/xhtml+xml'/>"
        "<item id='a' href='text/one.xhtml' media-type='application/xhtml+xml'/>"
        "</manifest><spine><itemref idref='n'/><itemref idref='a'/><itemref idref='b'/></spine></package>"
    )
    return make.pack(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": "<container><rootfile full-path='OEBPS/book.opf'/></container>",
            "OEBPS/book.opf": package,
            "OEBPS/nav.xhtml": "<html><body><ol><li>Contents</li></ol></body></html>",
            "OEBPS/text/one.xhtml": "<html><body><h1>Spring</h1><p>The ice breaks.</p></body></html>",
            "OEBPS/text/two b.xhtml": "<html><head><title>Summer</title></head><p>The water falls.</p></html>",
            **more,
        }
    )


def test_a_book_is_read_chapter_by_chapter(read, make: SimpleNamespace) -> None:
    reading = read("river.epub", book(make))

    assert reading.facts.title == "The river"
    assert reading.facts.metadata["author"] == "Ann Angler"
    assert reading.where("The ice breaks.") == "chapter Spring › heading Spring › paragraphs 1–2"
    assert reading.where("The water falls.") == "chapter Summer › paragraphs 1–1"
    assert [segment.locator[0].start for segment in reading.segments] == [1, 2]
    assert "Contents" not in reading.text


def test_a_protected_book_is_told(read, make: SimpleNamespace) -> None:
    encryption = "<encryption><CipherReference URI='OEBPS/text/one.xhtml'/></encryption>"

    assert read("a.epub", book(make, **{"META-INF/encryption.xml": encryption})).reason is FileReason.ENCRYPTED


def test_what_is_no_book_is_told(read, make: SimpleNamespace) -> None:
    assert read("a.epub", make.pack({"mimetype": "application/epub+zip"})).reason is FileReason.UNSUPPORTED


# --- code


def test_code_is_kept_line_by_line_and_only_where_it_is_wanted(read, registry) -> None:
    reading = read("tool.py", b"import os\n\n\ndef main():\n    return os.name\n")

    assert reading.of_kind("code") == ["import os\n\n\ndef main():\n    return os.name"]
    assert reading.where("main") == "lines 1–5"
    assert reading.facts.metadata["language"] == "py"
    assert [e.value.info.name for e in registry.entries.values() if e.value.info.code] == ["code"]
    assert {".json", ".py", ".js"} <= registry.entries["code"].value.info.extensions
