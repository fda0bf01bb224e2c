from pathlib import Path

import pytest
from openmind_stores.lance.durability import durable, flush


def test_new_and_changed_files_are_flushed_then_their_folders(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("same")
    (tmp_path / "hint").write_text("1")
    (tmp_path / "untouched").mkdir()
    flushed: list[str] = []

    with durable(tmp_path, flush=flushed.append):
        (tmp_path / "data" / "deep").mkdir(parents=True)
        (tmp_path / "data" / "deep" / "new").write_text("x")
        (tmp_path / "hint").write_text("22")

    files, folders = flushed[:2], flushed[2:]
    assert sorted(files) == [str(tmp_path / "data" / "deep" / "new"), str(tmp_path / "hint")]
    assert folders == [str(tmp_path), str(tmp_path / "data"), str(tmp_path / "data" / "deep")]


def test_nothing_is_flushed_when_nothing_happened_or_when_it_failed(tmp_path: Path) -> None:
    flushed: list[str] = []

    with durable(tmp_path, flush=flushed.append):
        pass
    with pytest.raises(RuntimeError), durable(tmp_path, flush=flushed.append):  # noqa: PT012
        (tmp_path / "half").write_text("x")
        raise RuntimeError

    assert flushed == []


def test_files_and_folders_can_be_flushed_and_lost_ones_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    flush(str(tmp_path / "file"))
    flush(str(tmp_path))
    flush(str(tmp_path / "lost"))
