"""Settings: the configuration, one value at a time, as people name them."""

import difflib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs
from attrs import frozen

from openmind.application.models.service import require_idle
from openmind.domain.config import Config
from openmind.domain.errors import ConfigError, RemoteNotAllowed, UsageError

UNSET = "none"
"""What people write for no value at all."""
OF_MODELS = ("provider.", "models.", "extraction.images.model")
"""Keys that say which models are used: a job that is under way must not lose them."""

Changes = Mapping[tuple[str, ...], object]


@frozen(kw_only=True)
class Settings:
    """Reads and changes `config.toml`. Every value is checked before it is written."""

    path: Path
    load: Callable[[], Config]
    update: Callable[[Changes], None]
    """Writes what is valid; None removes a key."""
    provider_settings: Callable[[Config], Mapping[str, object]]
    """Gives the keys of `[provider]` as that provider understands them, defaults included."""
    busy: Callable[[], bool]
    """Whether anything is being indexed."""
    provider_notices: Callable[[Config], tuple[str, ...]] = lambda _: ()
    """Gives what a person should know of the settings under `[provider]`."""

    def all(self) -> dict[str, object]:
        """Every key with its value, defaults included; None where nothing is set.

        Raises:
            ConfigError
        """
        config = self.load()
        whole = attrs.asdict(config)
        whole["provider"] = {"name": config.provider_name, **self.provider_settings(config)}
        return dict(_flat(whole))

    def get(self, key: str) -> object:
        """The value of a key, its default included; a section gives all of its keys.

        Raises:
            UsageError: there is no such key.
            ConfigError
        """
        known = self.all()
        if key in known:
            return known[key]
        section = {name: value for name, value in known.items() if name.startswith(f"{key}.")}
        if not section:
            raise _unknown(key, known)
        return section

    def set(self, key: str, text: str) -> object:
        """Set a key to a value as a person writes it; returns the value it has then.

        Args:
            key: such as `indexing.workers`.
            text: a TOML value, or text without quotes; `none` removes the key, so that its default holds.

        Raises:
            UsageError: there is no such key, or the value does not fit.
            JobActive: files are being indexed and the key says which models or which storage are used.
            RemoteNotAllowed: the provider's server would be on another machine, and nobody allowed that.
            ConfigError: the configuration is not valid already, or cannot be written.
        """
        before = self.load()
        if key.startswith(OF_MODELS):
            require_idle(self.busy())
        elif key.startswith("storage."):
            require_idle(self.busy(), what="The storage")
        path = tuple(key.split("."))
        if len(path) < 2 or not all(path):
            raise _unknown(key, self.all())
        if path[0] == "provider" and path[1:] != ("name",) and text.strip() != UNSET:
            self._require_settings_of_provider(before)
        told: ConfigError | None = None
        for value in _readings(text):
            try:
                self.update({path: value})
            except RemoteNotAllowed:
                raise
            except ConfigError as error:
                told = told or error
                continue
            return self.all().get(key, value)
        if key not in self.all() and not key.startswith("plugins."):
            raise _unknown(key, self.all())
        raise UsageError(f"{key} cannot be {text}: {told.message if told else ''}", hint=self._hint(key, told))

    def notices(self) -> tuple[str, ...]:
        """What a person should know of the provider's settings as they are: that text leaves the machine.

        Raises:
            ConfigError
        """
        return self.provider_notices(self.load())

    def _require_settings_of_provider(self, config: Config) -> None:
        """Refuse to write what the provider would never read.

        Raises:
            UsageError
        """
        try:
            takes_some = bool(self.provider_settings(config))
        except ConfigError:  # the new value may be what mends them
            return
        if not takes_some:
            raise UsageError(
                f"The provider {config.provider_name} has no settings",
                hint="Choose another one first: `openmind setup`, or `openmind config set provider.name lmstudio`.",
            )

    def _hint(self, key: str, told: ConfigError | None) -> str:
        if key == "provider.name" and told is not None and f"{self.path}: [provider]" in told.message:
            return f"Its settings belong together: write them with its name into [provider] of {self.path}."
        hint = told.hint if told is not None else ""
        return hint or "`openmind config get` lists the settings; docs/cli.md says what they take."


def _readings(text: str) -> tuple[object, ...]:
    """What a value may mean, the likeliest first."""
    if text.strip() == UNSET:
        return (None,)
    try:
        return (tomllib.loads(f"value = {text}")["value"], text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return (text,)


def _flat(section: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in section.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{key}.")
        else:
            yield key, list(value) if isinstance(value, tuple) else value


def _unknown(key: str, known: Mapping[str, object]) -> UsageError:
    close = difflib.get_close_matches(key, known, n=1)
    found = f"Did you mean {close[0]}? " if close else ""
    return UsageError(f"There is no setting {key}", hint=f"{found}`openmind config get` lists them all.")
