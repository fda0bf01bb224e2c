"""The providers within reach of one configuration, and the models that it names."""

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, cast

import attrs
from attrs import define, field

from openmind.adapters.jsonl_logging import JsonlJournal
from openmind.adapters.notebook_file import NotebookFile
from openmind.adapters.toml_config import ConfigFile, structure
from openmind.application.models.contained import Blame, contained
from openmind.application.models.embedders import Embedders
from openmind.domain.config import Config
from openmind.domain.errors import OpenMindError, RemoteNotAllowed
from openmind.domain.models import EmbedderIdentity, ModelSelection, ProviderChoice, ProviderInfo
from openmind.plugins.registries import ProviderRegistry, Telling
from openmind.ports.answer_provider import AnswerProvider
from openmind.ports.embedding_provider import EmbeddingProvider
from openmind.ports.image_describer import ImageDescriber
from openmind.ports.model_provider import ModelProvider

if TYPE_CHECKING:
    from openmind.application.models.service import ModelService


@define(kw_only=True)
class Providers:
    """Makes providers and their models, each once. Thread-safe."""

    registry: ProviderRegistry
    config: Config
    config_file: Path
    notebook_file: Path
    journal: JsonlJournal
    _providers: dict[str, ModelProvider] = field(factory=dict, init=False)
    _embedders: dict[tuple[str, str], EmbeddingProvider] = field(factory=dict, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def models(
        self, *, busy: Callable[[], bool], serving: Callable[[], EmbedderIdentity | None] = lambda: None
    ) -> "ModelService":
        """What the provider offers, and which of it is used."""
        from openmind.application.models.service import ModelService  # most processes choose no model

        return ModelService(
            configured_name=self.config.provider_name,
            selection=self.selection(),
            configured=lambda: self.provider(self.config.provider_name),
            reach=self.reach,
            installed=self.installed,
            save=self.save,
            busy=busy,
            serving=serving,
        )

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
        found = self.registry.registered(choice.name)
        package, settings = found.distribution, self._understood(choice)
        notebook = NotebookFile(self.notebook_file, choice.name)

        def not_closed(error: OpenMindError) -> None:
            self.journal.note("provider.not_closed", provider=choice.name, package=package, code=error.code)

        return contained(
            lambda: found.value.make(settings, notebook), name=choice.name, package=package, not_closed=not_closed
        )

    def settings(self) -> Mapping[str, object]:
        """The settings of the configured provider as it understands them, defaults included.

        Raises:
            ConfigError: it is not installed, or they are wrong.
        """
        understood = self._understood(
            ProviderChoice(name=self.config.provider_name, settings=self.config.provider_settings)
        )
        return {} if understood is None else attrs.asdict(cast(attrs.AttrsInstance, understood))

    def notices(self) -> tuple[str, ...]:
        """What a person should know of those settings.

        Raises:
            ConfigError: see `settings`.
        """
        name = self.config.provider_name
        understood = self._understood(ProviderChoice(name=name, settings=self.config.provider_settings))
        if not isinstance(understood, Telling):
            return ()
        with Blame(name, self.registry.registered(name).distribution).taken():
            return tuple(understood.notices)

    def require_allowed(self) -> None:
        """Look whether the configured provider may be asked at all, without asking it.

        Raises:
            RemoteNotAllowed: its server is on another machine.
        """
        try:
            self.provider(self.config.provider_name)
        except RemoteNotAllowed:
            raise
        except OpenMindError:  # what else is wrong with it may be mended by the next setting
            return

    def _understood(self, choice: ProviderChoice) -> object:
        """The settings as an object of the class that the provider registered for them."""
        found = self.registry.registered(choice.name)
        kind = found.value.config
        configured = (choice.name, choice.settings) == (self.config.provider_name, self.config.provider_settings)
        where = f"{self.config_file}: [provider]" if configured else f"The provider {choice.name}"
        if kind is None:
            return None
        with Blame(choice.name, found.distribution).taken():  # the class may check its fields in any way
            return structure(dict(choice.settings), kind, where=where)

    def installed(self) -> tuple[ProviderInfo, ...]:
        """The providers that could be configured, by name."""
        names = sorted(self.registry.entries)
        return tuple(
            ProviderInfo(name=name, display_name=self._display_name(name), configured=name == self.config.provider_name)
            for name in names
        )

    def _display_name(self, name: str) -> str:
        try:
            return self.provider(name).display_name
        except Exception:  # noqa: BLE001  a stranger's code; one that cannot be built yet still has its name
            return name

    def save(self, selection: ModelSelection, choice: ProviderChoice | None, images: bool | None = None) -> None:
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
        ConfigFile(self.config_file).update(changes)

    def embedders(self) -> Embedders:
        """The embedders within reach."""
        return Embedders(
            provider_name=self.config.provider_name,
            model=self.config.models.embedding_model,
            embedder=self.embedder,
            package=self._package,
        )

    def _package(self, name: str) -> str:
        entry = self.registry.entries.get(name)
        return "" if entry is None else entry.distribution

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

    def close(self) -> None:
        """Give back what the providers opened."""
        for provider in self._providers.values():
            provider.close()
