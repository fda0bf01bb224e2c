"""Notes that providers keep in the home."""

import json
from pathlib import Path
from typing import Any

import pytest
from openmind.adapters.notebook_file import MAX_BYTES, MAX_NOTE, MOST_NOTES, NotebookFile
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


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[1]", b"\xff", b'{"x a": 1}', b'{"x": 1}', b'{"x": {"a": 1}}', b"[" * 90_000]
)
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
    path.write_text(json.dumps({"x": {str(number): "one" for number in range(MOST_NOTES)}}))
    notebook = NotebookFile(path, "x")

    notebook.note("last", "one")

    assert (notebook.look_up("0"), notebook.look_up("1"), notebook.look_up("last")) == ("", "one", "one")


def test_no_provider_takes_the_room_of_another(path: Path) -> None:
    mine, other = NotebookFile(path, "x"), NotebookFile(path, "y")
    mine.note("model", "thinks")
    path.write_text(json.dumps({"x": {"model": "thinks"}, "y": {str(n): "y" * MAX_NOTE for n in range(MOST_NOTES)}}))

    other.note("last", "y" * MAX_NOTE)
    other.note("too long", "y" * (MAX_NOTE + 1))

    assert (mine.look_up("model"), other.look_up("0"), other.look_up("too long")) == ("thinks", "", "")
    assert other.look_up("last") == "y" * MAX_NOTE


def test_names_of_sections_never_run_into_names_of_notes(path: Path) -> None:
    NotebookFile(path, "a").note("b c", "one")

    assert NotebookFile(path, "a b").look_up("c") == ""


def test_a_file_is_never_made_that_is_too_large_to_be_read(path: Path) -> None:
    full = json.dumps({"y": {"model": "thinks"}, "z": {str(n): "z" * 9_000 for n in range(MAX_BYTES // 9_100)}})
    path.write_text(full)

    for number in range(MOST_NOTES):
        NotebookFile(path, "x").note(str(number), "x" * MAX_NOTE)

    assert len(full) < path.stat().st_size <= MAX_BYTES
    assert NotebookFile(path, "y").look_up("model") == "thinks"


@pytest.mark.parametrize("odd", [b"bytes", 1, None, ["list"]])
def test_what_is_no_text_is_not_kept_and_nothing_fails(path: Path, odd: Any) -> None:
    notebook = NotebookFile(path, "x")

    notebook.note("a", odd)
    notebook.note(odd, "a")

    assert (notebook.look_up("a"), notebook.look_up(odd)) == ("", "")
