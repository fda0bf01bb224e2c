"""Coverage: a sweep over the sources that looks at metadata only, and opens nothing."""

from collections import Counter
from collections.abc import Iterator
from functools import partial

from attrs import define, evolve, field, frozen

from openmind.application.indexing.formats import Formats
from openmind.domain.coverage import Amount, SourceCoverage
from openmind.domain.files import FileReason, FileRecord, FileStatus
from openmind.domain.paths import displayable, extension_of, is_within, name_of
from openmind.domain.sources import Source
from openmind.domain.unread import UnreadFile, hint_for, kind_of, most_frequent
from openmind.ports.catalog import Catalog
from openmind.ports.file_tree import FileTree, FoundFile, NoFile, Obstacle

MOST_OBSTACLES = 100


@frozen(kw_only=True)
class CoverageService:
    """Says how much of the sources can be found."""

    catalog: Catalog
    tree: FileTree
    formats: Formats

    def sweep(self) -> Iterator[SourceCoverage]:
        """Look at every source, one after the other; a disabled one is only named."""
        with self.catalog.reading() as snapshot:
            sources = snapshot.sources()
        for source in sources:
            if source.enabled:
                yield self._look(source)
            else:
                yield SourceCoverage(source_id=source.id, path=source.path, enabled=False)

    def unread(self) -> Iterator[UnreadFile]:
        """Name the files of kinds that nothing reads, and what is no file, source by source, by path."""
        with self.catalog.reading() as snapshot:
            sources = [source for source in snapshot.sources(enabled_only=True) if self.tree.root(source).present]
        for source in sources:
            for found in self.tree.scan(source, partial(self._is_unread, source)):
                if isinstance(found, Obstacle):
                    continue  # it is no file that could be named
                extension = extension_of(name_of(found.path_bytes))
                if isinstance(found, NoFile):
                    stat, kind, hint = None, found.kind, hint_for(found.kind)
                else:
                    stat, kind, hint = found.stat, kind_of(extension), self._hint(extension)
                yield UnreadFile(
                    source_id=source.id,
                    path_bytes=found.path_bytes,
                    stat=stat,
                    extension=extension,
                    kind=kind,
                    hint=hint,
                )

    def _is_unread(self, source: Source, extension: str) -> bool:
        return self.formats.reader(extension, code=source.code) is None

    def _hint(self, extension: str) -> str:
        if self.formats.reader(extension, code=True) is not None:
            return "`openmind source set ID --code` reads source code, too."
        if self.formats.is_switched_off(extension):
            return "`openmind config set extraction.images.enabled true` has pictures read."
        return hint_for(extension)

    def _look(self, source: Source) -> SourceCoverage:
        looked = _Looked(source=source, formats=self.formats)
        present = self.tree.root(source).present
        found_files = self.tree.scan(source, lambda _: True) if present else iter(())
        with self.catalog.reading() as snapshot:
            known_files = snapshot.known_files(source.id)
            record = next(known_files, None)
            for found in found_files:
                while record is not None and record.path_bytes < found.path_bytes:
                    looked.miss(record)
                    record = next(known_files, None)
                if isinstance(found, Obstacle):
                    looked.meet(found)
                elif isinstance(found, NoFile):
                    looked.pass_by(found)
                elif record is not None and record.path_bytes == found.path_bytes:
                    looked.see(found, record)
                    record = next(known_files, None)
                else:
                    looked.see(found, None)
            while record is not None:
                looked.miss(record)
                record = next(known_files, None)
        return evolve(looked.coverage, present=present, unread_kinds=most_frequent(looked.unread))


@define
class _Looked:
    """What was seen of a source so far; both streams ascend by path."""

    source: Source
    formats: Formats
    coverage: SourceCoverage = field(init=False)
    unread: Counter[str] = field(factory=Counter, init=False)
    _blocked: bytes | None = field(default=None, init=False)

    @coverage.default
    def _empty(self) -> SourceCoverage:
        return SourceCoverage(source_id=self.source.id, path=self.source.path)

    def see(self, found: FoundFile, known: FileRecord | None) -> None:
        """Take in a file that is there."""
        seen, size = self.coverage, found.stat.size
        extension = extension_of(name_of(found.path_bytes))
        if self.formats.reader(extension, code=self.source.code) is None:
            self.unread[kind_of(extension)] += 1
            self._add_unreadable(FileReason.UNSUPPORTED, size)
        elif known is None:
            self.coverage = evolve(seen, new=seen.new.plus(size))
        elif not found.stat.looks_like(known.stat):
            self.coverage = evolve(seen, stale=seen.stale.plus(size))
        elif known.live_generation is not None and known.status is FileStatus.INDEXED:
            partly = seen.in_part + (known.reason is FileReason.PARTIAL)
            self.coverage = evolve(seen, searchable=seen.searchable.plus(size), in_part=partly)
        elif known.status is FileStatus.INDEXED:
            self.coverage = evolve(seen, new=seen.new.plus(size))  # its passages were lost
        else:
            self._add_unreadable(known.reason, size)

    def pass_by(self, found: NoFile) -> None:
        """Take in what is no file, and so takes no room."""
        self.unread[found.kind] += 1
        self._add_unreadable(FileReason.UNSUPPORTED, 0)

    def miss(self, known: FileRecord) -> None:
        """Take in a file that is not there, or cannot be looked at."""
        if self._blocked is not None and is_within(known.path_bytes, self._blocked):
            self._add_unreadable(FileReason.DENIED, known.stat.size)
        else:
            self.coverage = evolve(self.coverage, gone=self.coverage.gone.plus(known.stat.size))

    def meet(self, obstacle: Obstacle) -> None:
        """Take in what was in the way."""
        self._blocked = obstacle.path_bytes
        if len(self.coverage.obstacles) < MOST_OBSTACLES:
            told = f"{displayable(obstacle.path_bytes)}: {obstacle.message}"
            self.coverage = evolve(self.coverage, obstacles=(*self.coverage.obstacles, told))

    def _add_unreadable(self, reason: FileReason, size: int) -> None:
        amounts = dict(self.coverage.unreadable)
        amounts[reason.value] = amounts.get(reason.value, Amount()).plus(size)
        self.coverage = evolve(self.coverage, unreadable=amounts)
