"""A person who answers by a script, and providers to choose from."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from attrs import define, field, frozen
from openmind.application.setup import Beginning, SetupPlan
from openmind.bootstrap import open_beginning
from openmind.domain.errors import ConfigError, ProviderUnreachable, RemoteNotAllowed
from openmind.domain.models import ModelAction, ModelInfo, ModelSelection, ProviderHealth
from openmind.plugins.manager import Plugins, load_plugins
from openmind.plugins.registries import ProviderRegistry
from openmind_cli.choosing import Choosing
from openmind_cli.prompts import Option
from openmind_cli.wishes import Wishes

T = TypeVar("T")


@define
class Person:
    """Answers each question with the next line of the script, which must be among what is offered.

    A line is the label of an option, a list of labels, text, or yes/no; `...` takes what is suggested.
    """

    script: list[object] = field(factory=list)
    told: list[str] = field(factory=list)
    asked: list[str] = field(factory=list)
    offered: dict[str, list[str]] = field(factory=dict)

    def tell(self, *texts: str) -> None:
        self.told += texts

    def select(self, question: str, options: Sequence[Option[T]]) -> T:
        answer = self._answer(question, options)
        chosen = next((o for o in options if o.chosen), options[0]) if answer is ... else self._find(options, answer)
        return chosen.value

    def check(self, question: str, options: Sequence[Option[T]]) -> tuple[T, ...]:
        answer = self._answer(question, options)
        if answer is ...:
            return tuple(option.value for option in options if option.chosen)
        assert isinstance(answer, list)
        return tuple(self._find(options, label).value for label in answer)

    def text(self, question: str, *, default: str = "") -> str:
        answer = self._answer(question, ())
        return default if answer is ... else str(answer)

    def confirm(self, question: str, *, default: bool = True) -> bool:
        answer = self._answer(question, ())
        return default if answer is ... else bool(answer)

    def _answer(self, question: str, options: Sequence[Option[T]]) -> object:
        self.asked.append(question)
        self.offered[question] = [f"{o.label} ({o.about})" if o.about else o.label for o in options]
        assert self.script, f"nobody expected: {question} {self.offered[question]}"
        answer = self.script.pop(0)
        if isinstance(answer, type) and issubclass(answer, BaseException):
            raise answer
        return answer

    def _find(self, options: Sequence[Option[T]], label: object) -> Option[T]:
        found = [option for option in options if option.label == label]
        assert found, f"{label} is not among {[option.label for option in options]}"
        assert not found[0].disabled
        return found[0]


@frozen(kw_only=True)
class ServerConfig:
    """What a fake server is told."""

    base_url: str = "http://localhost:1234"
    api_token_env: str = ""
    allow_remote: bool = False


@define
class Servers:
    """The servers of a small world, by address."""

    up: dict[str, list[ModelInfo]] = field(factory=dict)
    notices: tuple[str, ...] = ()
    fits_better: str | None = None
    """The provider that fits what answers to the one for LM Studio."""
    asked: int = 0


@frozen
class Server:
    """A provider whose models are those of a server that is up."""

    servers: Servers
    config: ServerConfig
    display_name: str

    def __attrs_post_init__(self) -> None:
        if "://" not in self.config.base_url:
            raise ConfigError("base_url must look like http://localhost:1234")
        if "localhost" not in self.config.base_url and not self.config.allow_remote:
            raise RemoteNotAllowed(f"{self.config.base_url} is not on this machine", hint="Edit config.toml.")

    def health(self) -> ProviderHealth:
        try:
            count = len(self.models())
        except ProviderUnreachable as error:
            return ProviderHealth(provider="x", reachable=False, message=error.message, error=error)
        told = f"{self.display_name} has {count} models"
        better = self.servers.fits_better if self.display_name == "LM Studio" else None
        notices = self.servers.notices
        return ProviderHealth(provider="x", reachable=True, message=told, notices=notices, fits_better=better)

    def models(self) -> tuple[ModelInfo, ...]:
        self.servers.asked += 1
        if self.config.base_url not in self.servers.up:
            raise ProviderUnreachable(f"nobody answers at {self.config.base_url}")
        return tuple(self.servers.up[self.config.base_url])

    def load(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        return tuple(ModelAction(model=key, status="loaded") for key in keys)

    def unload(self, keys: Sequence[str]) -> tuple[ModelAction, ...]:
        return tuple(ModelAction(model=key, status="unloaded") for key in keys)

    def selection(self) -> ModelSelection | None:
        return None

    def close(self) -> None:
        """Nothing is open."""


EMBEDDER = ModelInfo(key="embed-a", name="Embed A", type="embedding", loaded=True, quantization="F16")
OTHER_EMBEDDER = ModelInfo(key="embed-b", name="Embed B", type="embedding")
CHAT = ModelInfo(key="chat-a", name="Chat A", type="llm", max_context_length=32_768)
EYES = ModelInfo(key="smolvlm-500m-instruct", name="SmolVLM", type="llm", supports_images=True)


@pytest.fixture
def person() -> Callable[..., Person]:
    """Makes a person who answers by a script."""
    return lambda *script: Person(list(script))


@pytest.fixture
def servers() -> Servers:
    return Servers(up={"http://localhost:1234": [EMBEDDER, OTHER_EMBEDDER, CHAT, EYES]})


@pytest.fixture
def plugins(servers: Servers) -> Plugins:
    """The installed plugins, with fake servers under the names of the real ones."""
    known = load_plugins()
    builtin = known.providers.entries["builtin"].value
    registry = ProviderRegistry()
    registry.add("builtin", builtin.factory)
    registry.add("lmstudio", lambda config: Server(servers, config, "LM Studio"), config=ServerConfig)
    registry.add("openai-compatible", lambda config: Server(servers, config, "Another server"), config=ServerConfig)
    known.providers._entries = dict(registry.entries)
    return known


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def beginning(home: Path, plugins: Plugins) -> Iterator[Beginning]:
    with open_beginning(home, plugins=plugins) as opened:
        yield opened


Plan = Callable[..., SetupPlan]


@pytest.fixture
def plan(beginning: Beginning, tmp_path: Path) -> Plan:
    """Makes a plan with the wishes, and with a person, if there is one."""

    def make(
        person: Person | None = None, *, folders: bool = False, given: tuple[str, ...] = (), **wishes: object
    ) -> SetupPlan:
        choosing = Choosing(
            beginning=beginning,
            wishes=Wishes(**wishes),
            prompter=person,
            given_folders=given,
            person=tmp_path / "person",
        )
        made = choosing.plan(folders=folders)
        assert person is None or person.script == [], person.script
        return made

    return make
