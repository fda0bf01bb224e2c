"""What the tests of every format share: reading bytes through the registered extractor."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import frozen
from openmind.domain.config import ExtractionConfig
from openmind.domain.documents import DocumentFacts, Segment
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.paths import extension_of
from openmind.plugins.registries import ExtractionTools, ExtractorRegistry
from openmind.ports.extractor import Blob
from openmind.ports.ocr_engine import OcrEngine
from openmind_extractors import plugin


@frozen
class Reading:
    """Everything that came of one file."""

    segments: tuple[Segment, ...]
    facts: DocumentFacts
    failure: ExtractionFailed | None

    @property
    def reason(self) -> FileReason:
        return self.failure.reason if self.failure else self.facts.reason

    @property
    def note(self) -> str:
        return self.failure.message if self.failure else self.facts.note

    @property
    def text(self) -> str:
        return "\n".join(segment.text for segment in self.segments)

    def where(self, needle: str) -> str:
        """Tell the place of the first segment that holds the words: `page 2 › heading Methods`."""
        segment = next(segment for segment in self.segments if needle in segment.text)
        return " › ".join(
            f"{place.kind} {place.label or place.start}" + (f"–{place.end}" if place.end else "")
            for place in segment.locator
        )

    def of_kind(self, kind: str) -> list[str]:
        return [segment.text for segment in self.segments if segment.kind == kind]


Read = Callable[..., Reading]


@pytest.fixture(scope="session")
def registry() -> ExtractorRegistry:
    registry = ExtractorRegistry()
    registry.distribution = "openmind-extractors"
    plugin.openmind_register_extractors(registry)
    return registry


@pytest.fixture(scope="session")
def read(registry: ExtractorRegistry) -> Read:
    """Read bytes, or a path, with the extractor that is registered for the name's extension."""

    def read(
        name: str,
        data: bytes | Path,
        *,
        ocr: Callable[[], OcrEngine] | None = None,
        config: ExtractionConfig | None = None,
    ) -> Reading:
        extension = extension_of(name)
        entry = next(e.value for e in registry.entries.values() if extension in e.value.info.extensions)
        tools = ExtractionTools(config=config or ExtractionConfig(), ocr=ocr)
        blob = Blob(name=name, data=data) if isinstance(data, bytes) else Blob(name=name, path=data)
        return collect(entry.factory(tools).extract(blob))

    return read


def collect(pieces: Iterator[Segment | DocumentFacts]) -> Reading:
    segments: list[Segment] = []
    facts = DocumentFacts()
    try:
        for piece in pieces:
            if isinstance(piece, Segment):
                segments.append(piece)
            else:
                facts = piece
    except ExtractionFailed as failure:
        return Reading(tuple(segments), facts, failure)
    return Reading(tuple(segments), facts, None)
