"""Builds the services of one memory from one consistent configuration."""

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from attrs import define, field

from openmind.adapters.home import Home
from openmind.adapters.home_contents import HomeKeeper
from openmind.adapters.jsonl_logging import LOG_FILE, JsonlJournal
from openmind.adapters.local_files import LocalFileTree
from openmind.adapters.processes import end_process, is_alive, this_process
from openmind.adapters.subprocess_launcher import SubprocessJobLauncher
from openmind.adapters.system_opener import open_path
from openmind.application.asking.conversations import Conversations
from openmind.application.asking.service import AskService
from openmind.application.documents import DocumentService
from openmind.application.indexing.means import IndexMeans
from openmind.application.indexing.service import IndexService
from openmind.application.indexing.tables import TableChoice
from openmind.application.jobs.service import JobService
from openmind.application.memory import OpenMind
from openmind.application.models.service import ModelService
from openmind.application.searching.service import SearchService
from openmind.application.sources import SourceService
from openmind.bootstrap.contained_storage import open_storage
from openmind.bootstrap.preparation import Preparation
from openmind.bootstrap.providers import Providers
from openmind.domain.config import Config
from openmind.domain.errors import CatalogDamaged, ConfigError, PluginError
from openmind.domain.models import EmbedderIdentity
from openmind.domain.plugins import PluginReports
from openmind.plugins.manager import Plugins
from openmind.ports.file_tree import FileTree
from openmind.ports.storage import Storage

if TYPE_CHECKING:
    from openmind.application.maintenance.service import MaintenanceService


def utc_now() -> datetime:
    """Return the current time, aware, UTC."""
    return datetime.now(UTC)


def _serving(storage: Storage) -> EmbedderIdentity | None:
    """The embedder of the passages that can be found; None while there are none."""
    with storage.catalog.reading() as snapshot:
        live = snapshot.live_table()
        return live.identity.embedder if live is not None and snapshot.counts().chunks else None


