"""The ways in: a memory, what can be chosen before there is one, the settings, and a background worker."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from openmind.adapters.home import Home
from openmind.adapters.home_contents import HomeKeeper
from openmind.adapters.processes import is_alive, this_process
from openmind.adapters.toml_config import ConfigFile
from openmind.application.jobs.worker import JobWorker, MemoryAtWork, Workplace
from openmind.application.memory import OpenMind
from openmind.application.models.own_embedder import OWN_EMBEDDER, OwnEmbedder, identity_of
from openmind.application.settings import Settings
from openmind.application.setup import Beginning
from openmind.bootstrap.assembly import Assembly, utc_now
from openmind.bootstrap.contained_storage import open_storage
from openmind.configuration import readable_config
from openmind.domain.arguments import of_kind, yes_or_no
from openmind.domain.config import Config
from openmind.domain.errors import ConfigError, HomeMissing, UsageError
from openmind.domain.plugins import THIS_PROGRAM
from openmind.plugins.manager import Plugins, load_plugins
from openmind.ports.embedding_provider import EmbeddingProvider

if TYPE_CHECKING:  # it is loaded when it is used
    from openmind.application.maintenance.service import MaintenanceService


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
        UsageError: an argument is none of these.
    """
    place = Home.at(home)
    if plugins is not None:
        of_kind(plugins, Plugins, "plugins")
    if embedder is not None:
        identity_of(embedder)
    if yes_or_no(create, "create"):
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


@contextmanager
def open_empty_memory(home: Path | str | None = None, *, plugins: Plugins | None = None) -> Iterator[OpenMind]:
    """Open a memory to fill it as a whole. A home that was made for that goes again when the filling fails.

    Args:
        home: as `open_memory`.
        plugins: as `open_memory`.

    Raises:
        HomeError, ConfigError, StoreError: as `open_memory`.
    """
    place = Home.at(home)
    is_new, had_folder = not _is_there(place), place.folder.is_dir()
    unused = is_new
    try:
        with open_memory(home, plugins=plugins) as memory:
            try:
                yield memory
            finally:
                unused = is_new and not memory.sources.list() and not memory.jobs.busy()
    except BaseException:
        if unused:
            _take_back(place, keep_folder=had_folder)
        raise


def _take_back(place: Home, *, keep_folder: bool) -> None:
    """Delete what was made of a home a moment ago; where somebody put something into it meanwhile, that stays."""
    keeper = HomeKeeper(place.folder)
    with suppress(OSError):  # what went wrong before is what has to be told
        keeper.remove(keeper.contents())
        if keep_folder:
            place.folder.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def open_checkup(home: Path | str | None = None, *, plugins: Plugins | None = None) -> Iterator["MaintenanceService"]:
    """Open what examines and repairs a memory, also one whose catalog is damaged.

    Args:
        home: as `open_memory`; it must exist.
        plugins: as `open_memory`.

    Raises:
        HomeError, StoreError: as `open_memory`, save for a damaged catalog, which is a finding.
        ConfigError: config.toml is wrong, and the catalog is not where it is by default; else that is a finding, too.
    """
    place = Home.at(home)
    place.require()
    trouble: ConfigError | None = None
    try:
        config = ConfigFile(place.config_file).load()
    except ConfigError as error:
        if not place.has_catalog:  # another storage may have it
            raise
        config, trouble = readable_config(home), error
    known = plugins or load_plugins(blocked=config.blocked_plugins)
    assembly = Assembly(home=place, config=config, plugins=known, config_trouble=trouble)
    try:
        yield assembly.patient().maintenance
    finally:
        assembly.close()


def _with_embedder(config: Config, plugins: Plugins, embedder: EmbeddingProvider) -> Config:
    """Let a program's own embedder be the configured model."""
    identity = identity_of(embedder)
    name, model = identity.provider, identity.model
    plugins.providers.withdraw(OWN_EMBEDDER)  # the same plugins may have served with another one before
    taken = plugins.providers.entries.get(name)
    if taken is not None:
        raise UsageError(
            f"the embedder says that its provider is “{name}”, which is the name of a provider of {taken.distribution}",
            hint="Give yours another name: `EmbedderIdentity(provider=…)`.",
        )
    plugins.providers.let_in(OWN_EMBEDDER, THIS_PROGRAM)
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
        models = assembly.providers.models(busy=lambda: False)
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

    def assembly(config: Config) -> Assembly:
        known = plugins or load_plugins(blocked=config.blocked_plugins)
        return Assembly(home=place, config=config, plugins=known)

    def provider_settings(config: Config) -> Mapping[str, object]:
        return assembly(config).providers.settings()

    def provider_notices(config: Config) -> tuple[str, ...]:
        return assembly(config).providers.notices()

    def busy() -> bool:
        if not _is_there(place):
            return False
        config = file.load()
        known = plugins or load_plugins(blocked=config.blocked_plugins)
        if config.storage.name not in known.stores.entries:  # who wants to mend that must not need it
            return False
        with open_memory(home, create=False, plugins=known) as memory:
            return memory.jobs.busy()

    def load() -> Config:
        place.check()
        return file.load()

    def update(changes: Mapping[tuple[str, ...], object]) -> None:
        place.create()
        of_provider = any(path[0] == "provider" for path in changes)

        def check(config: Config) -> None:
            there = assembly(config)
            try:
                there.check_settings()
                if of_provider:
                    there.providers.require_allowed()
            finally:
                there.close()

        file.update(changes, check=check)

    return Settings(
        path=place.config_file,
        load=load,
        update=update,
        provider_settings=provider_settings,
        provider_notices=provider_notices,
        busy=busy,
    )


@contextmanager
def open_worker(
    home: Path | str | None = None,
    *,
    plugins: Plugins | None = None,
    beaten: Callable[[], None] = lambda: None,
    leave: Callable[[], None] | None = None,
) -> Iterator[JobWorker]:
    """Open what carries out a background job; the home must exist.

    Args:
        home: as `open_memory`.
        plugins: as `open_memory`.
        beaten: called now and then, several times a minute, while the worker is well.
        leave: see `JobWorker`.

    Raises:
        HomeError, StoreError
        ConfigError: the storage is not installed.
    """
    place = Home.at(home)
    place.require()
    config = readable_config(home)  # what is wrong with it is told by the job
    known = plugins or load_plugins(blocked=config.blocked_plugins)
    storage = open_storage(known.stores, config.storage.name, place.folder)
    try:
        storage.initialise()
        yield JobWorker(
            catalog=storage.catalog,
            workplace=lambda: _open_workplace(place, known),
            process=this_process,
            alive=is_alive,
            now=utc_now,
            beaten=beaten,
            leave=leave,
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
