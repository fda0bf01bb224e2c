"""What is OpenMind's own in its home, and what is a stranger's."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from attrs import define
from openmind.adapters.home import Home
from openmind.adapters.home_contents import HomeKeeper
from openmind.testing.contracts.home_keeping import HomeKeepingContract

OWN = [
    "config.toml",
    ".config.toml.x1y2",
    "openmind.sqlite",
    "openmind.sqlite-wal",
    "openmind.sqlite-shm",
    "api_token",
    ".api_token.0011223344556677",
    "index.lock",
    "catalog.lock",
    "serve.lock",
    "notebook.json",
    ".notebook.json.abc",
    "lancedb/chunks.lance/data/1.lance",
    "lancedb/chunks_2.lance/_versions/1.manifest",
    "lancedb/chunks.lance.broken-1/data/1.lance",
    "logs/openmind.log",
    "logs/openmind.log.1",
    "logs/index-job_001122334455.log",
    "logs/api.jsonl",
    "tmp/worker-abc/log",
]
STRANGERS = ["thesis.docx", "config.toml.bak", "photos/a.jpg", "lancedb/mine.lance/1", "logs/diary.txt", "tmp/draft.md"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    Home(folder).create()
    for name in (*OWN, *STRANGERS):
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(b"12345")
        path.chmod(0o600)
    return folder


@define
class DiskHome:
    """A home that was just made."""

    folder: Path

    @property
    def keeper(self) -> HomeKeeper:
        return HomeKeeper(self.folder)

    def snapshot(self) -> Mapping[str, object]:
        entries = {str(path): path.lstat() for path in self.folder.rglob("*")}
        return {path: (found.st_mode, found.st_mtime_ns, found.st_ino) for path, found in entries.items()}

    def write_log(self, text: str) -> str:
        written = len(list((self.folder / "logs").glob("index-*")))
        return self._write(f"logs/index-job_{written:012}.log", text)

    def leave(self) -> str:
        left = len(list((self.folder / "tmp").glob("worker-*")))
        return str(Path(self._write(f"tmp/worker-{left}/log", "secret")).parent)

    def bring(self) -> tuple[str, ...]:
        names = ("thesis.docx", "logs/diary.txt", "tmp/draft.md", "lancedb/mine.db")
        return tuple(self._write(name, "mine", mode=0o644) for name in names)

    def open(self) -> tuple[str, ...]:
        self.folder.chmod(0o755)
        return str(self.folder), self._write("logs/openmind.log", "open", mode=0o644)

    def block(self) -> str:
        if (self.folder / "tmp").is_dir():
            (self.folder / "tmp").rmdir()
        return self._write("tmp", "in the way")

    def _write(self, name: str, text: str, *, mode: int = 0o600) -> str:
        path = self.folder / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if path.parent.parent == self.folder / "tmp":
            path.parent.chmod(0o700)
        path.write_text(text)
        path.chmod(mode)
        return str(path)


class TestHomeKeeper(HomeKeepingContract):
    @pytest.fixture
    def world(self, tmp_path: Path) -> DiskHome:
        Home(tmp_path / "kept").create()
        return DiskHome(tmp_path / "kept")


def relative(home: Path, paths) -> set[str]:
    return {str(Path(path).relative_to(home)) for path in paths}


def test_each_entry_belongs_to_openmind_or_to_a_stranger(home: Path) -> None:
    contents = HomeKeeper(home).contents()

    own = relative(home, (entry.path for entry in contents.own))
    assert all(any(name == entry or name.startswith(f"{entry}/") for entry in own) for name in OWN)
    assert relative(home, contents.strangers) == {
        "thesis.docx",
        "config.toml.bak",
        "photos",
        "lancedb/mine.lance",
        "logs/diary.txt",
        "tmp/draft.md",
    }
    assert contents.size_bytes == len(OWN) * 5 + (home / ".openmind-home").stat().st_size


def test_removing_leaves_strangers_where_they_are(home: Path) -> None:
    keeper = HomeKeeper(home)

    keeper.remove(keeper.contents())

    left = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert left == set(STRANGERS)


def test_a_home_without_strangers_is_gone_afterwards(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    Home(folder).create()
    keeper = HomeKeeper(folder)

    keeper.remove(keeper.contents())

    assert not folder.exists()


def test_a_link_goes_and_what_it_leads_to_stays(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "big-disk"
    (home / "lancedb").rename(elsewhere)
    (home / "lancedb").symlink_to(elsewhere)
    secret = tmp_path / "secret.txt"
    secret.write_text("mine")
    (home / "logs" / "index-job_1.log").symlink_to(secret)
    keeper = HomeKeeper(home)

    contents = keeper.contents()
    keeper.remove(contents)

    assert relative(home, contents.links) == {"lancedb", "logs/index-job_1.log"}
    assert (elsewhere / "chunks.lance" / "data" / "1.lance").exists()
    assert secret.read_text() == "mine"
    assert not (home / "lancedb").is_symlink()


def test_logs_are_cleared_and_nothing_else(home: Path) -> None:
    assert HomeKeeper(home).clear_logs() == 4

    assert [path.name for path in (home / "logs").iterdir()] == ["diary.txt"]


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
def test_what_others_may_look_into_is_found_and_closed(home: Path) -> None:
    home.chmod(0o755)
    (home / "lancedb" / "chunks.lance").chmod(0o755)
    (home / "thesis.docx").chmod(0o644)
    keeper = HomeKeeper(home)

    assert {".", "lancedb/chunks.lance"} <= relative(home, keeper.condition().open_to_others)
    keeper.close_to_others()

    assert keeper.condition().open_to_others == ()
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "lancedb" / "chunks.lance").stat().st_mode & 0o777 == 0o700
    assert (home / "thesis.docx").stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(os.name != "posix", reason="file modes are those of POSIX")
def test_behind_a_closed_home_only_the_token_has_to_be_closed_too(home: Path) -> None:
    (home / "openmind.sqlite").chmod(0o644)
    keeper = HomeKeeper(home)
    assert keeper.condition().open_to_others == ()

    (home / "api_token").chmod(0o644)

    assert relative(home, keeper.condition().open_to_others) == {"api_token"}
    assert keeper.close_to_others() == 1


def test_leftovers_of_dead_workers_go(home: Path) -> None:
    keeper = HomeKeeper(home)

    assert relative(home, keeper.condition().leftovers) == {"tmp/worker-abc"}
    assert keeper.drop_leftovers() == 1
    assert [path.name for path in (home / "tmp").iterdir()] == ["draft.md"]
