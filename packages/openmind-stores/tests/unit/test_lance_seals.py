"""Files of a table are sealed; what becomes of them is noticed without an engine."""

import os
import shutil
from pathlib import Path

import pytest
from openmind.ports.chunk_store import TableChanges
from openmind_stores.lance.seals import compare, seal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "chunks.lance"
    for name in ("data/a", "data/b", "_indices/1/part"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode() * 100)
        os.utime(path, (1, 1))  # else what is written within the same tick of the clock has the same time
    return folder


def looked(folder: Path, sealed: str, *, closely: bool = False) -> TableChanges:
    return compare(folder, sealed, closely=closely)


def test_nothing_has_changed_when_nothing_was_touched(folder: Path) -> None:
    assert not looked(folder, seal(folder, former=""))


def test_files_that_come_are_fresh_and_files_that_go_are_lost(folder: Path) -> None:
    sealed = seal(folder, former="")
    (folder / "data/c").write_bytes(b"new")
    (folder / "data/a").unlink()

    assert looked(folder, sealed) == TableChanges(fresh=True, lost=("data/a",))


def test_a_file_with_other_bytes_has_changed_whatever_its_size(folder: Path) -> None:
    sealed = seal(folder, former="")
    (folder / "data/a").write_bytes(bytes(600))
    os.truncate(folder / "_indices/1/part", 3)

    assert looked(folder, sealed) == TableChanges(changed=("_indices/1/part", "data/a"))


def test_a_copied_home_is_not_damaged(folder: Path, tmp_path: Path) -> None:
    sealed = seal(folder, former="")
    copied = tmp_path / "elsewhere" / "chunks.lance"
    shutil.copytree(folder, copied, copy_function=shutil.copyfile)
    for number, path in enumerate(copied.rglob("*")):
        os.utime(path, (number, number))

    assert not looked(copied, sealed)


def test_bytes_that_changed_behind_size_and_time_are_seen_when_looking_closely(folder: Path) -> None:
    sealed = seal(folder, former="")
    stat = (folder / "data/a").stat()
    (folder / "data/a").write_bytes(bytes(600))
    os.utime(folder / "data/a", ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert not looked(folder, sealed)
    assert looked(folder, sealed, closely=True) == TableChanges(changed=("data/a",))
    assert seal(folder, former=sealed) == sealed, "what nobody touched is not read again"


def test_the_hint_that_is_written_anew_each_time_is_no_part_of_it(folder: Path) -> None:
    sealed = seal(folder, former="")
    (folder / "latest_version_hint.json").write_text("{}")

    assert not looked(folder, sealed)


@pytest.mark.parametrize("former", ["", "0b5f" * 16, "a\x1fb\x1fc\x1fd", "data/a\x1f1"])
def test_of_a_seal_that_says_nothing_everything_is_fresh(folder: Path, former: str) -> None:
    assert looked(folder, former) == TableChanges(fresh=True)
