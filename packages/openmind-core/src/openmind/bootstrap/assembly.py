"""Puts one memory together from one consistent configuration."""

from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version

from attrs import define, field

from openmind.adapters.home import Home
from openmind.adapters.jsonl_logging import LOG_FILE, JsonlJournal
from openmind.application.asking.conversations import Conversations
from openmind.application.memory import OpenMind
from openmind.bootstrap.contained_storage import open_storage
from openmind.bootstrap.providers import Providers
from openmind.bootstrap.services import MemoryServices
from openmind.domain.config import Config
from openmind.domain.errors import CatalogDamaged, ConfigError, PluginError
from openmind.domain.plugins import PluginReports
from openmind.plugins.manager import Plugins
from openmind.ports.storage import Storage


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
        plugins, own_version = PluginReports(self.plugins.reports), version("openmind-core")
        return OpenMind(
            home=self.home.folder,
            version=own_version,
            config=self.config,
            storage=storage,
            services=MemoryServices(assembly=self, storage=storage, plugins=plugins, version=own_version),
            plugins=plugins,
            check_settings=self.check_settings,
        )

    def check_settings(self) -> None:
        """Look whether what the configuration names is installed, before it is needed.

        Raises:
            ConfigError: the provider, the storage or the OCR engine is not, or refuses its settings.
        """
        self.plugins.stores.find(self.config.storage.name)
        self.providers.settings()
        self.check_ocr()

    def check_ocr(self) -> None:
        """Look whether the OCR engine that the configuration names is installed.

        Raises:
            ConfigError: it is not.
        """
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
