"""Source code and configuration, for sources that were added with their code."""

from collections.abc import Iterator

from attrs import evolve, frozen
from openmind.domain.documents import DocumentFacts, Segment
from openmind.domain.paths import extension_of
from openmind.ports.extractor import Blob

from openmind_extractors.plain import read_text, text_segments


@frozen
class SourceCodeExtractor:
    """Reads code as it is written; nothing is parsed, so nothing can go wrong with it."""

    def extract(self, blob: Blob) -> Iterator[Segment | DocumentFacts]:
        """Yield the facts first, then the code."""
        file = read_text(blob)
        yield file.facts(file_type="code", language=extension_of(blob.name).removeprefix("."))
        for segment in text_segments(file.text):
            yield evolve(segment, kind="code")
