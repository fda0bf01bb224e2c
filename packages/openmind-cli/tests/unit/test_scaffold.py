"""`openmind plugins new`: the package that it writes works at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from openmind.domain.errors import UsageError
from openmind.plugins.manager import load_plugins
from openmind_cli.dispatch import dispatch
from openmind_cli.installed import names_taken
from openmind_cli.scaffold import Kind, write_package


@pytest.mark.parametrize("kind", ["extractor", "provider"])
def test_what_is_written_passes_its_own_tests_at_once(kind: Kind, tmp_path: Path, tests_of) -> None:
    folder = write_package("old-songs", kind, tmp_path)

    ran = tests_of(folder)

    assert ran.returncode == 0, ran.stdout
    assert " passed" in ran.stdout
    assert not [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and "acme" in path.read_bytes().decode().lower()
    ]


@pytest.mark.parametrize("kind", ["extractor", "provider"])
def test_what_is_written_is_tidy(kind: Kind, tmp_path: Path) -> None:
    folder = write_package("songs", kind, tmp_path)
    settings = Path(__file__).parents[4] / "pyproject.toml"

    for command in (["check", "--no-cache"], ["format", "--check", "--no-cache"]):
        ran = subprocess.run(
            [
                sys.executable,
                "-m",
                "ruff",
                *command,
                "--config",
                str(settings),
                "--config",
                'lint.ignore=["I", "D"]',
                str(folder),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("name", ["", "My Songs", "../songs", "sóngs", "openmind-", "-songs", "a" * 60])
def test_a_name_that_cannot_be_one_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no name for a plugin"):
        write_package(name, "extractor", tmp_path)

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["stores", "openmind-core", "api", "markdown", "local"])
def test_a_name_of_another_plugin_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is taken by the package openmind-"):
        write_package(name, "extractor", tmp_path, taken=names_taken(load_plugins()))

    assert not list(tmp_path.iterdir())


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "openmind-songs").mkdir()

    with pytest.raises(UsageError, match="is there already"):
        write_package("songs", "extractor", tmp_path)


def test_the_prefix_may_be_given(tmp_path: Path) -> None:
    assert write_package("openmind-songs", "provider", tmp_path).name == "openmind-songs"


def test_a_program_is_told_where_the_package_is_and_how_it_is_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["plugins", "new", "songs", "--into", str(tmp_path), "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert told["folder"] == str(tmp_path / "openmind-songs")
    assert "--editable" in told["install"]
