"""Doctor: compares both stores with each other, looks at the home, and mends what it may."""

from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import field, frozen

from openmind.application.flushing import OWN_TABLE
from openmind.application.home_keeping import HomeKeeping
from openmind.application.indexing import IndexService
from openmind.application.jobs import JobService
from openmind.application.rebuilding import Rebuild
from openmind.application.recovery import Recovery, fingerprint_key
from openmind.domain.checkup import Checkup, Finding, Repair
from openmind.domain.errors import IndexingBusy, OpenMindError, StoreDamaged, StoreReadOnly
from openmind.domain.ids import FileId, Generation
from openmind.domain.index import IndexTable, TableState
from openmind.domain.models import ProviderHealth
from openmind.domain.plugins import PluginReports
from openmind.domain.upkeep import HomeCondition
from openmind.ports.storage import Storage, StorageHealth

LOW_DISK_BYTES = 500_000_000
LOW_DISK_SHARE = 0.5
"""Of the memory's own size: a change of the embedding model needs room for a second table."""
SHOWN = 5


@frozen(kw_only=True)
class TableComparison:
    """A table and what the catalog says of it."""

    table: IndexTable
    rows: int = 0
    lost_files: int = 0
    """Files of which passages are missing or doubled."""
    orphans: int = 0
    """Versions of files that nobody knows."""
    unreadable: str = ""


@frozen(kw_only=True)
class StoreComparison:
    """Both stores side by side; made while nobody writes."""

    tables: tuple[TableComparison, ...] = ()
    unknown_tables: tuple[str, ...] = ()
    begun: int = 0
    """Versions that were begun and never finished."""
    unpublished: int = 0
    """Files that should have passages and have none."""