@define(kw_only=True)
class Assembly:
    """What one memory is made of. Nothing heavy is imported before it is used."""

    home: Home
    config: Config
    plugins: Plugins
    conversations: Conversations = field(factory=Conversations)
    """They may go on where another configuration left them."""
    config_trouble: ConfigError | None = None
    """Why the configuration is not that of the file."""
    providers: Providers = field(init=False)
    preparation: Preparation = field(init=False)
    _closing: list[Callable[[], None]] = field(factory=list, init=False)

    @providers.default
    def _providers_of_config(self) -> Providers:
        return Providers(
            registry=self.plugins.providers,
            config=self.config,
            config_file=self.home.config_file,
            notebook_file=self.home.notebook,
            journal=self.journal(),
        )

    @preparation.default
    def _preparation_of_config(self) -> Preparation:
        return Preparation(
            registry=self.plugins.extractors, config=self.config, home=self.home, providers=self.providers
        )

    def journal(self) -> JsonlJournal:
        """Where events are noted."""
        return JsonlJournal(self.home.logs / LOG_FILE)

    def memory(self) -> OpenMind:
        """Open the storage, and build what works with it."""
        storage = self._storage()
        storage.initialise()
        return self._around(storage)

    def patient(self) -> OpenMind:
        """Build the same around a catalog that may be damaged: for its doctor, who says so."""
        storage = self._storage()
        with suppress(CatalogDamaged):
            storage.initialise()
        return self._around(storage)

    def _around(self, storage: Storage) -> OpenMind:
        tree = LocalFileTree(patterns=self.config.indexing.ignore)
        launcher = SubprocessJobLauncher(self.home.folder, self.home.logs)
        jobs = self._jobs(storage, launcher)
        models = self.providers.models(busy=jobs.busy, serving=lambda: _serving(storage))
        searching = self._searching(storage, models)
        return OpenMind(
            home=self.home.folder,
            version=version("openmind-core"),
            config=self.config,
            sources=self._sources(storage, jobs, launcher),
            indexing=self._indexing(storage, tree, models),
            jobs=jobs,
            searching=searching,
            asking=self._asking(searching),
            documents=DocumentService(storage=storage, open_path=open_path),
            models=models,
            storage=storage,
            tree=tree,
            plugins=PluginReports(self.plugins.reports),
            check_settings=self.check_settings,
            upkeep=self._maintenance,
        )

    def check_settings(self) -> None:
        """Look whether what the configuration names is installed, before it is needed.

        Raises:
            ConfigError: the provider, the storage or the OCR engine is not, or refuses its settings.
        """
        self.plugins.stores.find(self.config.storage.name)
        self.providers.settings()
        self._check_ocr()

    def _check_ocr(self) -> None:
        ocr, engines = self.config.extraction.ocr, self.plugins.extractors.ocr
        if ocr.enabled and engines.entries:  # without any, each file that needs one says so
            engines.find(ocr.backend)

    def close(self) -> None:
        """Give back what was opened."""
        self.providers.close()
        for close in reversed(self._closing):
            close()

    def _storage(self) -> Storage:
        storage = open_storage(self.plugins.stores, self.config.storage.name, self.home.folder)
        self._closing.append(lambda: self._close(storage))
        return storage

    def _close(self, storage: Storage) -> None:
        """Close it. What is broken here comes too late to matter: whoever closes has their result already."""
        try:
            storage.close()
        except PluginError as error:
            raised = type(error.__cause__ or error).__name__
            self.journal().note("storage.not_closed", store=self.config.storage.name, raised=raised)

    def _sources(self, storage: Storage, jobs: JobService, launcher: SubprocessJobLauncher) -> SourceService:
        return SourceService(
            storage=storage,
            home=self.home.folder,
            now=utc_now,
            refuse_while_indexing=jobs.refuse_while_indexing,
            sweep_elsewhere=launcher.launch_sweep,
            journal=self.journal(),
        )

    def _indexing(self, storage: Storage, tree: FileTree, models: ModelService) -> IndexService:
        embedders = self.providers.embedders()
        means = IndexMeans(
            storage=storage,
            tree=tree,
            formats=self.preparation.formats(),
            choice=lambda: TableChoice(catalog=storage.catalog, chunks=storage.chunks, embedders=embedders),
            preparer=self.preparation.preparer,
            reader=self.preparation.reader,
            now=utc_now,
            max_file_bytes=self.config.indexing.max_file_mb * 1024 * 1024,
            describer=self.providers.describer,
            max_new_tokens=self.config.extraction.images.max_new_tokens,
            let_go=models.let_go,
        )
        return IndexService(means=means, process=this_process, journal=self.journal())

    def _jobs(self, storage: Storage, launcher: SubprocessJobLauncher) -> JobService:
        return JobService(
            catalog=storage.catalog,
            launcher=launcher,
            alive=is_alive,
            end_process=end_process,
            now=utc_now,
            check_home=self.home.refuse_blocked,
            journal=self.journal(),
        )

    def _searching(self, storage: Storage, models: ModelService) -> SearchService:
        return SearchService(
            catalog=storage.catalog,
            chunks=lambda: storage.chunks,
            embedder_for=self.providers.embedders().matching,
            whom=self.providers.embedders().whom,
            let_go=models.let_go,
            journal=self.journal(),
        )

    def _asking(self, searching: SearchService) -> AskService:
        return AskService(
            searching=searching,
            answerer=self.providers.answerer,
            conversations=self.conversations,
            journal=self.journal(),
        )

    def _maintenance(self, memory: OpenMind) -> "MaintenanceService":
        """What keeps a memory sound; loaded when it is asked for."""
        from openmind.application.maintenance.doctor import Doctor
        from openmind.application.maintenance.exchange import ExchangeService
        from openmind.application.maintenance.flushing import FlushService
        from openmind.application.maintenance.service import MaintenanceService
        from openmind.application.maintenance.source_coverage import CoverageService

        keeper = HomeKeeper(self.home.folder)
        return MaintenanceService(
            doctor=Doctor(
                storage=memory.storage,
                jobs=memory.jobs,
                indexing=memory.indexing,
                keeper=keeper,
                provider_health=memory.models.health,
                check_ocr=self._check_ocr,
                plugins=memory.plugins,
                config_trouble=self.config_trouble,
                home=memory.home,
                version=memory.version,
            ),
            flushing=FlushService(storage=memory.storage, jobs=memory.jobs, keeper=keeper, home=memory.home),
            covering=CoverageService(
                catalog=memory.storage.catalog, tree=memory.tree, formats=self.preparation.formats()
            ),
            exchange=ExchangeService(
                storage=memory.storage,
                tree=memory.tree,
                home=self.home.folder,
                room=self.home.temporary,
                version=memory.version,
                now=utc_now,
                refuse_beside_job=memory.jobs.refuse_beside_job,
            ),
        )
