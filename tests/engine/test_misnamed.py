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
