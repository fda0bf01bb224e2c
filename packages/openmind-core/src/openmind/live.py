"""A memory that follows its configuration: for processes that stay up while people change config.toml."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

from attrs import define

from openmind.adapters.home import Home
from openmind.adapters.toml_config import ConfigFile
from openmind.application.asking.conversations import Conversations
from openmind.application.memory import OpenMind
from openmind.bootstrap.assembly import Assembly
from openmind.domain.config import Config
from openmind.domain.errors import MemoryClosed
from openmind.plugins.manager import Plugins, load_plugins

ATTEMPTS = 10
"""A configuration that changes while it is read is read again; hardly ever twice."""


@define(kw_only=True)
class Edition:
    """The memory as one configuration made it."""

    fingerprint: str
    assembly: Assembly
    memory: OpenMind
    users: int = 0
    replaced: bool = False


class LiveMemory:
    """Opens a memory, and opens it anew when its configuration has changed. Thread-safe.

    Whoever works with an edition keeps it to the end, and so sees one consistent configuration. Conversations go on
    across editions.

    Args:
        home: OpenMind's folder; None takes `$OPENMIND_HOME`, else `~/.openmind`. It is made when it is missing.
        plugins: what to use instead of the installed plugins.

    Raises:
        HomeError, ConfigError, StoreError: as `open_memory`.
    """

    def __init__(self, home: Path | str | None = None, *, plugins: Plugins | None = None) -> None:
        self.home = Home.at(home)
        self.home.create()
        self.plugins = Plugins() if plugins is None else plugins
        self._plugins_are_given = plugins is not None
        self._blocked: frozenset[str] | None = None
        """The plugins that were left out when the others were loaded; None before."""
        self._config = ConfigFile(self.home.config_file)
        self._conversations = Conversations()
        self._lock = Lock()
        self._latest: Edition | None = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def current(self) -> Iterator[OpenMind]:
        """Work with the memory as it is configured now.

        Raises:
            ConfigError: the configuration was changed to one that is not valid.
            HomeError, StoreError
        """
        edition = self._take()
        try:
            yield edition.memory
        finally:
            self._give_back(edition)

    def close(self) -> None:
        """Close the memory as soon as nobody works with it any more. Safe to call twice."""
        with self._lock:
            latest, self._latest = self._latest, None
            done = latest is not None and self._retire(latest)
        if done and latest is not None:
            latest.assembly.close()

    def _take(self) -> Edition:
        """Lend the edition of the present configuration."""
        fingerprint = self._config.fingerprint()
        former: Edition | None = None
        with self._lock:
            if self._latest is None:
                raise MemoryClosed("This memory was closed", hint="Open it again.")
            if self._latest.fingerprint != fingerprint:
                fresh = self._open()
                former = self._latest if self._retire(self._latest) else None
                self._latest = fresh
            edition = self._latest
            edition.users += 1
        if former is not None:
            former.assembly.close()
        return edition

    def _give_back(self, edition: Edition) -> None:
        with self._lock:
            edition.users -= 1
            done = edition.replaced and edition.users == 0
        if done:
            edition.assembly.close()

    def _retire(self, edition: Edition) -> bool:
        """Note that an edition is not lent any more; True when nobody has it."""
        edition.replaced = True
        return edition.users == 0

    def _open(self) -> Edition:
        self.home.require()
        fingerprint, config = self._read()
        if (
            not self._plugins_are_given and config.blocked_plugins != self._blocked
        ):  # hooks are called once, if they can
            self.plugins, self._blocked = load_plugins(blocked=config.blocked_plugins), config.blocked_plugins
        assembly = Assembly(home=self.home, config=config, plugins=self.plugins, conversations=self._conversations)
        try:
            memory = assembly.memory()
        except BaseException:
            assembly.close()
            raise
        return Edition(fingerprint=fingerprint, assembly=assembly, memory=memory)

    def _read(self) -> tuple[str, Config]:
        """Read the configuration together with the fingerprint of exactly these bytes."""
        fingerprint = self._config.fingerprint()
        config = self._config.load()
        for _ in range(ATTEMPTS):
            again = self._config.fingerprint()
            if again == fingerprint:
                break
            fingerprint, config = again, self._config.load()
        return fingerprint, config
