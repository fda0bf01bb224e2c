import time

import pytest
from openmind.domain.files import FileReason
from openmind_extractors.html import MAX_TREE_DEPTH, fits_a_tree, read_page

PAGE = """<!doctype html>
<html lang="de"><head><title> Fish &amp;  rivers </title><meta name="description" content="All about trout">
<style>.x { color: red }</style><script>var tracking = 1</script></head>
<body>
<nav><a href="/">Home</a> <a href="/about">About us</a></nav>
<header><h1>Fish</h1></header>
<p>First<br>second <b>bo</b>ld, see <a href="x.html">the link text</a>.</p>
<h2>Kinds</h2>
<ul><li>Trout<li>Salmon</ul>
<table><tr><th>Name<th>Size<tr><td>Trout<td>small</table>
<pre>  indented
    code</pre>
<img src="a.png" alt="A trout in a brook">
<div hidden>hidden one</div><div style="color:red; display: none">hidden two</div><p aria-hidden="true">hidden three</p>
<template>template text</template><noscript>noscript text</noscript><iframe srcdoc="<p>srcdoc</p>">frame text</iframe>
<!-- a comment --><svg><title>drawing</title><text>drawn</text></svg>
<aside>Advertisement</aside><div role="navigation">More links</div><footer>Imprint</footer>
</body></html>"""
HIDDEN = [
    "tracking",
    "color",
    "Home",
    "hidden",
    "template",
    "noscript",
    "srcdoc",
    "frame text",
    "comment",
    "drawn",
    "Advertisement",
    "More links",
    "Imprint",
]


def test_a_page_keeps_what_its_reader_sees(read) -> None:
    reading = read("fish.html", PAGE.encode())

    assert reading.facts.title == "Fish & rivers"
    assert reading.facts.metadata["description"] == "All about trout"
    assert reading.facts.metadata["language"] == "de"
    assert reading.facts.metadata["file_type"] == "html"
    assert "First\nsecond bold, see the link text." in reading.text
    assert "- Trout\n- Salmon" in reading.text
    assert "A trout in a brook" in reading.text
    assert reading.of_kind("table") == ["Name | Size\nTrout | small"]
    assert reading.of_kind("code") == ["  indented\n    code"]
    assert reading.where("- Salmon") == "heading Fish › heading Kinds › paragraphs 3–5"


def test_a_page_loses_what_its_reader_does_not_see(read) -> None:
    text = read("fish.html", PAGE.encode()).text

    assert [word for word in HIDDEN if word in text] == []


def test_a_page_too_large_for_a_tree_gives_the_same_text() -> None:
    small, large = read_page(PAGE), read_page(PAGE + "<i>" * (MAX_TREE_DEPTH + 1))

    assert (small.method, large.method) == ("html5lib", "tags")
    assert large.blocks == small.blocks
    assert large.title == small.title


def test_a_page_of_nothing_but_boilerplate_says_that(read) -> None:
    assert read("a.htm", b"<nav>Only links here</nav>").text == "Only links here"


def test_a_layout_of_tables_is_read_as_the_text_it_lays_out(read) -> None:
    page = "<table><tr><td><table><tr><td>Menu</table><td><h1>Story</h1><p>Once.</p><p>Twice.</p></table>"

    reading = read("old.html", page.encode())

    assert reading.where("Once.\nTwice.") == "heading Story › paragraphs 2–4"
    assert reading.of_kind("table") == ["Menu"]


def test_a_table_with_another_one_in_it_keeps_its_own_rows(read) -> None:
    inner = "<table><tr><td>Mon<td>9<tr><td>Tue<td>10</table>"
    rows = "<tr><th>Mill<th>Keeper<tr><td>Upper<td>Ann<tr><td>Hours<td>" + inner + "<tr><td>Lower<td>Ben"

    reading = read("mills.html", f"<table>{rows}</table>".encode())

    assert reading.text.split("\n") == [
        "Mill | Keeper",
        "Upper | Ann",
        "Hours",
        "Mon | 9",
        "Tue | 10",
        "Lower | Ben",
    ]


def test_the_encoding_that_a_page_declares_is_used(read) -> None:
    page = "<html><head><meta charset=shift_jis><title>日本</title></head><body>日本語のページ".encode("shift_jis")

    reading = read("ja.html", page)

    assert reading.text == "日本語のページ"
    assert reading.facts.metadata["encoding"] == "cp932"


def test_utf_16_without_a_mark_does_not_show_its_tags(read) -> None:
    reading = read("wide.html", "<p>Wide <b>text</b></p>".encode("utf-16-le"))

    assert reading.text == "Wide text"


def test_xhtml_with_a_declaration_is_a_page(read) -> None:
    page = b"<?xml version='1.0' encoding='iso-8859-1'?><html xmlns='http://www.w3.org/1999/xhtml'><body><p>Gr\xfc\xdfe</p>"

    assert read("a.xhtml", page).text == "Grüße"


@pytest.mark.parametrize("page", [b"", b"<html></html>", b"<script>var a</script>", b"<!-- nothing -->"])
def test_a_page_without_text_is_empty(read, page: bytes) -> None:
    reading = read("empty.html", page)

    assert reading.segments == ()
    assert reading.reason is FileReason.EMPTY
    assert reading.note


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 100_000 + "needle",
        "<b><i>" * 3_000 + "needle" + "</b></i>" * 3_000,
        "<p>needle</p>" + "<a" * 200_000,
        "needle" + "<!--" * 40_000,
        "needle" + "&amp" * 300_000,
        "<table>" * 5_000 + "needle",
        "<p class='" + "x" * 300_000 + "'>needle",
        "needle " + "<p>word word word</p>\n" * 250_000,
    ],
    ids=["deep", "misnested", "half tags", "half comments", "entities", "tables", "attribute", "long"],
)
def test_hostile_pages_are_read_in_bounded_time(read, page: str) -> None:
    started = time.process_time()

    reading = read("hostile.html", page.encode())

    assert "needle" in reading.text
    assert time.process_time() - started < 60


def test_unclosed_paragraphs_are_not_depth() -> None:
    assert fits_a_tree("<p>one<li>two<br>" * 2_000)


def test_a_page_too_big_to_be_one_says_so(read) -> None:
    reading = read("dump.html", b"<p>" + b"x" * 20_000_000)

    assert reading.reason is FileReason.TOO_BIG
    assert "20 MB" in reading.note


def test_a_page_of_nothing_but_a_title_is_found_by_it(read) -> None:
    reading = read("app.html", b"<html><head><title>Tide tables</title></head><body><div id=app></div></body></html>")

    assert reading.reason is FileReason.OK
    assert reading.where("Tide tables") == "part title"


def test_an_element_of_thousands_of_attributes_is_read_without_a_tree(read) -> None:
    attributes = " ".join(f"a{number}='<{number}>'" for number in range(200_000))

    few = read("few.html", b"<p title='a' class=b id=c>needle</p>")
    many = read("many.html", f"<p>before</p><div {attributes}>needle</div>".encode())

    assert few.facts.metadata["extraction_method"] == "html5lib"
    assert many.facts.metadata["extraction_method"] == "tags"
    assert many.text == "before\nneedle"
