"""The token file: made without a race, for its owner only, and trusted only when it is."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from openmind.adapters.token_file import MIN_CHARS, TokenFile, new_token
from openmind.domain.errors import HomeUnusable

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes and links are of POSIX")


@pytest.fixture
def file(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "api_token")


def test_a_token_is_made_once(file: TokenFile) -> None:
    assert file.read() is None

    token = file.ensure()

    assert len(token) >= MIN_CHARS
    assert file.ensure() == token == file.read()
    assert [path.name for path in file.path.parent.iterdir()] == ["api_token"]


def test_rotating_makes_another(file: TokenFile) -> None:
    former = file.ensure()

    fresh = file.rotate()

    assert fresh != former
    assert file.read() == fresh
    assert [path.name for path in file.path.parent.iterdir()] == ["api_token"]


def test_rotating_makes_the_first_too(file: TokenFile) -> None:
    assert file.rotate() == file.read()


def test_tokens_have_enough_chance_in_them(file: TokenFile) -> None:
    tokens = {file.rotate() for _ in range(20)}

    assert len(tokens) == 20
    assert all(len(token) == 43 for token in tokens)  # 256 bits


@POSIX
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_it_is_its_owner_s_whatever_the_umask(file: TokenFile, mask: int) -> None:
    former = os.umask(mask)
    try:
        file.ensure()
        made = stat.S_IMODE(file.path.stat().st_mode)
        file.rotate()
        rotated = stat.S_IMODE(file.path.stat().st_mode)
    finally:
        os.umask(former)

    assert (made, rotated) == (0o600, 0o600)


@POSIX
def test_it_is_never_readable_by_others_not_even_for_a_moment(file: TokenFile, monkeypatch) -> None:
    """No mode is changed after the file is there: it is made with the right one."""

    def refuse(*_: object) -> None:
        raise AssertionError("a mode was changed")

    for name in ("chmod", "fchmod"):
        monkeypatch.setattr(os, name, refuse)

    file.ensure()
    file.rotate()


def test_twenty_threads_agree_on_one_token(file: TokenFile) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(file.ensure())) for _ in range(20)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 20
    assert set(found) == {file.read()}


def test_processes_agree_on_one_token(file: TokenFile) -> None:
    code = (
        "import sys; from pathlib import Path; from openmind.adapters.token_file import TokenFile; "
        "print(TokenFile(Path(sys.argv[1])).ensure())"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(file.path)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]

    found = {process.communicate()[0].strip() for process in processes}

    assert found == {file.read()}


@POSIX
def test_a_link_in_its_place_is_refused(file: TokenFile, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("x" * 40)
    target.chmod(0o600)
    file.path.symlink_to(target)

    with pytest.raises(HomeUnusable, match="link"):
        file.ensure()
    assert target.read_text() == "x" * 40


@POSIX
def test_a_link_that_leads_nowhere_is_refused_and_nothing_is_made_there(file: TokenFile, tmp_path: Path) -> None:
    file.path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(HomeUnusable):
        file.ensure()
    assert not (tmp_path / "elsewhere").exists()


@POSIX
def test_rotating_replaces_a_link_and_leaves_what_it_leads_to(file: TokenFile, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    file.path.symlink_to(target)

    token = file.rotate()

    assert file.read() == token
    assert target.read_text() == "mine"


@POSIX
@pytest.mark.parametrize("mode", [0o604, 0o640, 0o660, 0o777])
def test_a_file_that_others_can_read_is_not_trusted(file: TokenFile, mode: int) -> None:
    file.ensure()
    file.path.chmod(mode)

    with pytest.raises(HomeUnusable, match="others") as caught:
        file.read()
    assert "--rotate" in caught.value.hint
    file.rotate()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


@POSIX
def test_a_fifo_in_its_place_does_not_block(file: TokenFile) -> None:
    os.mkfifo(file.path, 0o600)

    with pytest.raises(HomeUnusable, match="regular"):
        file.read()


def test_a_folder_in_its_place_is_refused(file: TokenFile) -> None:
    file.path.mkdir()

    with pytest.raises(HomeUnusable):
        file.read()


@pytest.mark.parametrize(
    "text", ["", "short", "x" * 31, "x" * 20 + " " + "x" * 20, "ü" * 40, "x" * 40 + "\n" + "y" * 40]
)
def test_what_is_no_token_lets_nobody_in(file: TokenFile, text: str) -> None:
    file.path.write_text(text, encoding="utf-8")
    file.path.chmod(0o600)

    with pytest.raises(HomeUnusable, match="holds no token"):
        file.read()


def test_blanks_around_a_token_do_not_count(file: TokenFile) -> None:
    file.path.write_text(f"\n  {'x' * 40}  \n")
    file.path.chmod(0o600)

    assert file.read() == "x" * 40


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "gone" / "api_token")

    assert file.read() is None
    with pytest.raises(HomeUnusable):
        file.ensure()


def test_a_file_system_without_links_has_its_token_too(file: TokenFile, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)

    assert file.ensure() == file.read()
    assert [path.name for path in file.path.parent.iterdir()] == ["api_token"]


def test_a_token_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "api_token", new_token=lambda: "é" * 40)  # stands for a disk that takes no byte of it

    with pytest.raises(UnicodeEncodeError):
        file.rotate()

    assert list(tmp_path.iterdir()) == []


def test_no_token_looks_like_an_option() -> None:
    assert all(new_token()[0].isalnum() for _ in range(1_000))  # one of 32 would begin with a dash or a line
