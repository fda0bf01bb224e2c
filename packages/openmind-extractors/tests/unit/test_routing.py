"""Content says what a file is; its name is a hint."""

from types import SimpleNamespace

import pytest
from openmind.application.indexing.formats import Formats
from openmind.domain.config import ExtractionConfig, ImagesConfig
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.plugins.registries import ExtractorRegistry
from openmind.ports.extractor import Blob
from openmind_extractors.routing import route

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(32)
NAMES = (
    "a.txt",
    "a.md",
    "a.py",
    "README",
    "a.pdf",
    "a.docx",
    "a.png",
    "a.xlsx",
    "a.epub",
    "a.odt",
    "a.pptx",
    "a.csv",
    "a.html",
)


@pytest.fixture(scope="module")
def formats(registry: ExtractorRegistry) -> Formats:
    return Formats.of([entry.value.info for entry in registry.entries.values()], ExtractionConfig())


@pytest.fixture(scope="module")
def contents(make: SimpleNamespace) -> dict[str, bytes]:
    return {
        "pdf": make.pdf(["The takin lives in Bhutan."]),
        "docx": make.word(make.paragraph("The takin lives in Bhutan.")),
        "sheets": make.pack({"xl/workbook.xml": b"<workbook/>"}),
        "pptx": make.pack({"ppt/presentation.xml": b"<p/>"}),
        "epub": make.pack({"mimetype": b"application/epub+zip"}),
        "odt": make.pack({"mimetype": b"application/vnd.oasis.opendocument.text"}),
        "image": PNG,
    }


def routed(formats: Formats, name: str, data: bytes) -> str:
    """Name what reads a file, as indexing decides it."""
    extension = ".txt" if name == "README" else name[name.rindex(".") :]
    info = formats.reader(extension, code=True)
    assert info is not None
    reader = formats.reader_by_content(info, data)
    is_isolated = info.isolated or reader != info.name
    return route(reader, Blob(name=name, data=data)) if is_isolated else reader


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_read_as_what_it_is_under_any_name(formats, contents, name: str) -> None:
    assert {kind: routed(formats, name, data) for kind, data in contents.items()} == {kind: kind for kind in contents}


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.png", "a.jpg", "a.gif", "a.tiff", "a.epub", "a.odt", "a.pptx"])
def test_text_is_read_as_text_under_the_name_of_a_document_or_a_picture(formats, name: str) -> None:
    assert routed(formats, name, "The takin lives in Bhután, 不丹.\n".encode()) == "text"


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {"a.txt", "a.md", "a.py", "README"}])
def test_a_page_is_read_as_a_page_save_where_text_was_promised(formats, name: str) -> None:
    assert routed(formats, name, b"<!DOCTYPE html><p>The takin") == "html"
    assert routed(formats, "a.txt", b"<!DOCTYPE html><p>The takin") == "text"


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.py", "a.pdf", "a.png", "a.csv"])
@pytest.mark.parametrize(
    ("data", "reason", "told"),
    [
        (OLE + bytes(512), FileReason.ENCRYPTED, "password"),
        (OLE + "WordDocument".encode("utf-16-le"), FileReason.UNSUPPORTED, "old Office document"),
    ],
)
def test_an_old_or_locked_office_document_is_named_under_any_name(
    formats, name: str, data: bytes, reason: FileReason, told: str
) -> None:
    with pytest.raises(ExtractionFailed, match=told) as caught:
        routed(formats, name, data)

    assert caught.value.reason is reason


def test_an_archive_that_is_called_text_is_named(formats, make: SimpleNamespace) -> None:
    with pytest.raises(ExtractionFailed, match="name says text, but this is an archive") as caught:
        routed(formats, "a.txt", make.pack({"holiday.jpg": b"x"}))

    assert caught.value.reason is FileReason.UNSUPPORTED


@pytest.mark.parametrize("data", [b"\x93\0\x01\xff" * 40, bytes(range(128, 256)) * 4])
def test_bytes_that_are_no_text_stay_a_damaged_picture(formats, data: bytes) -> None:
    assert routed(formats, "a.png", data) == "image"


def test_pictures_that_are_switched_off_are_not_read_under_the_name_of_text_either(registry) -> None:
    config = ExtractionConfig(images=ImagesConfig(enabled=False))
    formats = Formats.of([entry.value.info for entry in registry.entries.values()], config)
    info = formats.reader(".txt")

    assert info is not None
    assert formats.reader_by_content(info, PNG) == "text"
