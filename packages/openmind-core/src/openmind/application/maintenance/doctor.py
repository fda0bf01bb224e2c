"""Doctor: compares both stores with each other, looks at the home, and mends what it may."""

from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
from attrs import frozen

from openmind.application.indexing.service import IndexService
from openmind.application.jobs.service import JobService
from openmind.application.maintenance import findings
from openmind.application.maintenance.store_comparison import StoreComparison, compare
from openmind.application.recovering.rebuilding import Rebuild
from openmind.application.recovering.recovery import Recovery
from openmind.application.recovering.suspicion import damage, seals_of
from openmind.application.recovering.sweeping import Sweeping
from openmind.domain.checkup import Checkup, Finding, Repair
from openmind.domain.errors import CatalogDamaged, ConfigError, IndexingBusy, StoreError, StoreReadOnly
from openmind.domain.jobs import JobState
from openmind.domain.models import ProviderHealth
from openmind.domain.plugins import PluginReports
from openmind.domain.upkeep import HomeCondition
from openmind.ports.home_keeping import HomeKeeping
from openmind.ports.storage import Storage, StorageHealth


@frozen(kw_only=True)
class Doctor:
    """Examines a memory, and repairs it."""

    storage: Storage
    jobs: JobService
    indexing: IndexService
    keeper: HomeKeeping
    provider_health: Callable[[], ProviderHealth]
    check_ocr: Callable[[], object]
    """Raises where the configuration names an OCR engine that nobody has."""
    plugins: PluginReports
    config_trouble: ConfigError | None
    """What is wrong with config.toml; the rest was made with the defaults then."""
    home: Path
    version: str

    def examine(self) -> Checkup:
        """Look at everything; changes nothing. The stores are compared only while nobody indexes."""
        health = self.storage.examine()
        condition = self.keeper.condition()
        try:
            return self._examine_all(health, condition)
        except CatalogDamaged as damage:
            told = health if health.damage else attrs.evolve(health, damage=(damage.message,))
            return self._examine_without_catalog(told, condition)

    def _examine_all(self, health: StorageHealth, condition: HomeCondition) -> Checkup:
        lock, compared = "free", None
        unwritable = unexamined = ""
        try:
            self.jobs.refuse_beside_job()
            with self.storage.index_lock():
                compared = compare(self.storage)
        except IndexingBusy as busy:
            lock = busy.message
            unexamined = f"The stores were not compared with each other: {busy.message}"
        except StoreReadOnly as error:
            lock, unwritable = "cannot be taken: the home is read-only", error.message
            compared = compare(self.storage)
        except StoreError as error:
            if not condition.blocked:
                raise
            lock = f"cannot be taken: {error.message}"
            compared = compare(self.storage)  # nobody else can take it either
        found = (
            *findings.of_writing(unwritable),
            *findings.of_home(condition, idle=compared is not None),
            *findings.of_catalog(health),
            *(findings.of_stores(compared, blocked=bool(condition.blocked)) if compared is not None else ()),
            *(
                self._of_files()
                if compared is not None and not any(table.unreadable for table in compared.tables)
                else ()
            ),
            *self._of_jobs(),
            *self._of_surroundings(),
        )
        facts = (*self._facts_of_home(health, condition), *self._facts_of_memory(compared), ("index lock", lock))
        job = self.jobs.current()
        rests = bool(unexamined) and job is not None and job.state is JobState.PAUSED
        return Checkup(facts=facts, findings=found, unexamined=unexamined, rests=rests)

    def _examine_without_catalog(self, health: StorageHealth, condition: HomeCondition) -> Checkup:
        """Say what is wrong all the same: nothing else knows which passages there should be."""
        found = (
            *findings.of_home(condition, idle=False),
            *findings.of_catalog(health),
            *self._of_surroundings(),
        )
        unexamined = "The stores were not compared with each other: the catalog cannot be read"
        return Checkup(facts=tuple(self._facts_of_home(health, condition)), findings=found, unexamined=unexamined)

    def _of_jobs(self) -> Iterator[Finding]:
        job = self.jobs.current()
        words = self.jobs.last_words(job)
        return findings.of_jobs(job, self.jobs.last_run(), self.jobs.now(), words=words)

    def _of_surroundings(self) -> Iterator[Finding]:
        yield from findings.of_plugins(self.plugins)
        if self.config_trouble is not None:
            yield findings.of_config(self.config_trouble)
            return  # what follows would be said of the defaults
        yield from findings.of_provider(self.provider_health)
        yield from findings.of_ocr(self.check_ocr)

    def _of_files(self) -> Iterator[Finding]:
        with self.storage.catalog.reading() as snapshot:
            noted = seals_of(snapshot)
        told = damage(noted, self.storage.chunks)
        if told:
            yield Finding(code="index.damaged", message=told, repair="makes what is damaged anew")

    def repair(self) -> Repair:
        """Mend what can be mended without reading a file of the person. Done again, it does nothing.

        Raises:
            ConfigError: config.toml is wrong; nobody knows what to make passages with.
            IndexingBusy: something is being indexed.
            StoreError: the memory cannot be written.
        """
        if self.config_trouble is not None:
            raise self.config_trouble
        try:
            self.jobs.refuse_beside_job()
            return self._mend()
        except CatalogDamaged:
            return Repair(left=self.examine().findings)
        except StoreError:
            if not self.keeper.condition().blocked:
                raise
            return Repair(left=self.examine().findings)

    def _mend(self) -> Repair:
        blocked = self.keeper.condition().blocked  # what stands there is not OpenMind's: only its owner moves it
        with self.storage.index_lock():
            done = [] if blocked else list(self._mend_stores())
            leftovers = self.keeper.drop_leftovers()
        closed = self.keeper.close_to_others()
        self.storage.catalog.tidy()
        if leftovers:
            done.append(f"Deleted {leftovers} temporary folders of processes that are gone.")
        if closed:
            done.append(f"Took away from others the right to look into {closed} entries of the home.")
        return Repair(done=tuple(done), left=self.examine().findings)

    def _facts_of_home(self, health: StorageHealth, condition: HomeCondition) -> Iterator[tuple[str, str]]:
        yield "version", self.version
        yield "home", str(self.home)
        yield from health.versions.items()
        yield "size on disk", _size(condition.contents.size_bytes)
        yield "free on disk", _size(condition.free_bytes)

    def _facts_of_memory(self, compared: StoreComparison | None) -> Iterator[tuple[str, str]]:
        with self.storage.catalog.reading() as snapshot:
            counts = snapshot.counts()
        yield "files", f"{counts.files:,} known, {counts.indexed_files:,} searchable"
        yield "passages", f"{counts.chunks:,}"
        for found in compared.tables if compared else ():
            old = f" and {found.leftovers:,} of former versions, until they are swept out" if found.leftovers else ""
            rows = f"{found.table.state.value}, {found.rows - found.leftovers:,} rows{old}"
            yield f"table {found.table.name}", rows

    # mending

    def _mend_stores(self) -> Iterator[str]:
        before = compare(self.storage)
        recovery = Recovery(catalog=self.storage.catalog, chunks=self.storage.chunks)
        yield from recovery.recover(closely=True)
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
        sweeping = Sweeping(catalog=self.storage.catalog, chunks=self.storage.chunks)
        sweeping.sweep()
        if self.storage.examine().quarantined:
            self.storage.chunks.discard_quarantined()
            yield "Deleted what had been moved aside because it could not be read."
        with self.storage.catalog.writing() as session:
            session.drop_unused_texts()
        sweeping.clean()
        sweeping.erase()
        sweeping.seal()

    def _rebuild(self) -> int:
        with self.storage.catalog.reading() as snapshot:
            if not snapshot.files_without_passages(after=None, limit=1):
                return 0
        choice = self.indexing.means.choice()
        rebuild = Rebuild(
            storage=self.storage,
            preparer=self.indexing.means.preparer,
            now=self.indexing.means.now,
        )
        return rebuild.carry_out(choice.targets(choice.outlook()))


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e9:,.1f} GB" if size_bytes >= 1e9 else f"{size_bytes / 1e6:,.1f} MB"
