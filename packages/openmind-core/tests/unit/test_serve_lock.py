"""One server for each home."""

from pathlib import Path

import pytest
from openmind.adapters.serve_lock import server_of, sole_server
from openmind.domain.errors import HomeServed, HomeUnusable


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "serve.lock"


def test_whoever_comes_second_learns_the_address_of_the_first(path: Path) -> None:
    with sole_server(path) as server:
        server.announce("http://127.0.0.1:8765")
        with pytest.raises(HomeServed, match=r"http://127\.0\.0\.1:8765 already"), sole_server(path):
            pass
        with pytest.raises(HomeServed, match=r"http://127\.0\.0\.1:8765 already"), sole_server(path):
            pass


def test_who_serves_a_home_can_be_asked_without_a_trace(path: Path) -> None:
    assert server_of(path) == ""
    assert not path.exists()
    with sole_server(path) as server:
        assert server_of(path) == "by another process"
        server.announce("http://127.0.0.1:8765")
        assert server_of(path) == "at http://127.0.0.1:8765"
    assert server_of(path) == ""


def test_before_the_first_one_listens_there_is_no_address_to_tell(path: Path) -> None:
    with sole_server(path), pytest.raises(HomeServed, match="by another process"), sole_server(path):
        pass


def test_afterwards_another_one_may_serve(path: Path) -> None:
    with sole_server(path) as server:
        server.announce("http://127.0.0.1:8765")
    with sole_server(path) as server:
        server.announce("http://127.0.0.1:9000")

        assert path.read_text() == "http://127.0.0.1:9000"
    assert path.read_text() == ""


@pytest.mark.parametrize("left", [b"http://127.0.0.1:1", b"\xff\xfe", b"http://evil.example\x1b[2J"])
def test_what_a_killed_server_left_is_not_believed(path: Path, left: bytes) -> None:
    path.write_bytes(left)

    with sole_server(path), pytest.raises(HomeServed, match="by another process"), sole_server(path):
        pass


def test_the_file_is_for_its_owner_only(path: Path) -> None:
    with sole_server(path):
        assert path.stat().st_mode & 0o077 == 0


def test_a_folder_in_its_place_is_told(path: Path) -> None:
    path.mkdir()

    with pytest.raises(HomeUnusable, match=r"serve\.lock cannot be used"), sole_server(path):
        pass


def test_a_server_whose_lock_file_was_deleted_is_not_the_only_one_any_more(path: Path) -> None:
    with sole_server(path) as first:
        first.announce("http://127.0.0.1:1")
        assert first.is_sole()
        path.unlink()
        assert not first.is_sole()
        with sole_server(path) as second:
            second.announce("http://127.0.0.1:2")

            first.announce("http://127.0.0.1:1")

            assert second.is_sole()
            assert not first.is_sole()
            assert path.read_text(encoding="utf-8") == "http://127.0.0.1:2"
