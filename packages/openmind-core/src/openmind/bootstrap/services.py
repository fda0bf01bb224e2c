"""The services of one memory, each imported and made when it is first used.

Most processes use two or three of them: all together are half of what a search from cold would import of OpenMind.
"""

from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from attrs import frozen

from openmind.domain.models import EmbedderIdentity
from openmind.domain.plugins import PluginReports
from openmind.ports.storage import Storage

if TYPE_CHECKING:
    from openmind.adapters.subprocess_launcher import SubprocessJobLauncher
    from openmind.application.asking.service import AskService
    from openmind.application.documents import DocumentService
    from openmind.application.indexing.service import IndexService
    from openmind.application.jobs.service import JobService
    from openmind.application.maintenance.service import MaintenanceService
    from openmind.application.models.service import ModelService
    from openmind.application.searching.service import SearchService
    from openmind.application.sources import SourceService
    from openmind.bootstrap.assembly import Assembly
    from openmind.bootstrap.preparation import Preparation
    from openmind.ports.file_tree import FileTree


def utc_now() -> datetime:
    """Return the current time, aware, UTC."""
    return datetime.now(UTC)


@frozen(kw_only=True, slots=False, eq=False)
class MemoryServices:
    """Implements `Services`. What is made twice by two threads at once is alike: services hold no state."""

    assembly: "Assembly"
    storage: Storage
    plugins: PluginReports
    version: str

    @cached_property
    def tree(self) -> "FileTree":
        from openmind.adapters.local_files import LocalFileTree

        return LocalFileTree(patterns=self.assembly.config.indexing.ignore)

    @cached_property
    def sources(self) -> "SourceService":
        from openmind.application.sources import SourceService

        return SourceService(
            storage=self.storage,
            home=self.assembly.home.folder,
            now=utc_now,
            refuse_while_indexing=self.jobs.refuse_while_indexing,
            sweep_elsewhere=self._launcher.launch_sweep,
            journal=self.assembly.journal(),
        )

    @cached_property
    def indexing(self) -> "IndexService":
        from openmind.adapters.processes import this_process
        from openmind.application.indexing.means import IndexMeans
        from openmind.application.indexing.service import IndexService
        from openmind.application.indexing.tables import TableChoice

        storage, config, providers = self.storage, self.assembly.config, self.assembly.providers
        embedders = providers.embedders()
        means = IndexMeans(
            storage=storage,
            tree=self.tree,
            formats=self._preparation.formats(),
            choice=lambda: TableChoice(catalog=storage.catalog, chunks=storage.chunks, embedders=embedders),
            preparer=self._preparation.preparer,
            reader=self._preparation.reader,
            now=utc_now,
            max_file_bytes=config.indexing.max_file_mb * 1024 * 1024,
            describer=providers.describer,
            max_new_tokens=config.extraction.images.max_new_tokens,
            let_go=self.models.let_go,
        )
        return IndexService(means=means, process=this_process, journal=self.assembly.journal())

    @cached_property
    def jobs(self) -> "JobService":
        from openmind.adapters.processes import end_process, is_alive
        from openmind.application.jobs.service import JobService

        return JobService(
            catalog=self.storage.catalog,
            launcher=self._launcher,
            alive=is_alive,
            end_process=end_process,
            now=utc_now,
            check_home=self.assembly.home.refuse_blocked,
            journal=self.assembly.journal(),
        )

    @cached_property
    def searching(self) -> "SearchService":
        from openmind.application.searching.service import SearchService

        embedders = self.assembly.providers.embedders()
        return SearchService(
            catalog=self.storage.catalog,
            chunks=lambda: self.storage.chunks,
            embedder_for=embedders.matching,
            whom=embedders.whom,
            is_chosen=embedders.is_chosen,
            let_go=lambda former: self.models.let_go(former),
            journal=self.assembly.journal(),
        )

    @cached_property
    def asking(self) -> "AskService":
        from openmind.application.asking.service import AskService

        return AskService(
            searching=self.searching,
            answerer=self.assembly.providers.answerer,
            conversations=self.assembly.conversations,
            journal=self.assembly.journal(),
        )

    @cached_property
    def documents(self) -> "DocumentService":
        from openmind.adapters.system_opener import open_path
        from openmind.application.documents import DocumentService

        return DocumentService(storage=self.storage, open_path=open_path)

    @cached_property
    def models(self) -> "ModelService":
        return self.assembly.providers.models(busy=self.jobs.busy, serving=self._serving)

    def _serving(self) -> EmbedderIdentity | None:
        """The embedder of the passages that can be found; None while there are none."""
        with self.storage.catalog.reading() as snapshot:
            live = snapshot.live_table()
            return live.identity.embedder if live is not None and snapshot.counts().chunks else None

    @cached_property
    def maintenance(self) -> "MaintenanceService":
        from openmind.adapters.home_contents import HomeKeeper
        from openmind.application.maintenance.doctor import Doctor
        from openmind.application.maintenance.exchange import ExchangeService
        from openmind.application.maintenance.flushing import FlushService
        from openmind.application.maintenance.service import MaintenanceService
        from openmind.application.maintenance.source_coverage import CoverageService

        assembly, storage = self.assembly, self.storage
        keeper = HomeKeeper(assembly.home.folder)
        return MaintenanceService(
            doctor=Doctor(
                storage=storage,
                jobs=self.jobs,
                indexing=self.indexing,
                keeper=keeper,
                provider_health=self.models.health,
                check_ocr=assembly.check_ocr,
                plugins=self.plugins,
                config_trouble=assembly.config_trouble,
                home=assembly.home.folder,
                version=self.version,
            ),
            flushing=FlushService(storage=storage, jobs=self.jobs, keeper=keeper, home=assembly.home.folder),
            covering=CoverageService(catalog=storage.catalog, tree=self.tree, formats=self._preparation.formats()),
            exchange=ExchangeService(
                storage=storage,
                tree=self.tree,
                home=assembly.home.folder,
                room=assembly.home.temporary,
                version=self.version,
                now=utc_now,
                refuse_beside_job=self.jobs.refuse_beside_job,
            ),
        )

    @cached_property
    def _launcher(self) -> "SubprocessJobLauncher":
        from openmind.adapters.subprocess_launcher import SubprocessJobLauncher

        return SubprocessJobLauncher(self.assembly.home.folder, self.assembly.home.logs)

    @cached_property
    def _preparation(self) -> "Preparation":
        from openmind.bootstrap.preparation import Preparation

        assembly = self.assembly
        return Preparation(
            registry=assembly.plugins.extractors,
            config=assembly.config,
            home=assembly.home,
            providers=assembly.providers,
        )
