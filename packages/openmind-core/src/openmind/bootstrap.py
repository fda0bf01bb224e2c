"""The composition root: configuration and plugins become an open memory."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, cast

import attrs
from attrs import define, field

from openmind.adapters.extraction_workers import ExtractionWorkers
from openmind.adapters.home import Home
from openmind.adapters.home_contents import HomeKeeper
from openmind.adapters.jsonl_logging import LOG_FILE, JsonlJournal
from openmind.adapters.local_files import LocalFileTree
from openmind.adapters.passage_workers import PassageWorkers
from openmind.adapters.processes import end_process, is_alive, this_process
from openmind.adapters.regular_files import open_regular
from openmind.adapters.subprocess_launcher import SubprocessJobLauncher
from openmind.adapters.system_opener import open_path
from openmind.adapters.toml_config import ConfigFile, structure
from openmind.adapters.worker_jobs import WorkerPlan
from openmind.adapters.worker_pool import WorkerPool
from openmind.application.asking.conversations import Conversations
from openmind.application.asking.service import AskService
from openmind.application.documents import DocumentService
from openmind.application.indexing.formats import Formats
from openmind.application.indexing.means import IndexMeans
from openmind.application.indexing.preparation import InProcessPreparer, group_to_wire, grouped, outcome_from_wire
from openmind.application.indexing.service import IndexService
from openmind.application.indexing.tables import TableChoice
from openmind.application.jobs.service import JobService
from openmind.application.jobs.worker import JobWorker, MemoryAtWork, Workplace
from openmind.application.memory import OpenMind
from openmind.application.models.contained import Blame, ContainedProvider
from openmind.application.models.embedders import BUILTIN, Embedders
from openmind.application.models.own_embedder import OwnEmbedder
from openmind.application.models.service import ModelService
from openmind.application.searching.service import SearchService
from openmind.application.settings import Settings
from openmind.application.setup import Beginning
from openmind.application.sources import SourceService
from openmind.domain.config import Config
from openmind.domain.errors import HomeMissing, OpenMindError
from openmind.domain.models import ModelSelection, ProviderChoice, ProviderInfo
from openmind.domain.plugins import OURS, PluginReports
from openmind.installed import installed_plugins
from openmind.plugins.manager import Plugins, load_plugins
from openmind.ports.answer_provider import AnswerProvider
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.ports.extractor import Blob, Extractor
from openmind.ports.image_describer import ImageDescriber
from openmind.ports.isolated_reader import IsolatedReader
from openmind.ports.model_provider import ModelProvider
from openmind.ports.preparer import Preparer

if TYPE_CHECKING:
    from openmind.application.maintenance.service import MaintenanceService

WORKERS_PAY_OFF = 300
"""Fewer files are prepared sooner in this process than worker processes could start."""
SMALL_BYTES = 1_000_000
"""Files up to this size are read in one go when they are opened."""
MOST_WORKERS = 4
"""More gain nothing: one process commits what they prepare."""
MOST_READERS = 2
"""Each may need as much memory as OCR does."""
STORE = "local"


def utc_now() -> datetime:
    """Return the current time, aware, UTC."""
    return datetime.now(UTC)


@contextmanager
def open_memory(
    home: Path | str | None = None,
    *,
    create: bool = True,
    plugins: Plugins | None = None,
    embedder: EmbeddingProvider | None = None,
) -> Iterator[OpenMind]:
    """Open the memory of this machine's person.

    Args:
        home: OpenMind's folder; None takes `$OPENMIND_HOME`, else `~/.openmind`.
        create: whether a missing home is made; otherwise that is an error.
        plugins: what to use instead of the installed plugins.
        embedder: what embeds instead of the configured model, as long as the memory is open.

    Raises:
        HomeError: the folder cannot be used, or (`create=False`) is not there.
        ConfigError: config.toml is wrong.
        StoreError: the memory cannot be opened.
    """
    place = Home.at(home)
    if create:
        place.create()
    else:
        place.require()
    config = ConfigFile(place.config_file).load()
    known = plugins or load_plugins(blocked=config.blocked_plugins)
    if embedder is not None:
        config = _with_embedder(config, known, embedder)
    assembly = Assembly(home=place, config=config, plugins=known)
    try:
        yield assembly.memory()
    finally:
        assembly.close()


def _with_embedder(config: Config, plugins: Plugins, embedder: EmbeddingProvider) -> Config:
    """Let a program's own embedder be the configured model."""
    name, model = embedder.identity.provider, embedder.identity.model
    plugins.providers.let_in(name, "this program")
    plugins.providers.add(name, lambda _: OwnEmbedder(embedder))
    return attrs.evolve(
        config, provider={"name": name}, models=attrs.evolve(config.models, embedding_model=model, chat_model=None)
    )


