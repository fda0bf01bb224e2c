from pathlib import Path

import pytest
from attrs import frozen
from openmind.application.settings import Settings
from openmind.bootstrap import open_settings
from openmind.domain.errors import ConfigError, JobActive, RemoteNotAllowed, UsageError
from openmind.plugins.manager import load_plugins
from openmind.testing.fakes.models import FakeProvider


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def settings(home: Path) -> Settings:
    return open_settings(home)


def test_looking_makes_nothing(settings: Settings, home: Path) -> None:
    assert settings.get("indexing.background") is True
    assert settings.path == home / "config.toml"
    assert not home.exists()


def test_everything_is_there_with_its_default(settings: Settings) -> None:
    known = settings.all()

    assert known["provider.name"] == "builtin"
    assert known["models.chat_model"] is None
    assert known["indexing.ignore"] == []
    assert known["extraction.images.max_new_tokens"] == 220


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("indexing.workers", "4", 4),
        ("indexing.background", "false", False),
        ("indexing.ignore", '["*.bak", "old/"]', ["*.bak", "old/"]),
        ("models.chat_model", "acme/chat-7b", "acme/chat-7b"),
        ("models.chat_model", '"none"', "none"),
        ("models.chat_model", "12", "12"),
        ("extraction.images.model", "smolvlm-500m-instruct", "smolvlm-500m-instruct"),
        ("plugins.notes.depth", "3", 3),
        ("plugins.notes.style.colour", "red", "red"),
    ],
)
def test_a_value_is_set_as_a_person_writes_it(settings: Settings, key: str, text: str, value: object) -> None:
    assert settings.set(key, text) == value
    assert settings.get(key) == value


def test_none_gives_the_default_back(settings: Settings, home: Path) -> None:
    settings.set("models.chat_model", "a")

    assert settings.set("models.chat_model", "none") is None
    assert "chat_model" not in (home / "config.toml").read_text()
    assert settings.set("indexing.workers", "none") == 0
    assert settings.set("plugins.notes.depth", "none") is None


def test_a_provider_s_keys_are_its_own(settings: Settings) -> None:
    settings.set("provider.name", "lmstudio")

    assert settings.get("provider") == {
        "provider.name": "lmstudio",
        "provider.base_url": "http://localhost:1234",
        "provider.api_token_env": "LM_API_TOKEN",
        "provider.allow_remote": False,
    }
    assert settings.set("provider.base_url", "http://localhost:4321") == "http://localhost:4321"


def test_what_the_built_in_provider_would_ignore_is_refused(settings: Settings, home: Path) -> None:
    with pytest.raises(UsageError, match="The provider builtin has no settings") as caught:
        settings.set("provider.base_url", "http://localhost:4321")

    assert "config set provider.name" in caught.value.hint
    assert not home.exists()


def test_a_wrong_setting_of_a_provider_can_be_mended(settings: Settings, home: Path) -> None:
    settings.set("provider.name", "lmstudio")
    (home / "config.toml").write_text('[provider]\nname = "lmstudio"\nbase_url = "nowhere"\n')

    assert settings.set("provider.base_url", "http://localhost:4321") == "http://localhost:4321"


@pytest.mark.parametrize("name", ["lmstudio", "openai-compatible"])
def test_a_server_elsewhere_is_refused_until_that_is_allowed_and_then_warned_of(settings: Settings, name: str) -> None:
    settings.set("provider.name", name)

    with pytest.raises(RemoteNotAllowed, match="not on this machine") as caught:
        settings.set("provider.base_url", "http://10.1.2.3:1234")
    assert "provider.allow_remote true" in caught.value.hint
    assert settings.get("provider.base_url") != "http://10.1.2.3:1234"

    settings.set("provider.allow_remote", "true")
    assert settings.notices() == ()
    settings.set("provider.base_url", "http://10.1.2.3:1234")
    assert "is sent to http://10.1.2.3:1234" in settings.notices()[0]
    with pytest.raises(RemoteNotAllowed):
        settings.set("provider.allow_remote", "false")
    assert settings.get("provider.allow_remote") is True


@pytest.mark.parametrize(
    ("key", "text", "told"),
    [
        ("indexing.workers", "many", "whole number"),
        ("indexing.workers", "65", "workers"),
        ("indexing.background", "maybe", "true or false"),
        ("provider.name", "nobody", "no provider"),
        ("extraction.ocr.backend", "tesseract", "no OCR engine “tesseract”"),
        ("provider.token", "secret", "no setting"),
        ("provider.base_url", "localhost", "must look like"),
        ("models", "x", "no setting"),
        ("models.chat", "x", "no setting"),
        ("indexing.worker", "3", "no setting"),
        ("indexing.", "3", "no setting"),
        ("", "3", "no setting"),
        ("plugins.notes", "3", "cannot be 3"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(
    settings: Settings, home: Path, key: str, text: str, told: str
) -> None:
    settings.set("provider.name", "lmstudio")
    before = (home / "config.toml").read_bytes()

    with pytest.raises(UsageError, match=told):
        settings.set(key, text)

    assert (home / "config.toml").read_bytes() == before


def test_an_engine_that_is_not_there_is_refused_with_those_that_are(settings: Settings) -> None:
    with pytest.raises(UsageError) as caught:
        settings.set("extraction.ocr.backend", "tesseract")

    assert "ocrmypdf, rapidocr" in caught.value.hint


def test_a_near_miss_is_named(settings: Settings) -> None:
    with pytest.raises(UsageError) as caught:
        settings.get("indexing.worker")

    assert "indexing.workers" in caught.value.hint


def test_a_broken_configuration_is_told_and_left_alone(settings: Settings, home: Path) -> None:
    settings.set("indexing.workers", "1")
    (home / "config.toml").write_text("[indexing\n")

    with pytest.raises(ConfigError, match="TOML"):
        settings.set("indexing.workers", "2")
    with pytest.raises(ConfigError, match="TOML"):
        settings.get("indexing.workers")
    assert (home / "config.toml").read_text() == "[indexing\n"


def test_models_stay_while_files_are_indexed(home: Path) -> None:
    import attrs

    busy = attrs.evolve(open_settings(home), busy=lambda: True)

    for key in ("models.embedding_model", "provider.name", "extraction.images.model"):
        with pytest.raises(JobActive):
            busy.set(key, "lmstudio")
    assert busy.set("extraction.images.max_new_tokens", "100") == 100


def test_sections_written_in_one_line_can_be_changed(settings: Settings, home: Path) -> None:
    settings.set("indexing.workers", "1")
    (home / "config.toml").write_text('provider = {name = "lmstudio"}\n')

    settings.set("provider.base_url", "http://localhost:1")

    assert settings.get("provider.base_url") == "http://localhost:1"


@frozen(kw_only=True)
class KeyedConfig:
    key_file: str


def test_a_provider_that_needs_settings_of_its_own_is_named_together_with_them(tmp_path: Path) -> None:
    plugins = load_plugins()
    plugins.providers.add("acme", lambda _: FakeProvider(), config=KeyedConfig)
    settings = open_settings(tmp_path / "home", plugins=plugins)

    with pytest.raises(UsageError, match="key_file required field missing") as refused:
        settings.set("provider.name", "acme")

    assert f"into [provider] of {settings.path}" in refused.value.hint
