"""Choosing and loading models."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import attrs
import pytest
from openmind.adapters.toml_config import ConfigFile
from openmind.application.memory import OpenMind
from openmind.bootstrap import open_memory
from openmind.domain.config import Config
from openmind.domain.errors import ConfigError, JobActive, ModelNotFound, ProviderUnreachable
from openmind.domain.ids import JobId
from openmind.domain.jobs import IndexJob, JobState
from openmind.domain.models import ModelAction, ModelInfo, ModelSelection, ProviderChoice
from openmind.plugins.manager import Plugins, load_plugins
from openmind.testing.fakes.models import FakeAnswers, FakeProvider


@attrs.define
class Seeing(FakeProvider):
    """A provider with a model of each kind."""

    closed: int = 0

    def models(self) -> tuple[ModelInfo, ...]:
        return (*super().models(), ModelInfo(key="eyes", name="Eyes", type="llm", supports_images=True))

    def close(self) -> None:
        self.closed += 1


@attrs.define
class Setting:
    """A home whose provider is scripted."""

    home: Path
    provider: Seeing
    other: Seeing
    opened: ExitStack

    def open(self) -> OpenMind:
        """Open the memory until the test has ended."""
        return self.opened.enter_context(open_memory(self.home, plugins=self.plugins()))

    def plugins(self) -> Plugins:
        plugins = load_plugins()
        plugins.providers.add("fake", lambda _: self.provider)
        plugins.providers.add("other", lambda _: self.other)
        return plugins

    def configure(self, text: str) -> None:
        with open_memory(self.home):
            (self.home / "config.toml").write_text(text)

    @property
    def config(self) -> Config:
        return ConfigFile(self.home / "config.toml").load()


@pytest.fixture
def setting(tmp_path: Path) -> Iterator[Setting]:
    with ExitStack() as opened:
        setting = Setting(tmp_path / "home", Seeing(answers=FakeAnswers()), Seeing(answers=FakeAnswers()), opened)
        setting.configure('# mine\n[provider]\nname = "fake"\n[models]\nchat_model = "fake-chat"\n')
        yield setting


def test_the_models_of_the_provider_come_first_and_the_built_in_one_last(setting: Setting) -> None:
    assert [model.key for model in setting.open().models.list()] == ["fake-embedder", "fake-chat", "eyes", "builtin"]


def test_the_built_in_provider_lists_its_model_once(tmp_path: Path) -> None:
    with open_memory(tmp_path / "home") as memory:
        assert [model.key for model in memory.models.list()] == ["builtin"]


def test_installed_providers_are_listed_with_the_configured_one(setting: Setting) -> None:
    found = {provider.name: provider for provider in setting.open().models.providers()}

    assert found.keys() >= {"builtin", "fake", "lmstudio"}
    assert [name for name, provider in found.items() if provider.configured] == ["fake"]
    assert found["fake"].display_name == "Fake"


def test_a_provider_that_cannot_be_built_is_listed_by_its_name(setting: Setting) -> None:
    def broken(_: object) -> FakeProvider:
        raise RuntimeError("no")

    plugins = setting.plugins()
    plugins.providers.add("broken", broken)

    with open_memory(setting.home, plugins=plugins) as memory:
        found = {provider.name: provider.display_name for provider in memory.models.providers()}

    assert found["broken"] == "broken"


def test_what_is_chosen_is_written_down_and_the_rest_of_the_file_stays(setting: Setting) -> None:
    wanted = ModelSelection(chat_model="eyes", embedding_model="fake-embedder", image_model="eyes")

    report = setting.open().models.select(wanted)

    assert report.provider == "fake"
    assert report.selection == wanted
    assert report.embedder_changed
    assert report.unloaded == (ModelAction(model="fake-chat", status="unloaded", skipped=True),)
    assert [action.model for action in report.loaded] == ["eyes", "fake-embedder"]
    assert (setting.home / "config.toml").read_text().startswith("# mine\n")
    assert setting.config.models.chat_model == "eyes"
    assert setting.config.models.embedding_model == "fake-embedder"
    assert setting.config.extraction.images.model == "eyes"


def test_none_removes_the_key(setting: Setting) -> None:
    report = setting.open().models.select(ModelSelection())

    assert not report.embedder_changed
    assert setting.config.models.chat_model is None
    assert "chat_model" not in (setting.home / "config.toml").read_text()


def test_only_models_of_the_former_configuration_are_unloaded(setting: Setting) -> None:
    setting.provider.loaded = {"fake-chat", "fake-embedder", "eyes"}

    report = setting.open().models.select(ModelSelection(chat_model="eyes"))

    assert [action.model for action in report.unloaded] == ["fake-chat"]
    assert setting.provider.loaded == {"fake-embedder", "eyes"}


def test_a_model_that_is_still_chosen_stays_loaded(setting: Setting) -> None:
    setting.provider.loaded = {"fake-chat"}

    report = setting.open().models.select(ModelSelection(chat_model="fake-chat", embedding_model="fake-embedder"))

    assert report.unloaded == ()
    assert report.loaded[0] == ModelAction(model="fake-chat", status="loaded", skipped=True)


def test_without_loading_the_provider_s_memory_is_left_alone(setting: Setting) -> None:
    setting.provider.loaded = {"fake-chat"}

    report = setting.open().models.select(ModelSelection(chat_model="eyes"), load=False)

    assert (report.unloaded, report.loaded) == ((), ())
    assert setting.provider.loaded == {"fake-chat"}
    assert setting.config.models.chat_model == "eyes"


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (ModelSelection(chat_model="nobody"), "no model nobody"),
        (ModelSelection(chat_model="fake-embedder"), "cannot chat"),
        (ModelSelection(chat_model="builtin"), "cannot chat"),
        (ModelSelection(embedding_model="fake-chat"), "no embedding model"),
        (ModelSelection(embedding_model="nobody"), "no model nobody"),
        (ModelSelection(image_model="fake-chat"), "cannot see"),
        (ModelSelection(image_model="builtin"), "cannot see"),
    ],
)
def test_a_model_that_cannot_do_it_is_refused_and_nothing_is_written(
    setting: Setting, wanted: ModelSelection, sentence: str
) -> None:
    before = (setting.home / "config.toml").read_bytes()

    with pytest.raises(ModelNotFound, match=sentence):
        setting.open().models.select(wanted)

    assert (setting.home / "config.toml").read_bytes() == before


def test_a_provider_that_is_down_changes_nothing(setting: Setting) -> None:
    setting.provider.reachable = False

    with pytest.raises(ProviderUnreachable):
        setting.open().models.select(ModelSelection(chat_model="eyes"))

    assert setting.config.models.chat_model == "fake-chat"


def test_the_built_in_embedder_alone_needs_no_provider(setting: Setting) -> None:
    setting.provider.reachable = False

    report = setting.open().models.select(ModelSelection(), load=False)

    assert report.selection == ModelSelection()


def test_nothing_is_chosen_while_a_job_is_unfinished(setting: Setting) -> None:
    memory = setting.open()
    at = memory.jobs.now().isoformat()
    with memory.storage.catalog.writing() as session:
        session.add_job(IndexJob(id=JobId("job_000000000000"), state=JobState.PENDING, started_at=at, updated_at=at))

    with pytest.raises(JobActive):
        memory.models.select(ModelSelection())


def test_another_provider_is_tried_before_it_is_configured(setting: Setting) -> None:
    there = setting.open().models.at(ProviderChoice(name="other"))

    assert there.provider_name == "other"
    assert there.health().reachable
    assert [model.key for model in there.list()][-1] == "builtin"
    assert setting.other.closed == 2
    assert setting.config.provider_name == "fake"


def test_choosing_models_of_another_provider_configures_it(setting: Setting) -> None:
    setting.provider.loaded = {"fake-chat"}
    wanted = ModelSelection(chat_model="fake-chat", embedding_model="fake-embedder")

    report = setting.open().models.at(ProviderChoice(name="other")).select(wanted)

    assert report.provider == "other"
    assert report.embedder_changed
    assert [action.model for action in report.unloaded] == ["fake-chat"]
    assert setting.provider.loaded == set()
    assert setting.other.loaded == {"fake-chat", "fake-embedder"}
    assert setting.config.provider_name == "other"


def test_the_former_provider_s_settings_do_not_stay_behind(tmp_path: Path) -> None:
    setting = Setting(tmp_path / "home", Seeing(), Seeing(), ExitStack())
    setting.configure('[provider]\nname = "lmstudio"\nbase_url = "http://localhost:1"\n')

    setting.open().models.at(ProviderChoice(name="other", settings={"colour": "red"})).select(ModelSelection())

    assert setting.config.provider == {"name": "other", "colour": "red"}


def test_the_built_in_embedder_is_the_same_under_every_provider(setting: Setting) -> None:
    assert not setting.open().models.at(ProviderChoice(name="other")).select(ModelSelection()).embedder_changed


def test_a_provider_that_is_not_installed_is_refused(setting: Setting) -> None:
    with pytest.raises(ConfigError):
        setting.open().models.at(ProviderChoice(name="nobody")).list()


def test_a_former_provider_that_is_not_installed_any_more_can_be_left(setting: Setting) -> None:
    setting.configure('[provider]\nname = "gone"\n[models]\nchat_model = "ghost"\n')

    report = setting.open().models.at(ProviderChoice(name="other")).select(ModelSelection(chat_model="fake-chat"))

    assert report.unloaded[0].status.startswith("failed: ")
    assert setting.config.provider_name == "other"


def test_models_are_loaded_by_name_or_as_configured(setting: Setting) -> None:
    models = setting.open().models

    assert [action.model for action in models.load()] == ["fake-chat", "builtin"]
    assert models.load(["eyes", "builtin", "eyes"]) == (
        ModelAction(model="eyes", status="loaded"),
        ModelAction(model="builtin", status="loaded", skipped=True),
    )
    assert models.load([]) == ()
    with pytest.raises(ModelNotFound):
        models.load(["nobody"])
