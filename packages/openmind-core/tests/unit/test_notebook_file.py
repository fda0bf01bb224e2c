"""Notes that providers keep in the home."""

from pathlib import Path

import pytest
from openmind.adapters.notebook_file import MOST_NOTES, NotebookFile
from openmind.ports.notebook import FORGETFUL, Notebook
from openmind.testing.contracts.notebook import NotebookContract


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notebook.json"


def test_a_note_is_there_for_the_next_process_and_for_its_own_section(path: Path) -> None:
    NotebookFile(path, "lmstudio").note("http://localhost:1234 acme", "speaks")

    assert NotebookFile(path, "lmstudio").look_up("http://localhost:1234 acme") == "speaks"
    assert NotebookFile(path, "other").look_up("http://localhost:1234 acme") == ""
    assert path.stat().st_mode & 0o077 == 0


class TestNotebookFile(NotebookContract):
    @pytest.fixture
    def notebook(self, path: Path) -> Notebook:
        return NotebookFile(path, "x")


class TestForgetful(NotebookContract):
    @pytest.fixture
    def notebook(self) -> Notebook:
        return FORGETFUL


def test_a_later_note_takes_the_place_of_the_former(path: Path) -> None:
    notebook = NotebookFile(path, "x")
    notebook.note("a", "one")
    notebook.note("a", "two")

    assert notebook.look_up("a") == "two"


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b"\xff", b'{"x a": 1}', b"[" * 90_000])
def test_a_damaged_notebook_is_an_empty_one(path: Path, damage: bytes) -> None:
    path.write_bytes(damage)
    notebook = NotebookFile(path, "x")

    assert notebook.look_up("a") == ""
    notebook.note("a", "one")
    assert notebook.look_up("a") == "one"


def test_without_a_home_nothing_is_made(tmp_path: Path) -> None:
    notebook = NotebookFile(tmp_path / "home" / "notebook.json", "x")

    notebook.note("a", "one")

    assert notebook.look_up("a") == ""
    assert list(tmp_path.iterdir()) == []


def test_it_does_not_grow_for_ever(path: Path) -> None:
    path.write_text("{" + ", ".join(f'"x {n}": "one"' for n in range(MOST_NOTES)) + "}")
    notebook = NotebookFile(path, "x")

    notebook.note("last", "one")

    assert (notebook.look_up("0"), notebook.look_up("1"), notebook.look_up("last")) == ("", "one", "one")
