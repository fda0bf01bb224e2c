"""The ways in to a memory, and to what keeps it sound."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from openmind.adapters.home import Home
from openmind.adapters.toml_config import ConfigFile
from openmind.application.memory import OpenMind
from openmind.bootstrap.assembly import Assembly
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
        _check(embedder)
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


def _check(embedder: EmbeddingProvider) -> None:
    from openmind.application.models.own_embedder import identity_of  # few programs have an embedder of their own

    identity_of(embedder)


def _with_embedder(config: Config, plugins: Plugins, embedder: EmbeddingProvider) -> Config:
    """Let a program's own embedder be the configured model."""
    from openmind.application.models.own_embedder import OWN_EMBEDDER, OwnEmbedder, identity_of  # as above

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


def is_there(home: Home) -> bool:
    """Whether there is a memory in a home.

    Raises:
        HomeError: the folder cannot be OpenMind's.
    """
    try:
        home.require()
    except HomeMissing:
        return False
    return True
