"""What this package adds to OpenMind. Nothing heavy is imported before a file of its kind is read."""

from functools import partial
from typing import TYPE_CHECKING

from openmind.plugins.hookspecs import hookimpl
from openmind.plugins.registries import ExtractionTools, ExtractorRegistry
from openmind.ports.extractor import Extractor, ExtractorInfo
from openmind.ports.ocr_engine import OcrEngine

if TYPE_CHECKING:
    from openmind.domain.config import ExtractionConfig

PLAIN = ExtractorInfo(
    name="text",
    version=3,
    extensions=frozenset({".txt", ".text", ".log", ".rst", ".org", ".adoc", ".asciidoc", ".tex", ".srt", ".vtt"}),
    isolated=False,
    effort=0,
)
MARKDOWN = ExtractorInfo(
    name="markdown",
    version=5,
    extensions=frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"}),
    isolated=False,
    effort=0,
)
CODE = ExtractorInfo(
    name="code",
    version=3,
    extensions=frozenset(
        """
        .bash .bat .c .cc .cfg .clj .conf .cpp .cs .css .cxx .dart .erl .ex .exs .f90 .go .gradle .groovy .h .hpp .hs
        .ini .java .jl .js .json .jsonl .jsx .kt .less .lua .m .mjs .ml .php .pl .proto .ps1 .py .pyi .r .rb .rs .scala
        .scss .sh .sql .svelte .swift .toml .ts .tsx .vb .vue .xml .yaml .yml .zig .zsh
        """.split()  # noqa: SIM905  an extension a line would hide the list
    ),
    isolated=False,
    effort=0,
    code=True,
)
TEXT_EXTENSIONS = PLAIN.extensions | MARKDOWN.extensions | CODE.extensions
"""What is read without isolation."""
ISOLATED = (
    ExtractorInfo(name="html", version=3, extensions=frozenset({".html", ".htm", ".xhtml"})),
    ExtractorInfo(
        name="docx",
        version=3,
        extensions=frozenset({".docx", ".docm", ".dotx"}),
        marks=(b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),  # any document in a container is routed on
    ),
    ExtractorInfo(name="csv", version=2, extensions=frozenset({".csv", ".tsv", ".tab"})),
    ExtractorInfo(name="notebook", version=3, extensions=frozenset({".ipynb"})),
    ExtractorInfo(name="mail", version=3, extensions=frozenset({".eml"})),
    ExtractorInfo(name="sheets", version=3, extensions=frozenset({".xlsx", ".xlsm", ".ods"})),
    ExtractorInfo(name="pptx", version=3, extensions=frozenset({".pptx", ".pptm", ".ppsx"})),
    ExtractorInfo(name="odt", version=3, extensions=frozenset({".odt"})),
    ExtractorInfo(name="epub", version=3, extensions=frozenset({".epub"})),
    ExtractorInfo(name="pdf", version=3, extensions=frozenset({".pdf"}), marks=(b"%PDF-",)),
    ExtractorInfo(
        name="image",
        version=3,
        extensions=frozenset(
            {".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif", ".avif", ".heic", ".heif"}
        ),
        effort=2,
        pictures=True,
        marks=(b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*", b"RIFF"),
    ),
)
"""Formats whose parsers can crash, hang or grow; each is named as in `routing.build`."""


@hookimpl
def openmind_register_extractors(registry: ExtractorRegistry) -> None:
    """Register the formats and the OCR engines."""
    registry.add(PLAIN, _plain)
    registry.add(MARKDOWN, _markdown)
    registry.add(CODE, _code)
    for info in ISOLATED:
        registry.add(info, partial(_routed, info.name))
    registry.add_ocr("rapidocr", _rapidocr)
    registry.add_ocr("ocrmypdf", _ocrmypdf)


def _plain(tools: ExtractionTools) -> Extractor:
    from openmind_extractors.plain import PlainExtractor

    return PlainExtractor()


def _markdown(tools: ExtractionTools) -> Extractor:
    from openmind_extractors.markdown import MarkdownExtractor

    return MarkdownExtractor()


def _code(tools: ExtractionTools) -> Extractor:
    from openmind_extractors.source_code import SourceCodeExtractor

    return SourceCodeExtractor()


def _routed(name: str, tools: ExtractionTools) -> Extractor:
    from openmind_extractors.routing import RoutedExtractor

    return RoutedExtractor(name, tools)


def _rapidocr(config: "ExtractionConfig") -> OcrEngine:
    from openmind_extractors.ocr.rapid import build_rapid

    return build_rapid(config)


def _ocrmypdf(config: "ExtractionConfig") -> OcrEngine:
    from openmind_extractors.ocr.ocrmypdf import build_ocrmypdf

    return build_ocrmypdf(config)
