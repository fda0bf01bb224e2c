"""The registries that hooks fill: names and factories, never built objects."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

import attrs
from attrs import define, field, frozen

from openmind.domain.errors import ConfigError, OpenMindError, PluginError
from openmind.domain.foreign_errors import named
from openmind.ports.extractor import Extractor, ExtractorInfo
from openmind.ports.ocr_engine import OcrEngine

if TYPE_CHECKING:  # what `openmind --help` has no use for
    from openmind.domain.config import ExtractionConfig, Section
    from openmind.ports.model_provider import ModelProvider
    from openmind.ports.notebook import Notebook
    from openmind.ports.storage import Storage

T = TypeVar("T")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")

OcrFactory = Callable[["ExtractionConfig"], OcrEngine]
"""Builds an OCR engine; called in the process that reads."""


OcrMaker = Callable[[], OcrEngine]


def _defaults() -> "ExtractionConfig":
    from openmind.domain.config import ExtractionConfig

    return ExtractionConfig()


@frozen(kw_only=True)
class ExtractionTools:
    """What an extractor may use beside the file."""

    config: "ExtractionConfig" = field(factory=_defaults)
    ocr: OcrMaker | None = None
    """Builds the configured OCR engine on first use; None when OCR is off for this source.

    Calling it raises `ExtractionFailed` when the engine is not there or cannot start.
    """
    settings: Mapping[str, object] = field(factory=dict)
    """What stands in `[plugins.NAME]` of config.toml, NAME being the plugin's entry point."""


ExtractorFactory = Callable[[ExtractionTools], Extractor]
StorageFactory = Callable[[Path], "Storage"]
ProviderFactory = Callable[[Any], "ModelProvider"]
NotingFactory = Callable[[Any, "Notebook"], "ModelProvider"]


@runtime_checkable
class Telling(Protocol):
    """Settings of a provider that have something to tell a person as soon as they are written."""

    @property
    def notices(self) -> tuple[str, ...]:
        """Sentences, such as that text leaves the machine."""
        ...


@frozen
class Registered(Generic[T]):
    """Something a plugin registered."""

    name: str
    value: T
    distribution: str
    plugin: str = ""


