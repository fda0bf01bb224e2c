"""Calls from Python that a type checker would have refused are refused in words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openmind import OpenMind, open_memory
from openmind.domain.errors import MemoryClosed, UsageError


@pytest.fixture
def memory(tmp_path: Path):
    with open_memory(tmp_path / "home") as memory:
        yield memory


@pytest.mark.parametrize(
    "call",
    [
        lambda memory: memory.search("x", extensions="md"),
        lambda memory: memory.search("x", sources="src_1"),
        lambda memory: memory.search("x", limit="x"),
        lambda memory: memory.search("x", per_file=None),
        lambda memory: memory.search("x", modified_after="2026-01-01"),
        lambda memory: memory.search(None),
        lambda memory: memory.ask("x", limit="x"),
        lambda memory: memory.ask("x", extensions="md"),
    ],
)
def test_an_argument_of_the_wrong_type_is_told(memory: OpenMind, call: Callable[[Any], object]) -> None:
    with pytest.raises(UsageError) as caught:
        call(memory)

    assert "must be" in caught.value.message


def test_a_memory_that_was_closed_says_so(tmp_path: Path) -> None:
    with open_memory(tmp_path / "home") as memory:
        memory.status()

    for call in (memory.status, lambda: memory.search("x"), lambda: memory.sources.add(tmp_path), memory.sources.list):
        with pytest.raises(MemoryClosed, match="was closed") as caught:
            call()
        assert "open_memory" in caught.value.hint


def test_a_folder_may_be_a_path_and_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The ferry leaves at noon.")
    monkeypatch.chdir(tmp_path)
    with open_memory(tmp_path / "home") as memory:
        memory.sources.add("notes")
        memory.index()

        assert memory.search("ferry", folder="notes").hits
        assert memory.search("ferry", folder=Path("notes")).hits
