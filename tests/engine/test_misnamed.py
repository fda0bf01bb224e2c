"""Documents that have the extension of text are found by what they hold."""

import zipfile

from openmind.domain.files import FileReason

WORD = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    "<w:p><w:r><w:t>The heliotrope stands in the garden.</w:t></w:r></w:p></w:body></w:document>"
)
TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
    "</Relationships>"
)


def test_a_document_and_an_archive_that_are_called_text_are_told_apart(world, memory) -> None:
    with zipfile.ZipFile(world.notes / "letter.txt", "w") as word:
        word.writestr("[Content_Types].xml", TYPES)
        word.writestr("_rels/.rels", RELATIONS)
        word.writestr("word/document.xml", WORD)
    with zipfile.ZipFile(world.notes / "pack.md", "w") as archive:
        archive.writestr("holiday.jpg", "x")
    world.write("picture.jpg", "The chrysanthemum stands on the balcony.")

    memory.index()

    assert [hit.file_name for hit in memory.search("heliotrope").hits] == ["letter.txt"]
    assert [hit.file_name for hit in memory.search("chrysanthemum").hits] == ["picture.jpg"]
    [refused] = memory.documents.list(reasons=frozenset({FileReason.UNSUPPORTED}))
    assert "this is an archive" in refused.error
    again = memory.index().run.tally
    assert (again.indexed, again.extracted, again.embedded) == (0, 0, 0)


def test_text_that_begins_with_the_words_that_other_files_begin_with_is_read(world, memory) -> None:
    world.write("gif.txt", "GIF89a is the marker of pictures that move, says the heliotrope.")
    world.write("pdf.md", "%PDF-1.7 is how documents begin, says the chrysanthemum.")
    (world.notes / "broken.txt").write_bytes(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj")

    memory.index()

    for word, name in (("heliotrope", "gif.txt"), ("chrysanthemum", "pdf.md")):
        assert [hit.file_name for hit in memory.search(word).hits][:1] == [name]
    [failed] = memory.documents.list(reasons=frozenset({FileReason.DAMAGED}))
    assert failed.path_bytes.endswith(b"broken.txt")
    again = memory.index().run.tally
    assert (again.indexed, again.extracted) == (0, 0)
