"""Which extractor reads which kind of file."""

from collections.abc import Iterable, Mapping

from attrs import evolve, frozen

from openmind.domain.config import ExtractionConfig
from openmind.domain.sources import Source
from openmind.ports.extractor import ExtractorInfo

PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif"})


@frozen
class Formats:
    """The formats that can be read, by extension."""

    by_extension: Mapping[str, ExtractorInfo]
    ocr: bool = True
    """Whether text recognition is switched on at all."""
    picture_ocr: bool = True
    """The same for pictures."""
    marked: tuple[tuple[bytes, str], ...] = ()
    """How files begin that a reader without isolation must not get, and the name of the extractor that does."""
    installed: frozenset[str] = frozenset()
    """Names of all extractors there are, also of those that are switched off."""

    @classmethod
    def of(cls, infos: Iterable[ExtractorInfo], config: ExtractionConfig) -> "Formats":
        """Gather formats; who has an extension is said by `claims`."""
        known = tuple(infos)
        table: dict[str, ExtractorInfo] = {}
        for extension, (info, *_) in claims(known).items():
            if info.pictures and config.images.model:
                info = evolve(info, described_by=config.images.model)
            if config.images.enabled or not (info.pictures or extension in PICTURES):
                table[extension] = info
        return cls(
            table,
            ocr=config.ocr.enabled,
            picture_ocr=config.images.ocr_enabled,
            marked=tuple(
                (mark, info.name) for info in known for mark in info.marks if config.images.enabled or not info.pictures
            ),
            installed=frozenset(info.name for info in known),
        )

    def reader(self, extension: str, *, code: bool = False) -> ExtractorInfo | None:
        """Return the extractor for an extension, or None when files like that are left out.

        Args:
            extension: lower case, with the dot.
            code: whether the source was added with its source code.
        """
        info = self.by_extension.get(extension)
        return None if info is None or (info.code and not code) else info

    def reader_by_content(self, info: ExtractorInfo, start: bytes) -> str:
        """Name the extractor that has to read a file, which is not always the one that its extension promises.

        Args:
            info: the one that it promises.
            start: the first bytes of the file, as many as the longest mark or more.
        """
        if info.isolated:
            return info.name  # it looks at the content itself
        return next((name for mark, name in self.marked if start.startswith(mark)), info.name)

    def is_switched_off(self, extension: str) -> bool:
        """Whether files with an extension would be read, had the configuration not switched pictures off."""
        return extension in PICTURES and bool(self.installed) and extension not in self.by_extension

    def recognises(self, info: ExtractorInfo, source: Source) -> bool:
        """Whether OCR may be used on what an extractor reads in a source."""
        return source.ocr and self.ocr and (self.picture_ocr or not info.pictures)


def claims(infos: Iterable[ExtractorInfo]) -> dict[str, list[ExtractorInfo]]:
    """Who wants which extension: first the one that has it, then those that would.

    One that replaces another comes before it; else the order is that of `infos`.
    """
    table: dict[str, list[ExtractorInfo]] = {}
    for info in infos:
        for extension in sorted(info.extensions):
            table.setdefault(extension, []).append(info)
    for extension, rivals in table.items():
        if len(rivals) > 1:
            replaced = frozenset[str]().union(*(rival.replaces for rival in rivals))
            table[extension] = sorted(rivals, key=lambda rival: rival.name in replaced)
    return table