@define
class Registry(Generic[T]):
    """Names, each taken once."""

    kind: str
    distribution: str = ""
    """Whose plugin is registering now."""
    plugin: str = ""
    _entries: dict[str, Registered[T]] = field(factory=dict)

    def _put(self, name: str, value: T) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise PluginError(f"the {self.kind} {name!r} needs a name of lower-case letters, digits, “-” and “_”")
        taken = self._entries.get(name)
        if taken is not None:
            alone = taken.distribution == self.distribution
            raise PluginError(
                f"the {self.kind} “{name}” is registered twice"
                + (f" by {self.distribution}" if alone else f", by {taken.distribution} and {self.distribution}"),
                hint="Update that package." if alone else "Uninstall one of the two packages.",
            )
        self._entries[name] = Registered(name, value, self.distribution, self.plugin)

    def let_in(self, plugin: str, distribution: str) -> None:
        """Note who registers from now on."""
        self.plugin, self.distribution = plugin, distribution

    def added_by(self, plugin: str) -> tuple[str, ...]:
        """The names that a plugin registered."""
        return tuple(name for name, entry in self._entries.items() if entry.plugin == plugin)

    def withdraw(self, plugin: str) -> None:
        """Forget what a plugin registered: it turned out to be broken."""
        for name in self.added_by(plugin):
            del self._entries[name]

    @property
    def entries(self) -> Mapping[str, Registered[T]]:
        return dict(self._entries)

    def find(self, name: str) -> T:
        """Look a name up.

        Raises:
            ConfigError: nothing of that name is installed.
        """
        return self.registered(name).value

    def registered(self, name: str) -> Registered[T]:
        """Look a name up, with who registered it.

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
        return entry


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
        """Register a format.

        Where two claim an extension, the one whose `replaces` names the other has it, else the first; `openmind
        plugins` shows it.
        """
        check_info(info)
        _check_factory(factory, self.kind)
        self._put(info.name, ExtractorEntry(info, factory))

    def add_ocr(self, name: str, factory: OcrFactory) -> None:
        """Register an OCR engine under the name that `[extraction.ocr] backend` takes."""
        _check_factory(factory, self.ocr.kind)
        self.ocr.let_in(self.plugin, self.distribution)
        self.ocr._put(name, factory)

    def added_by(self, plugin: str) -> tuple[str, ...]:
        return (*super().added_by(plugin), *self.ocr.added_by(plugin))

    def withdraw(self, plugin: str) -> None:
        for name in super().added_by(plugin):
            del self._entries[name]
        self.ocr.withdraw(plugin)

    def build(
        self, name: str, config: "ExtractionConfig", *, plugins: "Section", ocr: OcrMaker | None = None
    ) -> Extractor:
        """Make an extractor.

        Args:
            name: as it was registered.
            config: `[extraction]`.
            plugins: `[plugins]`, where each plugin has a section under its own name.
            ocr: see `ExtractionTools`.

        Raises:
            ConfigError: it is not installed.
            PluginError: it cannot be made.
        """
        found = self.registered(name)
        settings = plugins.get(found.plugin, {})
        tools = ExtractionTools(config=config, ocr=ocr, settings=settings if isinstance(settings, dict) else {})
        try:
            return found.value.factory(tools)
        except OpenMindError:
            raise
        except Exception as error:
            raise PluginError(
                f"the extractor “{name}” of {found.distribution} cannot be made: {named(error)}",
                hint="Update that package or uninstall it.",
            ) from error


@frozen
class ProviderEntry:
    """A provider as it was registered."""

    factory: ProviderFactory
    config: type[Any] | None
    noting: NotingFactory | None = None

    def make(self, settings: object, notebook: "Notebook") -> "ModelProvider":
        """Build the provider, with a notebook if it wants one."""
        return self.factory(settings) if self.noting is None else self.noting(settings, notebook)


class ProviderRegistry(Registry[ProviderEntry]):
    """Model providers."""

    def __init__(self) -> None:
        super().__init__("provider")

    def add(
        self,
        name: str,
        factory: ProviderFactory,
        *,
        config: type[Any] | None = None,
        noting: NotingFactory | None = None,
    ) -> None:
        """Register a provider.

        Args:
            name: what people write in `[provider] name`.
            factory: takes an object of `config`, or None without one, and returns the provider.
            config: a frozen attrs class whose fields are the other keys of `[provider]`.
            noting: does what `factory` does where there is a home, with a `Notebook` in it as a second argument.
        """
        _check_factory(factory, self.kind)
        if noting is not None:
            _check_factory(noting, self.kind)
        if config is not None and not attrs.has(config):
            raise PluginError(f"the configuration of the provider “{name}” is no attrs class")
        self._put(name, ProviderEntry(factory, config, noting))


class StoreRegistry(Registry[StorageFactory]):
    """Storage."""

    def __init__(self) -> None:
        super().__init__("store")

    def add(self, name: str, factory: StorageFactory) -> None:
        """Register storage; the factory takes the home folder."""
        _check_factory(factory, self.kind)
        self._put(name, factory)

    def build(self, name: str, home: Path) -> "Storage":
        """Make the storage of a home.

        Raises:
            ConfigError: it is not installed.
            PluginError: it cannot be made.
        """
        found = self.registered(name)
        try:
            return found.value(home)
        except (OpenMindError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise PluginError(
                f"the store “{name}” of {found.distribution} cannot be opened: {named(error)}",
                hint="Update that package, or choose another store in `[storage]`.",
            ) from error


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
        _check_target(target, self.kind)
        self._put(name, CommandEntry(target=target, help=help))


class RouteRegistry(Registry[str]):
    """Routers of the loopback API."""

    def __init__(self) -> None:
        super().__init__("router")

    def add(self, name: str, target: str) -> None:
        """Register a router: `target` is `module:attribute` of a Litestar `Router` or handler."""
        _check_target(target, self.kind)
        self._put(name, target)


AnyRegistry = ExtractorRegistry | ProviderRegistry | StoreRegistry | CommandRegistry | RouteRegistry


def check_info(info: object) -> None:
    """Refuse a description that discovery could not work with.

    Raises:
        PluginError
    """
    if not isinstance(info, ExtractorInfo):
        raise PluginError(f"an extractor is registered with an ExtractorInfo, not with {info!r}"[:200])
    if type(info.version) is not int or info.version < 1:
        raise PluginError(f"the version of the extractor “{info.name}” is {info.version!r}, not a number from 1")
    wrong = [extension for extension in info.extensions if not _is_extension(extension)]
    if wrong or not info.extensions:
        raise PluginError(f"the extractor “{info.name}” needs extensions such as “.txt”, in lower case, not {wrong}")
    if not all(isinstance(mark, bytes) and len(mark) > 1 for mark in info.marks) or (info.marks and not info.isolated):
        raise PluginError(f"the marks of the extractor “{info.name}” must be bytes, two or more, and it run isolated")
    if info.pictures and not info.isolated:
        raise PluginError(f"the extractor “{info.name}” yields pictures, so it has to run isolated")


def _is_extension(text: object) -> bool:
    return isinstance(text, str) and len(text) > 1 and text.startswith(".") and text == text.lower()


def _check_factory(factory: object, kind: str) -> None:
    if not callable(factory):
        raise PluginError(f"a {kind} is registered with a function that makes it, not with {factory!r}"[:200])


def _check_target(target: object, kind: str) -> None:
    if not isinstance(target, str) or not _TARGET.fullmatch(target):
        raise PluginError(f"a {kind} is registered with “module:attribute”, not with {target!r}"[:200])
