import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from openmind.adapters.toml_config import ConfigFile, not_written
from openmind.domain.config import Config
from openmind.domain.errors import ConfigError, StoreFull


@pytest.fixture
def file(tmp_path: Path) -> ConfigFile:
    return ConfigFile(tmp_path / "config.toml")


def test_no_file_means_all_defaults(file: ConfigFile) -> None:
    assert file.load() == Config()


def test_what_is_written_is_read(file: ConfigFile) -> None:
    file.path.write_text('[provider]\nname = "lmstudio"\nbase_url = "http://localhost:1"\n[indexing]\nworkers = 2\n')

    config = file.load()

    assert config.provider_name == "lmstudio"
    assert config.provider_settings == {"base_url": "http://localhost:1"}
    assert config.indexing.workers == 2


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[indexing]\nworkrs = 2", "workrs"),
        ("[indexing]\nworkers = '2'", "workers"),
        ("[indexing]\nworkers = true", "workers"),
        ("[indexing]\nworkers = 999", "workers"),
        ("[extraction.ocr]\nenabled = 'false'", "extraction.ocr.enabled"),
        ("[indexing]\nignore = [1]", "ignore"),
        ("nonsense = 1", "nonsense"),
        ("indexing = 3", "indexing"),
        ("x =", "TOML"),
        ("models = 3", "models must be a section, not 3"),
        ("extraction = 'x'", "extraction must be a section, not 'x'"),
        ("[[extraction.ocr]]\nenabled = true", "extraction.ocr must be a section"),
        ("provider = 3", "provider must be a section, not 3"),
        ("plugins = []", "plugins must be a section"),
        ("[provider]\nname = 3", "provider.name must be text in quotes, not 3"),
        ("[indexing]\nignore = 3", "indexing.ignore must be a list of texts in quotes, not 3"),
        ("[indexing]\nignore = 'build'", "indexing.ignore must be a list of texts in quotes, not 'build'"),
    ],
)
def test_what_is_wrong_is_named(file: ConfigFile, text: str, named: str) -> None:
    file.path.write_text(text)

    with pytest.raises(ConfigError, match=named):
        file.load()


def test_bytes_that_are_no_text_are_refused(file: ConfigFile) -> None:
    file.path.write_bytes(b"# fine\n# caf\xe9\n")

    with pytest.raises(ConfigError, match="not written in UTF-8: line 2 holds other bytes"):
        file.load()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_regular_file_is_refused_and_never_waited_for(
    file: ConfigFile, make: Callable[[Path], None]
) -> None:
    make(file.path)

    with pytest.raises(ConfigError, match="is no regular file"):
        file.load()


def test_a_huge_file_is_refused_without_being_read(file: ConfigFile) -> None:
    with file.path.open("wb") as huge:
        huge.truncate(1 << 40)

    with pytest.raises(ConfigError, match="too large"):
        file.load()


def test_updating_keeps_comments_and_order(file: ConfigFile) -> None:
    file.path.write_text('# why\n[models]\nembedding_model = "a" # note\n')

    file.update({("models", "embedding_model"): "b", ("models", "chat_model"): "c", ("indexing", "workers"): 1})

    text = file.path.read_text()
    assert "# why" in text
    assert "# note" in text
    assert file.load().models.embedding_model == "b"
    assert file.load().models.chat_model == "c"
    assert file.load().indexing.workers == 1


def test_none_removes_a_key(file: ConfigFile) -> None:
    file.path.write_text('[models]\nchat_model = "c"\n')

    file.update({("models", "chat_model"): None})

    assert "chat_model" not in file.path.read_text()


def test_an_update_that_would_not_be_valid_changes_nothing(file: ConfigFile) -> None:
    file.path.write_text("[indexing]\nworkers = 1\n")

    with pytest.raises(ConfigError):
        file.update({("indexing", "workers"): 1_000})

    assert file.path.read_text() == "[indexing]\nworkers = 1\n"


def test_the_fingerprint_follows_the_bytes(file: ConfigFile) -> None:
    before = file.fingerprint()

    file.path.write_text("# a comment")

    assert file.fingerprint() != before


@pytest.mark.parametrize(
    ("number", "kind", "hint"),
    [
        (errno.ENOSPC, StoreFull, "disk space"),
        (errno.EDQUOT, StoreFull, "disk space"),
        (errno.EROFS, ConfigError, "perm"),
    ],
)
def test_a_configuration_that_cannot_be_written_says_why_and_what_to_do(number: int, kind: type, hint: str) -> None:
    told = not_written(Path("/home/ada/.openmind/config.toml"), OSError(number, os.strerror(number)))

    assert type(told) is kind
    assert "config.toml" in told.message
    assert hint in told.hint
