"""What this package adds to OpenMind. Nothing heavy is imported here: that is the extractor's business."""

from openmind.plugins.hookspecs import hookimpl
from openmind.plugins.registries import ExtractionTools, ExtractorRegistry
from openmind.ports.extractor import Extractor, ExtractorInfo

OPENMIND_HOOKS = 1

# Let the version grow when the same bytes give another text: files are then read again.
INFO = ExtractorInfo(name="bibtex", version=1, extensions=frozenset({".bib"}))


@hookimpl
def openmind_register_extractors(registry: ExtractorRegistry) -> None:
    registry.add(INFO, make)


def make(tools: ExtractionTools) -> Extractor:
    """Make the extractor; called in the process that reads files."""
    from openmind_bibtex.extractor import BibtexExtractor

    return BibtexExtractor()
