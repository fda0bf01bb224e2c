"""The registries that hooks fill: names and factories, never built objects."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from attrs import define, field, frozen

from openmind.domain.config import ExtractionConfig
from openmind.domain.errors import ConfigError, PluginError
from openmind.ports.extractor import Extractor, ExtractorInfo
from openmind.ports.model_provider import ModelProvider
from openmind.ports.ocr_engine import OcrEngine
from openmind.ports.storage import Storage

T = TypeVar("T")

OcrFactory = Callable[[ExtractionConfig], OcrEngine]
"""Builds an OCR engine; called in the process that reads."""


@frozen(kw_only=True)
class ExtractionTools:
    """What an extractor may use beside the file."""

    config: ExtractionConfig = field(factory=ExtractionConfig)
    ocr: Callable[[], OcrEngine] | None = None
    """Builds the configured OCR engine on first use; None when OCR is off for this source.

    Calling it raises `ExtractionFailed` when the engine is not there or cannot start.
    """


ExtractorFactory = Callable[[ExtractionTools], Extractor]
StorageFactory = Callable[[Path], Storage]
ProviderFactory = Callable[[Any], ModelProvider]


@frozen
class Registered(Generic[T]):
    """Something a plugin registered."""

    name: str
    value: T
    distribution: str


@define
class Registry(Generic[T]):
    """Names, each taken once."""

    kind: str
    distribution: str = ""
    """Who is registering now; set by the manager."""
    _entries: dict[str, Registered[T]] = field(factory=dict)

    def _put(self, name: str, value: T) -> None:
        taken = self._entries.get(name)
        if taken is not None:
            raise PluginError(
                f"the {self.kind} “{name}” is registered twice, by {taken.distribution} and {self.distribution}",
                hint="Uninstall one of the two packages.",
            )
        self._entries[name] = Registered(name, value, self.distribution)

    @property
    def entries(self) -> Mapping[str, Registered[T]]:
        return dict(self._entries)

    def find(self, name: str) -> T:
        """Look a name up.

        Raises:
            ConfigError: nothing of that name is installed.
        """
        entry = self._entries.get(name)
        if entry is None:
            known = ", ".join(sorted(self._entries)) or "none"
            raise ConfigError(
                f"there is no {self.kind} “{name}”",
                hint=f"Installed: {known}. `openmind plugins` shows more.",
            )
        return entry.value


@frozen
class ExtractorEntry:
    """An extractor as it was registered."""

    info: ExtractorInfo
    factory: ExtractorFactory


class ExtractorRegistry(Registry[ExtractorEntry]):
    """File formats, and the OCR engines they may use."""

    def __init__(self) -> None:
        super().__init__("extractor")
        self.ocr: Registry[OcrFactory] = Registry("OCR engine")

    def add(self, info: ExtractorInfo, factory: ExtractorFactory) -> None:
        """Register a format. When two claim an extension, `openmind plugins` shows it and the first one has it."""
        self._put(info.name, ExtractorEntry(info, factory))

    def add_ocr(self, name: str, factory: OcrFactory) -> None:
        """Register an OCR engine under the name that `[extraction.ocr] backend` takes."""
        self.ocr.distribution = self.distribution
        self.ocr._put(name, factory)


@frozen
class ProviderEntry:
    """A provider as it was registered."""

    factory: ProviderFactory
    config: type[Any] | None


class ProviderRegistry(Registry[ProviderEntry]):
    """Model providers."""

    def __init__(self) -> None:
        super().__init__("provider")

    def add(self, name: str, factory: ProviderFactory, *, config: type[Any] | None = None) -> None:
        """Register a provider.

        Args:
            name: what people write in `[provider] name`.
            factory: takes an object of `config`, or None without one, and returns the provider.
            config: a frozen attrs class whose fields are the other keys of `[provider]`.
        """
        self._put(name, ProviderEntry(factory, config))


class StoreRegistry(Registry[StorageFactory]):
    """Storage."""

    def __init__(self) -> None:
        super().__init__("store")

    def add(self, name: str, factory: StorageFactory) -> None:
        """Register storage; the factory takes the home folder."""
        self._put(name, factory)


@frozen(kw_only=True)
class CommandEntry:
    """A command as it was registered: imported when it is run."""

    target: str
    help: str


class CommandRegistry(Registry[CommandEntry]):
    """Commands of the `openmind` program."""

    def __init__(self) -> None:
        super().__init__("command")

    def add(self, name: str, target: str, *, help: str) -> None:
        """Register a command: `target` is `module:attribute` of a function or a cyclopts `App`."""
        self._put(name, CommandEntry(target=target, help=help))


class RouteRegistry(Registry[str]):
    """Routers of the loopback API."""

    def __init__(self) -> None:
        super().__init__("router")

    def add(self, name: str, target: str) -> None:
        """Register a router: `target` is `module:attribute` of a Litestar `Router` or handler."""
        self._put(name, target)
