import os
import stat
from pathlib import Path

import pytest
from openmind.adapters.home import MARKER, Home
from openmind.domain.errors import HomeForeign, HomeMissing, HomeUnsafe, HomeUnusable


def test_the_home_is_private_and_marked(tmp_path: Path) -> None:
    home = Home.at(tmp_path / "deep" / "home")

    home.create()

    assert stat.S_IMODE(home.folder.stat().st_mode) == 0o700
    assert (home.folder / MARKER).is_file()


def test_creating_twice_changes_nothing(tmp_path: Path) -> None:
    home = Home.at(tmp_path / "home")
    home.create()
    home.config_file.write_text("# mine")

    home.create()

    assert home.config_file.read_text() == "# mine"


def test_a_missing_home_is_not_created_by_asking_for_it(tmp_path: Path) -> None:
    home = Home.at(tmp_path / "home")

    with pytest.raises(HomeMissing):
        home.require()

    assert not home.folder.exists()


@pytest.mark.parametrize("left", [None, b""])
def test_a_home_whose_catalog_is_gone_or_was_emptied_is_no_new_memory(tmp_path: Path, left: bytes | None) -> None:
    home = Home.at(tmp_path)
    home.create()
    (tmp_path / "lancedb").mkdir()
    if left is not None:
        (tmp_path / "openmind.sqlite").write_bytes(left)

    for enter in (home.require, home.create):
        with pytest.raises(HomeMissing, match="is gone, and with it what was remembered"):
            enter()
    (tmp_path / "lancedb").rmdir()
    home.create()


def test_an_empty_folder_becomes_a_home_but_is_none_yet(tmp_path: Path) -> None:
    home = Home.at(tmp_path)

    with pytest.raises(HomeMissing):
        home.require()
    home.create()
    home.require()


def test_a_folder_with_somebody_s_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")

    with pytest.raises(HomeForeign):
        Home.at(tmp_path).create()

    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_in_the_place_of_the_home_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "home"
    path.write_text("a file")

    with pytest.raises((HomeForeign, HomeUnusable)):
        Home.at(path).create()


def test_the_root_and_the_person_s_own_folder_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    for folder in (Path("/"), tmp_path):
        with pytest.raises(HomeUnsafe):
            Home.at(folder).create()


def test_a_legacy_home_is_ours(tmp_path: Path) -> None:
    (tmp_path / "openmind.sqlite").write_bytes(b"")

    Home.at(tmp_path).create()

    assert (tmp_path / MARKER).is_file()


def test_the_environment_names_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENMIND_HOME", os.fspath(tmp_path / "elsewhere"))

    assert Home.at(None).folder == tmp_path / "elsewhere"


def test_a_file_where_a_folder_belongs_is_named_with_its_own_path(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    home.create()
    home.logs.rmdir()
    home.logs.write_text("mine")

    with pytest.raises(HomeUnusable, match=str(home.logs)) as told:
        home.create()

    assert "Move it away" in told.value.hint