@contextmanager
def open_beginning(home: Path | str | None = None, *, plugins: Plugins | None = None) -> Iterator[Beginning]:
    """Look at what can be chosen, whether or not there is a memory yet. Nothing is made.

    Args:
        home: as `open_memory`.
        plugins: as `open_memory`.

    Raises:
        HomeError: the folder cannot be OpenMind's.
        ConfigError: config.toml is wrong.
        StoreError: the memory cannot be opened.
    """
    place = Home.at(home)
    if _is_there(place):
        with open_memory(home, create=False, plugins=plugins) as memory:
            yield Beginning(
                home=memory.home,
                config=memory.config,
                models=memory.models,
                sources=memory.sources.list(),
                busy=memory.jobs.busy(),
            )
        return
    assembly = Assembly(home=place, config=Config(), plugins=plugins or load_plugins())
    try:
        models = assembly.models(busy=lambda: False)
        yield Beginning(home=place.folder, config=assembly.config, models=models, sources=(), busy=False)
    finally:
        assembly.close()


def _is_there(home: Home) -> bool:
    try:
        home.require()
    except HomeMissing:
        return False
    return True


def open_settings(home: Path | str | None = None, *, plugins: Plugins | None = None) -> Settings:
    """Read and change the configuration; the home is made when something is written.

    Args:
        home: as `open_memory`.
        plugins: as `open_memory`.
    """
    place = Home.at(home)
    file = ConfigFile(place.config_file)

    def provider_settings(config: Config) -> Mapping[str, object]:
        known = plugins or load_plugins(blocked=config.blocked_plugins)
        return Assembly(home=place, config=config, plugins=known).provider_settings()

    def busy() -> bool:
        if not _is_there(place):
            return False
        with open_memory(home, create=False, plugins=plugins) as memory:
            return memory.jobs.busy()

    def load() -> Config:
        place.check()
        return file.load()

    def update(changes: Mapping[tuple[str, ...], object]) -> None:
        place.create()
        file.update(changes, check=provider_settings)

    return Settings(path=place.config_file, load=load, update=update, provider_settings=provider_settings, busy=busy)


@contextmanager
def open_worker(
    home: Path | str | None = None, *, plugins: Plugins | None = None, beaten: Callable[[], None] = lambda: None
) -> Iterator[JobWorker]:
    """Open what carries out a background job; the home must exist.

    Args:
        home: as `open_memory`.
        plugins: as `open_memory`.
        beaten: called now and then, several times a minute, while the worker is well.

    Raises:
        HomeError, StoreError
    """
    place = Home.at(home)
    place.require()
    known = plugins or installed_plugins(home)
    storage = known.stores.find(STORE)(place.folder)
    try:
        storage.initialise()
        yield JobWorker(
            catalog=storage.catalog,
            workplace=lambda: _open_workplace(place, known),
            process=this_process,
            alive=is_alive,
            now=utc_now,
            beaten=beaten,
        )
    finally:
        storage.close()