@frozen(kw_only=True)
class Doctor:
    """Examines a memory, and repairs it."""

    storage: Storage
    jobs: JobService
    indexing: IndexService
    keeper: HomeKeeping
    provider_health: Callable[[], ProviderHealth]
    plugins: PluginReports
    home: Path
    version: str
    while_waiting: Callable[[], None] = field(default=lambda: None)

    def examine(self) -> Checkup:
        """Look at everything; changes nothing. The stores are compared only while nobody indexes."""
        health = self.storage.examine()
        condition = self.keeper.condition()
        try:
            with self.storage.index_lock():
                lock, compared = "free", self._compare()
        except IndexingBusy as busy:
            lock, compared = busy.message, None
        except StoreReadOnly:
            lock, compared = "cannot be taken: the home is read-only", self._compare()
        findings = (
            *self._of_home(condition, idle=compared is not None),
            *self._of_catalog(health),
            *(self._of_stores(compared) if compared is not None else ()),
            *self._of_jobs(),
            *self._of_plugins(),
            *self._of_provider(),
        )
        return Checkup(facts=tuple(self._facts(health, condition, lock, compared)), findings=findings)

    def repair(self) -> Repair:
        """Mend what can be mended without reading a file of the person. Done again, it does nothing.

        Raises:
            IndexingBusy: something is being indexed.
            StoreError: the memory cannot be written.
        """
        self.jobs.current()  # a job whose worker died is marked as failed
        with self.storage.index_lock():
            done = list(self._mend_stores())
            leftovers = self.keeper.drop_leftovers()
        closed = self.keeper.close_to_others()
        self.storage.catalog.tidy()
        if leftovers:
            done.append(f"Deleted {leftovers} temporary folders of processes that are gone.")
        if closed:
            done.append(f"Took away from others the right to look into {closed} entries of the home.")
        return Repair(done=tuple(done), left=self.examine().findings)

    # looking

    def _compare(self) -> StoreComparison:
        with self.storage.catalog.reading() as snapshot:
            tables = tuple(table for table in snapshot.tables() if table.state is not TableState.DEAD)
            known = {table.name for table in snapshot.tables()}
            begun = len(snapshot.intents())
            unpublished = sum(1 for _ in self._lost())
        there = self.storage.chunks.tables()
        unknown = tuple(name for name in there if name not in known and OWN_TABLE.fullmatch(name))
        compared = tuple(self._compare_table(table) for table in tables)
        return StoreComparison(tables=compared, unknown_tables=unknown, begun=begun, unpublished=unpublished)

    def _compare_table(self, table: IndexTable) -> TableComparison:
        try:
            counts = self.storage.chunks.counts(table.name)
        except StoreDamaged as damage:
            return TableComparison(table=table, unreadable=damage.message)
        rows = sum(counts.values())
        with self.storage.catalog.reading() as snapshot:
            garbage = {entry.generation for entry in snapshot.garbage(died_before=float("inf"), limit=10_000_000)}
            begun = {generation for _, generation in snapshot.intents()}
            filling = table.state is TableState.FILLING
            expected = snapshot.filled_generations(table.id) if filling else snapshot.live_generations()
            lost = sum(1 for generation, file_id, chunks in expected if counts.pop((generation, file_id), 0) != chunks)
            known: set[Generation] = set()
            if filling:  # what the run wrote to both tables, and did not note as filled: no harm
                known = {generation for generation, _, _ in snapshot.live_generations()}
        orphans = {generation for generation, _ in counts} - garbage - begun - known
        return TableComparison(table=table, rows=rows, lost_files=lost, orphans=len(orphans))

    def _lost(self) -> Iterator[FileId]:
        after: FileId | None = None
        while True:
            with self.storage.catalog.reading() as snapshot:
                page = snapshot.files_without_passages(after=after, limit=1_000)
            if not page:
                return
            after = page[-1].id
            yield from (record.id for record in page)

    def _facts(
        self, health: StorageHealth, condition: HomeCondition, lock: str, compared: StoreComparison | None
    ) -> Iterator[tuple[str, str]]:
        yield "version", self.version
        yield "home", str(self.home)
        yield from health.versions.items()
        with self.storage.catalog.reading() as snapshot:
            counts = snapshot.counts()
        yield "files", f"{counts.files:,} known, {counts.indexed_files:,} searchable"
        yield "passages", f"{counts.chunks:,}"
        for found in compared.tables if compared else ():
            yield f"table {found.table.name}", f"{found.table.state.value}, {found.rows:,} rows"
        yield "size on disk", f"{condition.contents.size_bytes / 1e6:,.1f} MB"
        yield "free on disk", f"{condition.free_bytes / 1e6:,.1f} MB"
        yield "index lock", lock

    # finding

    def _of_home(self, condition: HomeCondition, *, idle: bool) -> Iterator[Finding]:
        if condition.open_to_others:
            yield Finding(
                code="home.open",
                message=f"Others may look into {_some(condition.open_to_others)}",
                repair="takes that right away",
            )
        if condition.leftovers and idle:
            yield Finding(
                code="home.leftovers",
                message=f"{len(condition.leftovers)} temporary folders of processes that are gone are left",
                repair="deletes them",
            )
        needed = max(LOW_DISK_BYTES, int(condition.contents.size_bytes * LOW_DISK_SHARE))
        if condition.free_bytes < needed:
            yield Finding(
                code="disk.low",
                message=f"Only {condition.free_bytes / 1e6:,.0f} MB are free on the disk of the home",
                hint="Free some space before the next index run.",
            )

    def _of_catalog(self, health: StorageHealth) -> Iterator[Finding]:
        for sentence in health.damage[:SHOWN]:
            yield Finding(
                code="catalog.damaged",
                message=sentence,
                hint="Restore the home from a backup, or move openmind.sqlite away and index again.",
            )
        if health.quarantined:
            yield Finding(
                code="table.quarantined",
                message=f"Passages that could not be read were moved aside: {_some(health.quarantined)}",
                repair="deletes them; what they held was made again",
            )

    def _of_stores(self, compared: StoreComparison) -> Iterator[Finding]:
        for found in compared.tables:
            name = found.table.name
            if found.unreadable:
                yield Finding(
                    code="table.unreadable",
                    message=found.unreadable,
                    repair="moves it aside and makes it again from the kept text",
                )
            if found.lost_files:
                yield Finding(
                    code="table.lost",
                    message=f"Passages of {found.lost_files:,} files are missing or doubled in the table {name}",
                    repair="makes them again from the kept text",
                )
            if found.orphans:
                yield Finding(
                    code="table.orphans",
                    message=f"The table {name} holds {found.orphans:,} versions of files that nobody knows",
                    repair="deletes them",
                )
        if compared.unknown_tables:
            yield Finding(
                code="table.unknown",
                message=f"The catalog does not know the tables {_some(compared.unknown_tables)}",
                repair="deletes them",
            )
        if compared.begun:
            yield Finding(
                code="generations.begun",
                message=f"{compared.begun:,} versions of files were begun and never finished",
                repair="gives them up",
            )
        if compared.unpublished:
            yield Finding(
                code="files.unpublished",
                message=f"{compared.unpublished:,} files have no passages although they were read",
                repair="makes them again from the kept text",
                hint="Where no text is kept, the next `openmind index` reads the file again.",
            )

    def _of_jobs(self) -> Iterator[Finding]:
        job = self.jobs.current()
        if job is not None and job.is_stuck(self.jobs.now()):
            yield Finding(
                code="job.stuck",
                message=f"The background job {job.id} has given no sign of life for more than a minute",
                hint="`openmind index stop` ends it; its log in the folder logs says where it hangs.",
            )

    def _of_plugins(self) -> Iterator[Finding]:
        for report in self.plugins.broken:
            yield Finding(
                code="plugin.broken",
                message=f"The plugin {report.name} of the package {report.distribution} is broken: {report.error}",
                hint="Update that package or uninstall it.",
            )

    def _of_provider(self) -> Iterator[Finding]:
        try:
            health = self.provider_health()
        except OpenMindError as error:
            yield Finding(code="provider.unreachable", message=error.message, hint=error.hint)
            return
        if not health.reachable:
            yield Finding(
                code="provider.unreachable",
                message=health.message,
                hint="Start it, or choose another: `openmind models update`.",
            )

    # mending

    def _mend_stores(self) -> Iterator[str]:
        before = self._compare()
        with self.storage.catalog.writing() as session:
            for found in before.tables:
                session.set_setting(fingerprint_key(found.table), None)  # so that every row is counted
        recovery = Recovery(catalog=self.storage.catalog, chunks=self.storage.chunks)
        yield from recovery.recover()
        if before.begun:
            yield f"Gave up {before.begun:,} versions of files that were never finished."
        for found in before.tables:
            if found.orphans:
                yield f"Deleted {found.orphans:,} versions of files that nobody knew."
        for name in before.unknown_tables:
            self.storage.chunks.drop(name)
            yield f"Deleted the table {name}, which the catalog did not know."
        rebuilt = self._rebuild()
        if rebuilt:
            yield f"Made the passages of {rebuilt:,} files again from the kept text."
        recovery.sweep()
        if self.storage.examine().quarantined:
            self.storage.chunks.discard_quarantined()
            yield "Deleted what had been moved aside because it could not be read."
        with self.storage.catalog.writing() as session:
            session.drop_unused_texts()
        recovery.seal()

    def _rebuild(self) -> int:
        if next(self._lost(), None) is None:
            return 0
        choice = self.indexing.choice()
        rebuild = Rebuild(
            storage=self.storage,
            preparer=self.indexing.preparer,
            now=self.indexing.now,
            while_waiting=self.while_waiting,
        )
        return rebuild.carry_out(choice.targets(choice.outlook()))


def _some(names: tuple[str, ...]) -> str:
    """`a, b and 3 more`."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
