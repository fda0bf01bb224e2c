import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openmind.domain.files import FileReason
from openmind_extractors.limits import MAX_TEXT_CHARS, SEGMENT_CHARS
from openmind_extractors.plain import text_segments


def test_a_short_note_is_one_segment_with_its_lines(read) -> None:
    reading = read("note.txt", b"\n\nFirst line\nsecond line\n\nlast line\n\n")

    [segment] = reading.segments
    assert segment.text == "First line\nsecond line\n\nlast line"
    assert reading.where("First") == "lines 3–6"
    assert reading.facts.metadata == {
        "file_type": "text",
        "extraction_method": "text",
        "encoding": "utf-8",
        "encoding_source": "utf-8",
    }


def test_zero_bytes_are_left_out_and_told(read) -> None:
    reading = read("note.txt", b"A note of a pelican, with one\0 zero byte.\n")

    assert reading.segments[0].text == "A note of a pelican, with one zero byte."
    assert reading.facts.reason is FileReason.PARTIAL
    assert "zero bytes" in reading.facts.note


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_numbers_are_the_same_for_every_kind_of_line_end(read, newline: str) -> None:
    reading = read("note.txt", newline.join(["", "one", "two", "", "three"]).encode())

    assert reading.where("three") == "lines 2–5"
    assert reading.segments[0].text == "one\ntwo\n\nthree"


@given(st.lists(st.sampled_from(["", "", "word " * 9, "x" * 30_000, "  ", "end"]), max_size=40))
def test_line_n_of_a_segment_is_line_n_of_the_file(lines: list[str]) -> None:
    kept = []
    for segment in text_segments("\n".join(lines)):
        place = segment.locator[-1]
        assert place.start is not None
        assert place.end is not None
        part = segment.text.split("\n")
        assert len(part) == place.end - place.start + 1
        for offset, line in enumerate(part):
            assert lines[place.start - 1 + offset].rstrip() == line.rstrip()
        kept.extend(part)
    assert "".join(kept).replace(" ", "") == "".join(lines).replace(" ", "")


def test_a_long_file_is_divided_between_paragraphs(read) -> None:
    paragraph = "A sentence of some length. " * 40 + "\n\n"

    reading = read("long.txt", (paragraph * 300).encode())

    assert 4 < len(reading.segments) < 12
    assert all(len(segment.text) <= SEGMENT_CHARS and segment.text.endswith(".") for segment in reading.segments)


def test_one_line_of_300_000_characters_is_kept_whole(read) -> None:
    reading = read("line.txt", b"x" * 300_000)

    assert reading.text == "x" * 300_000
    assert reading.where("x") == "lines 1–1"


def test_a_huge_file_is_read_up_to_the_limit_and_says_so(read, tmp_path: Path) -> None:
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        file.write(b"first line\n")
        file.write(b"another line of the log\n" * 1_000_000)

    reading = read("huge.log", path)

    assert reading.reason is FileReason.PARTIAL
    assert "20 MB" in reading.note
    assert MAX_TEXT_CHARS - 100 < sum(len(segment.text) + 1 for segment in reading.segments) <= MAX_TEXT_CHARS + 1
    assert reading.segments[-1].text.endswith("of the log")


@pytest.mark.parametrize("data", [b"", b" \n\t\n", "\ufeff".encode(), b"\0"])
def test_a_file_without_text_is_empty_and_no_success(read, data: bytes) -> None:
    reading = read("empty.txt", data)

    assert reading.segments == ()
    assert reading.reason in {FileReason.EMPTY, FileReason.UNSUPPORTED}
    assert reading.note


@pytest.mark.parametrize(
    ("data", "told"),
    [(b"%PDF-1.7\n1 0 obj", "a PDF document"), (b"\x89PNG\r\n\x1a\n", "a picture"), (b"PK\x03\x04", "Office")],
)
def test_another_kind_of_file_with_a_text_name_is_named(read, data: bytes, told: str) -> None:
    reading = read("report.txt", data)

    assert reading.reason is FileReason.UNSUPPORTED
    assert told in reading.note
    assert reading.failure.hint


