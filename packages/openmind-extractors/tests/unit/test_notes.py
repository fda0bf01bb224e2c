"""Notes, and their marks, in every format of running text."""

from types import SimpleNamespace

import pytest
from openmind_extractors.html import MAX_TREE_DEPTH, read_page

ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
SPRING = (
    "<html xmlns:epub='http://www.idpf.org/2007/ops'><body><h1>Spring</h1>"
    "<p>The abbot came in 1148<a epub:type='noteref' href='#n1'>1</a> with goats.</p>"
    "<aside epub:type='footnote' id='n1'><p>Seventeen goats.</p></aside>"
    "<h2>Ice</h2><p>It breaks<a href='#n2' role='doc-noteref'>[2]</a>.</p>"
    "<section epub:type='footnotes'><hr/><aside epub:type='footnote' id='n2'><p>In March.</p></aside></section>"
    "<footer>The miller told it.</footer><nav><a href='#n1'>Contents</a></nav></body></html>"
)


def book(make: SimpleNamespace, chapter: str) -> bytes:
    item = "<item id='a' href='a.xhtml' media-type='application/xhtml+xml'/>"
    package = f"<package><manifest>{item}</manifest><spine><itemref idref='a'/></spine></package>"
    container = "<container><rootfile full-path='book.opf'/></container>"
    return make.pack({"META-INF/container.xml": container, "book.opf": package, "a.xhtml": chapter})


def test_the_notes_of_a_book_are_kept_and_their_marks_glued_to_no_number(read, make: SimpleNamespace) -> None:
    reading = read("river.epub", book(make, SPRING))

    assert "The abbot came in 1148 with goats." in reading.text
    assert "It breaks." in reading.text
    assert reading.where("Seventeen goats.") == "chapter Spring › heading Spring › paragraphs 1–3"
    assert reading.where("In March.") == "chapter Spring › part footnotes › paragraphs 1–1"
    assert "The miller told it." in reading.text
    assert "Contents" not in reading.text


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("in 1148<sup><a href='#fn1'>1</a></sup> he", "in 1148 he"),
        ("in 1148<a href='notes.html#fn1'><sup>[12]</sup></a> he", "in 1148 he"),
        ("in 1148<sup class='reference'><a href='#cite'><span>[</span>a<span>]</span></a></sup> he", "in 1148 he"),
        ("10<sup>6</sup> birds on 5 m<sup>2</sup>", "10^6 birds on 5 m2"),
        ("see <a href='#map'>1148</a> and <sup><a href='#map'>the map of the river</a></sup>", None),
        ("It ends.<a href='#ref' role='doc-backlink'>↩︎</a>", "It ends."),
        ("<a role='doc-backlink' href='#ref'>1</a> It ends.", "1 It ends."),
    ],
)
def test_the_mark_of_a_note_is_no_part_of_the_line(line: str, shown: str | None) -> None:
    shown = shown or "see 1148 and the map of the river"

    small, large = read_page(f"<p>{line}</p>"), read_page(f"<p>{line}</p>" + "<i>" * (MAX_TREE_DEPTH + 1))

    assert [block.text for block in small.blocks] == [shown]
    assert large.blocks == small.blocks


def test_notes_gathered_at_the_end_of_a_page_stand_below_no_heading_of_the_text(read) -> None:
    page = (
        "<h1>Alder</h1><p>A claim.</p><h1>Birch</h1><p>More.</p>"
        "<section class='footnotes footnotes-end'><section><ol><li>On the alder.</li></ol></section></section>"
        "<p>The end.</p><aside class='has-footnotes'>Advertisement</aside>"
    )

    reading = read("trees.html", page.encode())

    assert reading.where("On the alder.") == "part footnotes › paragraphs 1–1"
    assert reading.where("The end.") == "heading Birch › paragraphs 3–5"
    assert "Advertisement" not in reading.text


def test_the_notes_of_a_word_document_stand_in_parts_of_their_own(read, make: SimpleNamespace) -> None:
    def notes(kind: str, text: str) -> str:
        return f"<w:{kind}s {make.W}><w:{kind} w:id='5' w:author='Ann'>{make.paragraph(text)}</w:{kind}></w:{kind}s>"

    def mark(kind: str) -> str:
        return f"<w:r><w:{kind}Reference w:id='5'/></w:r>"

    marks = mark("footnote") + mark("endnote") + mark("comment")
    body = (
        make.paragraph("Alder", style="Heading1")
        + f"<w:p><w:r><w:t>In 1148</w:t></w:r>{marks}<w:r><w:t xml:space='preserve'> he came.</w:t></w:r></w:p>"
        + make.paragraph("Birch", style="Heading1")
    )
    parts = {"footnotes": "A foot", "endnotes": "An end", "comments": "Really?"}

    reading = read("a.docx", make.word(body, **{name: notes(name[:-1], text) for name, text in parts.items()}))

    assert reading.facts.metadata["extraction_method"] == "mammoth"
    assert "In 1148 he came." in reading.text
    assert {name: reading.where(text) for name, text in parts.items()} == {
        "footnotes": "part footnotes › paragraphs 1–1",
        "endnotes": "part endnotes › paragraphs 1–1",
        "comments": "part comments › paragraphs 1–2",
    }
    assert "- A foot" not in reading.text


def test_a_note_of_an_opendocument_text_follows_its_paragraph_and_divides_it_not(read, make: SimpleNamespace) -> None:
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Seventeen goats.</text:p>"
        "<text:p>And a dog.</text:p></text:note-body></text:note>"
    )
    comment = "<office:annotation><dc:creator>Ann</dc:creator><text:p>Which abbot?</text:p></office:annotation>"
    body = (
        f"<text:h text:outline-level='1'>Spring</text:h><text:p>The abbot{comment} came in 1148{note} with "
        "goats.</text:p><text:h text:outline-level='1'>Summer</text:h><text:p>Hay.</text:p>"
    )
    content = f"<office:document-content {ODF}><office:text>{body}</office:text></office:document-content>"

    reading = read("a.odt", make.pack({"content.xml": content}))

    assert reading.segments[0].text.split("\n") == [
        "Spring",
        "The abbot came in 1148 with goats.",
        "Ann",
        "Which abbot?",
        "Seventeen goats.",
        "And a dog.",
    ]
    assert reading.where("And a dog.") == "heading Spring › paragraphs 1–6"
    assert reading.where("Hay.") == "heading Summer › paragraphs 7–8"


def test_a_raised_figure_on_a_slide_ends_no_number(read, make: SimpleNamespace) -> None:
    runs = "".join(
        f"<a:r><a:rPr baseline='{baseline}'/><a:t>{text}</a:t></a:r>"
        for baseline, text in ((0, "in 1148"), (30_000, "1"), (0, ", H"), (-25_000, "2"), (0, "O, 5 m"), (30_000, "2"))
    )
    slide = f"<p:sld xmlns:p='p' xmlns:a='a'><p:sp><a:p>{runs}</a:p></p:sp></p:sld>"

    reading = read("a.pptx", make.pack({"ppt/presentation.xml": "<p/>", "ppt/slides/slide1.xml": slide}))

    assert reading.text == "in 1148^1, H2O, 5 m2"