@contextmanager
def _open_workplace(home: Home, plugins: Plugins) -> Iterator[Workplace]:
    """Open the memory with the configuration of this moment, for one pass of a job.

    Raises:
        ConfigError, StoreError
    """
    assembly = Assembly(home=home, config=ConfigFile(home.config_file).load(), plugins=plugins)
    try:
        yield MemoryAtWork(assembly.memory())
    finally:
        assembly.close()


@define(kw_only=True)
class Assembly:
    """Builds the services of one memory from one consistent configuration."""

    home: Home
    config: Config
    plugins: Plugins
    conversations: Conversations = field(factory=Conversations)
    """They may go on where another configuration left them."""
    _providers: dict[str, ModelProvider] = field(factory=dict, init=False)
    _embedders: dict[tuple[str, str], EmbeddingProvider] = field(factory=dict, init=False)
    _lock: Lock = field(factory=Lock, init=False)
    _closing: list[Callable[[], None]] = field(factory=list, init=False)

    def memory(self) -> OpenMind:
        """Build everything; nothing heavy is imported before it is used."""
        storage = self.plugins.stores.find(STORE)(self.home.folder)
        self._closing.append(storage.close)
        storage.initialise()
        tree = LocalFileTree(patterns=self.config.indexing.ignore)
        embedders = self.embedders()
        searching = SearchService(
            catalog=storage.catalog,
            chunks=lambda: storage.chunks,
            embedder_for=embedders.matching,
            journal=self.journal(),
        )
        launcher = SubprocessJobLauncher(self.home.folder, self.home.logs)
        jobs = JobService(
            catalog=storage.catalog,
            launcher=launcher,
            alive=is_alive,
            end_process=end_process,
            now=utc_now,
            journal=self.journal(),
        )
        return OpenMind(
            home=self.home.folder,
            version=version("openmind-core"),
            config=self.config,
            sources=SourceService(
                storage=storage,
                home=self.home.folder,
                now=utc_now,
                refuse_while_indexing=jobs.refuse_while_indexing,
                sweep_elsewhere=launcher.launch_sweep,
                journal=self.journal(),
            ),
            indexing=IndexService(
                means=IndexMeans(
                    storage=storage,
                    tree=tree,
                    formats=self.formats(),
                    choice=lambda: TableChoice(catalog=storage.catalog, chunks=storage.chunks, embedders=embedders),
                    preparer=self.preparer,
                    reader=self.reader,
                    now=utc_now,
                    max_file_bytes=self.config.indexing.max_file_mb * 1024 * 1024,
                    describer=self.describer,
                    max_new_tokens=self.config.extraction.images.max_new_tokens,
                ),
                process=this_process,
                journal=self.journal(),
            ),
            jobs=jobs,
            searching=searching,
            asking=AskService(
                searching=searching,
                answerer=self.answerer,
                conversations=self.conversations,
                journal=self.journal(),
            ),
            documents=DocumentService(storage=storage, open_path=open_path),
            models=self.models(busy=jobs.busy),
            storage=storage,
            tree=tree,
            plugins=PluginReports(self.plugins.reports),
            check_provider=self.provider_settings,
            upkeep=self.maintenance,
        )

    def journal(self) -> JsonlJournal:
        """Where events are noted."""
        return JsonlJournal(self.home.logs / LOG_FILE)

    def maintenance(self, memory: OpenMind) -> "MaintenanceService":
        """What keeps a memory sound; loaded when it is asked for."""
        from openmind.application.maintenance.doctor import Doctor
        from openmind.application.maintenance.exporting import ExchangeService
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
                plugins=memory.plugins,
                home=memory.home,
                version=memory.version,
            ),
            flushing=FlushService(storage=memory.storage, jobs=memory.jobs, keeper=keeper, home=memory.home),
            covering=CoverageService(catalog=memory.storage.catalog, tree=memory.tree, formats=self.formats()),
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

    def models(self, *, busy: Callable[[], bool]) -> ModelService:
        """What the provider offers, and which of it is used."""
        return ModelService(
            configured_name=self.config.provider_name,
            selection=self.selection(),
            configured=lambda: self.provider(self.config.provider_name),
            reach=self.reach,
            installed=self.installed_providers,
            save=self.save_selection,
            busy=busy,
        )

    def close(self) -> None:
        """Give back what was opened."""
        for provider in self._providers.values():
            provider.close()
        for close in reversed(self._closing):
            close()

    def provider(self, name: str) -> ModelProvider:
        """Make the provider of a name, once.

        Raises:
            ConfigError: it is not installed, or its settings are wrong.
        """
        with self._lock:
            if name not in self._providers:
                self._providers[name] = self._make_provider(name)
            return self._providers[name]

    def _make_provider(self, name: str) -> ModelProvider:
        settings = self.config.provider_settings if name == self.config.provider_name else {}
        return self.reach(ProviderChoice(name=name, settings=settings))

    def reach(self, choice: ProviderChoice) -> ModelProvider:
        """Make a provider as somebody would configure it; whoever asked closes it.

        Raises:
            ConfigError: it is not installed, or its settings are wrong.
            ProviderError: its package is broken.
        """
        found = self.plugins.providers.registered(choice.name)
        settings = self._understood(choice)
        if found.distribution in OURS:
            return found.value.factory(settings)
        blame = Blame(choice.name, found.distribution)

        def not_closed(error: OpenMindError) -> None:
            self.journal().note("provider.not_closed", provider=choice.name, package=blame.package, code=error.code)

        with blame.taken():
            return ContainedProvider(found.value.factory(settings), blame, not_closed)

    def provider_settings(self) -> Mapping[str, object]:
        """The settings of the configured provider as it understands them, defaults included.

        Raises:
            ConfigError: it is not installed, or they are wrong.
        """
        understood = self._understood(
            ProviderChoice(name=self.config.provider_name, settings=self.config.provider_settings)
        )
        return {} if understood is None else attrs.asdict(cast(attrs.AttrsInstance, understood))

    def _understood(self, choice: ProviderChoice) -> object:
        """The settings as an object of the class that the provider registered for them."""
        kind = self.plugins.providers.find(choice.name).config
        where = f"{self.home.config_file}: [provider]"
        return None if kind is None else structure(dict(choice.settings), kind, where=where)

    def installed_providers(self) -> tuple[ProviderInfo, ...]:
        """The providers that could be configured, by name."""
        names = sorted(self.plugins.providers.entries)
        return tuple(
            ProviderInfo(name=name, display_name=self._display_name(name), configured=name == self.config.provider_name)
            for name in names
        )

    def _display_name(self, name: str) -> str:
        try:
            return self.provider(name).display_name
        except Exception:  # noqa: BLE001  a stranger's code; one that cannot be built yet still has its name
            return name

    def save_selection(
        self, selection: ModelSelection, choice: ProviderChoice | None, images: bool | None = None
    ) -> None:
        """Write down which models are used and, with a choice, of which provider.

        Raises:
            ConfigError: nothing was written.
        """
        changes: dict[tuple[str, ...], object] = {
            ("models", "chat_model"): selection.chat_model,
            ("models", "embedding_model"): selection.embedding_model,
            ("extraction", "images", "model"): selection.image_model,
        }
        if images is not None:
            changes["extraction", "images", "enabled"] = images
        if choice is not None:
            changes |= {("provider", key): None for key in self.config.provider_settings}
            changes["provider", "name"] = choice.name
            changes |= {("provider", key): value for key, value in choice.settings.items()}
        ConfigFile(self.home.config_file).update(changes)

    def embedders(self) -> Embedders:
        """The embedders within reach."""
        return Embedders(
            provider_name=self.config.provider_name,
            model=self.config.models.embedding_model,
            embedder=self.embedder,
        )

    def embedder(self, provider: str, model: str) -> EmbeddingProvider:
        """Make an embedder, once: it keeps its weights, or what a server told it.

        Raises:
            ConfigError: the provider is not installed, or its settings are wrong.
        """
        with self._lock:
            made = self._embedders.get((provider, model))
        if made is not None:
            return made
        fresh = self.provider(provider).embedder(model)
        with self._lock:
            return self._embedders.setdefault((provider, model), fresh)

    def selection(self) -> ModelSelection:
        """The models that the configuration names."""
        models = self.config.models
        return ModelSelection(
            chat_model=models.chat_model,
            embedding_model=models.embedding_model,
            image_model=self.config.extraction.images.model,
        )

    def answerer(self) -> AnswerProvider | None:
        """Make the chat model, if one is chosen."""
        model = self.config.models.chat_model
        return None if model is None else self.provider(self.config.provider_name).answerer(model)

    def describer(self) -> ImageDescriber | None:
        """Make the model that describes pictures, if one is chosen.

        Raises:
            ConfigError: the provider is not installed, or its settings are wrong.
            ModelNotFound: the provider has no such models.
        """
        model = self.config.extraction.images.model
        return None if model is None else self.provider(self.config.provider_name).describer(model)

    def formats(self) -> Formats:
        """The formats that are installed."""
        entries = self.plugins.extractors.entries.values()
        return Formats.of([entry.value.info for entry in entries], self.config.extraction)

    def extractor(self, name: str) -> Extractor:
        """Make an extractor that runs in this process.

        Raises:
            ConfigError: it is not installed.
            PluginError: it cannot be made.
        """
        return self.plugins.extractors.build(name, self.config.extraction, plugins=self.config.plugins)

    def in_process_preparer(self, *, embed: bool) -> InProcessPreparer:
        """Prepare files here."""
        embedder = self.embedder(BUILTIN, BUILTIN) if embed else None
        return InProcessPreparer(extractor=self.extractor, read=read_blob, embedder=embedder)

    def preparer(self, files: int, embed: bool) -> Preparer:
        """Prepare files where it is done soonest."""
        HomeKeeper(self.home.folder).drop_leftovers()  # of a run that was killed: whoever prepares has the index lock
        workers = self.config.indexing.workers or min(os.cpu_count() or 1, MOST_WORKERS)
        if files < WORKERS_PAY_OFF or workers < 2:
            return self.in_process_preparer(embed=embed)
        setup = {"home": str(self.home.folder), "config": self._worker_config(), "embed": embed}
        plan = WorkerPlan(target="openmind.preparation_worker:prepare_files", setup=setup, folder=self.home.temporary)
        return PassageWorkers(
            pool=WorkerPool(plan=plan, size=workers), group=grouped, to_wire=group_to_wire, from_wire=outcome_from_wire
        )

    def _worker_config(self) -> dict[str, object]:
        """The sections that a worker needs; a server's token is not among them."""
        return {"extraction": attrs.asdict(self.config.extraction), "plugins": self.config.plugins}

    def reader(self) -> IsolatedReader:
        """Read hostile files elsewhere."""
        size = min(self.config.indexing.workers or os.cpu_count() or 1, MOST_READERS)
        return ExtractionWorkers(
            self.config.extraction, plugins=self.config.plugins, folder=self.home.temporary, size=size
        )


def read_blob(path_bytes: bytes, name: str) -> Blob:
    """Name a file for an extractor that runs in process.

    Raises:
        ExtractionFailed: it is no regular file any more, or may not be read.
    """
    descriptor = open_regular(path_bytes)
    try:
        data = _whole(descriptor)
    finally:
        os.close(descriptor)
    return Blob(name=name, path=Path(os.fsdecode(path_bytes)), data=data)


def _whole(descriptor: int) -> bytes | None:
    """Read a small file that is open already, so that it need not be opened again; None leaves it to the extractor."""
    size = os.fstat(descriptor).st_size
    if size > SMALL_BYTES:
        return None
    try:
        data = os.read(descriptor, size + 1)
    except OSError:  # whoever reads it next says why it cannot be
        return None
    return data if len(data) == size else None  # it grows or shrinks at this moment
