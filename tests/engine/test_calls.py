"""Calls from Python that a type checker would have refused are refused in words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openmind import OpenMind, open_memory
from openmind.domain.errors import MemoryClosed, UsageError


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory):
    with open_memory(tmp_path_factory.mktemp("called") / "home") as memory:
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
        lambda memory: memory.index(progress=3),
        lambda memory: memory.index(control="stop"),
        lambda memory: memory.index(accept_deletions="yes"),
        lambda memory: memory.index(retry=1),
        lambda memory: memory.sources.add("/", recursive="no"),
        lambda memory: memory.sources.add(None),
        lambda memory: memory.sources.get(3),
        lambda memory: memory.sources.change(3),
        lambda memory: memory.sources.change("src_1", ocr="no"),
        lambda memory: memory.sources.remove(None),
        lambda memory: memory.documents.get(3),
        lambda memory: memory.documents.chunks(3),
        lambda memory: memory.documents.chunks("file_1", limit="9"),
        lambda memory: memory.documents.open(None),
        lambda memory: memory.documents.list(source_id=3),
        lambda memory: memory.documents.list(after="a"),
        lambda memory: memory.documents.shown(limit=None),
    ],
)
def test_an_argument_of_the_wrong_type_is_told(memory: OpenMind, call: Callable[[Any], object]) -> None:
    with pytest.raises(UsageError) as caught:
        call(memory)

    assert "must be" in caught.value.message


@pytest.mark.parametrize(
    "arguments", [{"home": 3}, {"embedder": object()}, {"embedder": "letters"}, {"plugins": "none"}, {"create": "no"}]
)
def test_arguments_of_a_wrong_type_are_refused_in_words(arguments: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        open_memory(**{"home": tmp_path / "home", **arguments}).__enter__()  # type: ignore[arg-type]

    assert not (tmp_path / "home").exists()


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
