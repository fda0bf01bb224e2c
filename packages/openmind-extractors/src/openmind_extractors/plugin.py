"""What this package adds to OpenMind. Nothing heavy is imported before a file of its kind is read."""

from openmind.plugins.hookspecs import hookimpl
from openmind.plugins.registries import ExtractionTools, ExtractorRegistry
from openmind.ports.extractor import Extractor, ExtractorInfo

PLAIN = ExtractorInfo(
    name="text",
    version=1,
    extensions=frozenset({".txt", ".text", ".log", ".rst", ".org", ".adoc", ".asciidoc", ".tex", ".srt", ".vtt"}),
    isolated=False,
    effort=0,
)
MARKDOWN = ExtractorInfo(
    name="markdown",
    version=1,
    extensions=frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"}),
    isolated=False,
    effort=0,
)


@hookimpl
def openmind_register_extractors(registry: ExtractorRegistry) -> None:
    """Register the formats and the OCR engines."""
    registry.add(PLAIN, _plain)
    registry.add(MARKDOWN, _markdown)


def _plain(tools: ExtractionTools) -> Extractor:
    from openmind_extractors.plain import PlainExtractor

    return PlainExtractor()


def _markdown(tools: ExtractionTools) -> Extractor:
    from openmind_extractors.markdown import MarkdownExtractor

    return MarkdownExtractor()
