from types import SimpleNamespace

import pytest
from openmind.plugins.registries import ExtractionTools, ExtractorRegistry
from openmind.ports.extractor import Extractor, ExtractorInfo
from openmind.testing.contracts.extractor import ExtractorContract, Sample

MAIL = b"Subject: Bridge\nContent-Type: text/plain\n\nThe bridge needs a new deck.\n"
NOTEBOOK = b'{"cells": [{"cell_type": "markdown", "source": ["# Fish\\n", "We count fish."]}]}'
NEEDLE = "The bridge needs a new deck"


def samples(make: SimpleNamespace) -> dict[str, Sample]:
    """One file of each format, with what must be found in it and what must not."""
    odf = "urn:oasis:names:tc:opendocument:xmlns"
    sheet = "xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'"
    related = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relations = "xmlns='http://schemas.openxmlformats.org/package/2006/relationships'"
    slide = f"<p:sld xmlns:p='urn:p' xmlns:a='urn:a'><a:p><a:t>{NEEDLE}</a:t></a:p></p:sld>"
    files: dict[str, tuple[str, bytes, tuple[str, ...]]] = {
        "text": ("note.txt", f"First.\n\n{NEEDLE}.\n".encode(), ()),
        "markdown": ("note.md", f"# Bridge\n\n{NEEDLE}.\n\n```\ncode\n```\n".encode(), ()),
        "code": ("tool.py", f"# {NEEDLE}\nprint(1)\n".encode(), ()),
        "html": ("page.html", f"<h1>Bridge</h1><p>{NEEDLE}</p><script>hidden()</script>".encode(), ("hidden",)),
        "csv": ("table.csv", f"what,when\n{NEEDLE},2024\n".encode(), ()),
        "docx": (
            "report.docx",
            make.word(make.paragraph("Bridge", style="Heading1") + make.paragraph(NEEDLE)),
            ("w:t",),
        ),
        "pdf": ("report.pdf", make.pdf([NEEDLE, "before the winter."], outline=[("Bridge", 0)]), ("endobj",)),
        "image": ("photo.png", make.encoded(make.picture_of("x", size=(200, 100)), "PNG"), ("IHDR",)),
        "notebook": ("fish.ipynb", NOTEBOOK.replace(b"We count fish.", NEEDLE.encode()), ("cell_type",)),
        "mail": ("mail.eml", MAIL, ("Content-Type",)),
        "sheets": (
            "table.xlsx",
            make.pack(
                {
                    "_rels/.rels": f"<Relationships {relations}><Relationship Id='r' Type='{related}/officeDocument' "
                    "Target='xl/workbook.xml'/></Relationships>",
                    "xl/workbook.xml": f"<workbook {sheet} xmlns:r='{related}'><sheets>"
                    "<sheet name='Bridges' sheetId='1' r:id='a'/></sheets></workbook>",
                    "xl/_rels/workbook.xml.rels": f"<Relationships {relations}><Relationship Id='a' "
                    f"Type='{related}/worksheet' Target='worksheets/sheet1.xml'/></Relationships>",
                    "xl/worksheets/sheet1.xml": f"<worksheet {sheet}><sheetData><row r='1'>"
                    f"<c r='A1' t='inlineStr'><is><t>{NEEDLE}</t></is></c></row></sheetData></worksheet>",
                }
            ),
            (),
        ),
        "pptx": ("talk.pptx", make.pack({"ppt/slides/slide1.xml": slide}), ()),
        "odt": (
            "report.odt",
            make.pack(
                {
                    "mimetype": "application/vnd.oasis.opendocument.text",
                    "content.xml": f"<o xmlns:text='{odf}:text:1.0'><text:p>{NEEDLE}</text:p></o>",
                }
            ),
            (),
        ),
        "epub": (
            "book.epub",
            make.pack(
                {
                    "mimetype": "application/epub+zip",
                    "b.opf": "<package><item id='a' href='a.html' media-type='text/html'/></package>",
                    "a.html": f"<h1>Bridge</h1><p>{NEEDLE}</p>",
                }
            ),
            (),
        ),
    }
    wanted = {"image": ("PNG image",)}
    return {
        kind: Sample(name=name, data=data, must_include=wanted.get(kind, (NEEDLE,)), must_not_include=unwanted)
        for kind, (name, data, unwanted) in files.items()
    }


KINDS = [
    *("text", "markdown", "code", "html", "csv", "docx", "pdf", "image"),
    *("notebook", "mail", "sheets", "pptx", "odt", "epub"),
]


def test_every_registered_format_is_held_to_the_contract(registry: ExtractorRegistry, make: SimpleNamespace) -> None:
    assert set(KINDS) == set(registry.entries) == set(samples(make))


class TestExtractors(ExtractorContract):
    @pytest.fixture(params=KINDS)
    def kind(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def info(self, registry: ExtractorRegistry, kind: str) -> ExtractorInfo:
        return registry.entries[kind].value.info

    @pytest.fixture
    def extractor(self, registry: ExtractorRegistry, kind: str) -> Extractor:
        return registry.entries[kind].value.factory(ExtractionTools())

    @pytest.fixture
    def sample(self, make: SimpleNamespace, kind: str) -> Sample:
        return samples(make)[kind]