def test_mostly_undecodable_text_is_partial(read) -> None:
    reading = read("broken.txt", b"\xef\xbb\xbf" + b"abc \xff\xfe " * 50)

    assert reading.reason is FileReason.PARTIAL
    assert "could not be decoded" in reading.note


def test_no_zero_byte_and_no_surrogate_leaves_the_extractor(read) -> None:
    reading = read("odd.txt", b"a\0b" + b" plain text" * 30 + b"\xed\xa0\x80")

    assert "\0" not in reading.text
    reading.text.encode()


def test_a_file_that_is_gone_or_closed_is_told_so(read, tmp_path: Path) -> None:
    assert read("gone.txt", tmp_path / "gone.txt").reason is FileReason.VANISHED

    if os.geteuid() != 0:
        path = tmp_path / "closed.txt"
        path.touch(mode=0)
        assert read("closed.txt", path).reason is FileReason.DENIED


def test_restructured_text_has_a_heading_path(read) -> None:
    text = "=====\nGuide\n=====\n\nHi.\n\nInstall\n=======\n\nRun.\n\nLinux\n-----\n\nUse apt.\n\nUsage\n=====\nGo.\n"

    reading = read("guide.rst", text.encode())

    assert reading.facts.title == "Guide"
    assert reading.where("Use apt.") == "heading Guide › heading Install › heading Linux › lines 12–15"
    assert reading.where("Go.") == "heading Guide › heading Usage › lines 17–19"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.org", "* One\n#+BEGIN_SRC sh\n* not a heading\n#+END_SRC\nend\n"),
        ("a.adoc", "== One\n\n[source]\n--------\n== not a heading\n--------\nend\n"),
        ("a.adoc", "== One\n\n```sh\n== not a heading\n```\nend\n"),
    ],
)
def test_a_line_of_a_listing_is_no_heading(read, name: str, text: str) -> None:
    assert read(name, text.encode()).where("end").startswith("heading One › lines 1")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.org", "#+BEGIN_SRC sh\n* One\nend\n"),
        ("a.adoc", "----\n== One\n\nend\n"),
        ("a.adoc", "Title\n-----\n\n== One\n\nend\n\nAgain\n-----\n"),
    ],
)
def test_what_begins_no_listing_hides_no_heading(read, name: str, text: str) -> None:
    assert read(name, text.encode()).where("end").startswith("heading One")


def test_colours_of_a_terminal_go_whole(read) -> None:
    log = b"\x1b[1;31mError\x1b[0m in \x1b]8;;file:///a\x1b\\a.py\x1b]8;;\x07\nnext \x1b(Bline"

    assert read("run.log", log).text == "Error in a.py\nnext line"


def test_org_headings_lose_keyword_priority_and_tags(read) -> None:
    text = "#+TITLE: My plan\n* TODO [#A] Garden :home:spring:\nDig.\n** Beds\nPlant.\n* Kitchen\n"

    reading = read("plan.org", text.encode())

    assert reading.facts.title == "My plan"
    assert reading.where("Plant.") == "heading Garden › heading Beds › lines 4–5"
    assert reading.where("Kitchen") == "heading Kitchen › lines 6–6"


def test_asciidoc_headings_are_a_path(read) -> None:
    reading = read("book.adoc", b"= Book\n\n== One\n\nText one.\n\n== Two\n\nText two.\n")

    assert reading.where("Text two.") == "heading Book › heading Two › lines 7–9"


def test_a_table_in_restructured_text_is_no_heading(read) -> None:
    reading = read("table.rst", b"==== ====\nName Size\n==== ====\nfish big\n==== ====\n")

    assert [place.kind for place in reading.segments[0].locator] == ["lines"]
