"""Where the tables lie."""

from pathlib import Path

import pytest
from openmind.domain.errors import StoreError
from openmind.testing.contracts.chunk_store_promises.samples import TABLE, ask, row, unit
from openmind_stores.lance.chunk_store import LanceChunkStore


@pytest.mark.parametrize(
    "name", ["a b", "a#b?c=d&e;f", "100%", "%41", "ünï 数据", "~me", "s3:x", 'it\'s "x" [y]*', "a\\b"]
)
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    store = LanceChunkStore(tmp_path / name / "lancedb")
    store.create(TABLE, dimension=3)
    store.add(TABLE, [row(1, 0, "alpha", vector=unit(1, 0, 0))])
    store.fold(TABLE)

    found = ask(store, "alpha", vector=unit(1, 0, 0))

    assert len(found.words) == len(found.vectors) == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert store.tables() == (TABLE,)


def test_a_folder_that_lance_cannot_name_is_a_plain_error(tmp_path: Path) -> None:
    store = LanceChunkStore(tmp_path / "new\nline")

    with pytest.raises(StoreError):
        store.create(TABLE, dimension=3)


def test_what_is_put_aside_keeps_its_files_and_is_counted(tmp_path: Path) -> None:
    store = LanceChunkStore(tmp_path)
    for _ in range(2):
        store.create(TABLE, dimension=3)
        store.add(TABLE, [row(1, 0, "alpha")])
        store.quarantine(TABLE)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["chunks.lance.broken-1", "chunks.lance.broken-2"]
    assert store.tables() == ()
    assert store.size_bytes() > 2_000
    assert store.health().rows == {}
