"""Which extractor reads which kind of file."""

from collections.abc import Iterable, Mapping

from attrs import evolve, frozen

from openmind.domain.config import ExtractionConfig
from openmind.ports.extractor import ExtractorInfo

PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif"})


@frozen
class Formats:
    """The formats that can be read, by extension."""

    by_extension: Mapping[str, ExtractorInfo]

    @classmethod
    def of(cls, infos: Iterable[ExtractorInfo], config: ExtractionConfig) -> "Formats":
        """Gather formats; where two extractors claim an extension, the first one has it."""
        table: dict[str, ExtractorInfo] = {}
        for info in infos:
            if info.pictures and config.images.model:
                info = evolve(info, described_by=config.images.model)
            for extension in sorted(info.extensions):
                if config.images.enabled or not (info.pictures or extension in PICTURES):
                    table.setdefault(extension, info)
        return cls(table)

    def reader(self, extension: str, *, code: bool = False) -> ExtractorInfo | None:
        """Return the extractor for an extension, or None when files like that are left out.

        Args:
            extension: lower case, with the dot.
            code: whether the source was added with its source code.
        """
        info = self.by_extension.get(extension)
        return None if info is None or (info.code and not code) else info
