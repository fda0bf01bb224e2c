import os
import random
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import define, evolve
from openmind.adapters.ignore_files import MAX_BYTES, MAX_LINES
from openmind.adapters.local_files import LocalFileTree
from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.ids import SourceId
from openmind.domain.sources import Source
from openmind.ports.file_tree import FoundFile, NoFile, Obstacle
from openmind.testing.contracts.file_tree import FileTreeContract, FileWorld
from openmind.testing.fakes.files import MemoryFileTree


@define
class DiskWorld:
    folder: Path
    tree: LocalFileTree

    @property
    def root(self) -> bytes:
        return os.fsencode(self.folder)

    def at(self, path: bytes) -> Path:
        return self.folder / os.fsdecode(path)

    def write(self, path: bytes, data: bytes) -> None:
        self.at(path).parent.mkdir(parents=True, exist_ok=True)
        self.at(path).write_bytes(data)

    def plant(self, path: bytes, mode: int) -> None:
        if mode == stat.S_IFIFO:
            os.mkfifo(self.at(path))
        else:
            self.at(path).symlink_to(self.folder)

    def remove(self, path: bytes) -> None:
        self.at(path).unlink()

    def deny(self, path: bytes) -> None:
        """The administrator may read everything, so tests that run as such become nobody until they end."""
        self.at(path).chmod(0)
        if os.geteuid() == 0:
            os.seteuid(65534)


@pytest.fixture
def world() -> Iterator[DiskWorld]:
    folder = Path(tempfile.mkdtemp()).resolve()  # not `tmp_path`: nobody may not pass through that
    folder.chmod(0o755)
    uid = os.geteuid()
    try:
        yield DiskWorld(folder, LocalFileTree())
    finally:
        os.seteuid(uid)
        for path in folder.rglob("*"):
            if not path.is_symlink():
                path.chmod(0o755)
        shutil.rmtree(folder)


@define
class MemoryWorld:
    tree: MemoryFileTree
    root: bytes = b"/memory/notes"

    def at(self, path: bytes) -> bytes:
        return self.root + b"/" + path

    def write(self, path: bytes, data: bytes) -> None:
        self.tree.write(self.at(path), data)

    def plant(self, path: bytes, mode: int) -> None:
        self.tree.plant(self.at(path), mode)

    def remove(self, path: bytes) -> None:
        self.tree.remove(self.at(path))

    def deny(self, path: bytes) -> None:
        self.tree.deny(self.at(path))


class TestLocalFileTree(FileTreeContract):
    @pytest.fixture
    def world(self, world: DiskWorld) -> FileWorld:
        return world


class TestMemoryFileTree(FileTreeContract):
    @pytest.fixture
    def world(self) -> FileWorld:
        return MemoryWorld(MemoryFileTree())


def source(folder: Path) -> Source:
    return Source(id=SourceId("src_1"), path_bytes=os.fsencode(folder), created_at="")


def scan(folder: Path, *patterns: str) -> list[FoundFile | Obstacle | NoFile]:
    return list(LocalFileTree(patterns).scan(source(folder), lambda extension: extension in {".txt", ".md"}))


def names(folder: Path, *patterns: str) -> list[str]:
    found_files = (found for found in scan(folder, *patterns) if not isinstance(found, NoFile))
    return [os.fsdecode(found.path_bytes[len(os.fsencode(folder)) + 1 :]) for found in found_files]


def included(folder: Path, *paths: str) -> list[str]:
    found = LocalFileTree().included(source(folder), [os.fsencode(folder / path) for path in paths])
    return [os.fsdecode(path[len(os.fsencode(folder)) + 1 :]) for path in found]


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_loop_of_links_and_a_link_out_of_the_source_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "outside/secret.txt")
    write(tmp_path / "in/a.txt")
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")
    (tmp_path / "in/out").symlink_to(tmp_path / "outside")

    assert names(tmp_path / "in") == ["a.txt"]


def test_a_socket_is_passed_over_and_refused_when_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket may not be long
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("odd.txt")

        assert names(tmp_path) == []
        with (
            pytest.raises(ExtractionFailed) as caught,
            LocalFileTree().open(os.fsencode(tmp_path / "odd.txt")),
        ):
            pass
        assert caught.value.reason is FileReason.UNSUPPORTED


def test_a_device_is_refused() -> None:
    with pytest.raises(ExtractionFailed) as caught, LocalFileTree().open(b"/dev/zero"):
        pass

    assert caught.value.reason is FileReason.UNSUPPORTED


def test_a_file_below_a_folder_that_became_a_link_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "real/a.txt", "mine")
    write(tmp_path / "elsewhere/a.txt", "not mine")
    path = os.fsencode(tmp_path / "real/a.txt")
    (tmp_path / "real").rename(tmp_path / "moved")
    (tmp_path / "real").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ExtractionFailed) as caught, LocalFileTree().open(path):
        pass

    assert caught.value.reason is FileReason.VANISHED


def test_no_descriptor_is_left_open_when_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    before = len(os.listdir("/dev/fd"))

    for _ in range(5):
        with pytest.raises(ExtractionFailed), LocalFileTree().open(os.fsencode(tmp_path / "pipe.txt")):
            pass

    assert len(os.listdir("/dev/fd")) == before


def test_a_nul_byte_in_a_path_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ExtractionFailed), LocalFileTree().open(os.fsencode(tmp_path) + b"/a\0b.txt"):
        pass

    assert LocalFileTree().stat(os.fsencode(tmp_path) + b"/a\0b.txt") is None


def test_a_folder_that_has_become_a_link_or_a_file_is_not_present(tmp_path: Path) -> None:
    write(tmp_path / "file")
    (tmp_path / "link").symlink_to(tmp_path)

    for name in ("file", "link"):
        state = LocalFileTree().root(source(tmp_path / name))
        assert not state.present
        assert state.message


def test_a_missing_root_is_an_obstacle_so_that_nothing_is_taken_for_gone(tmp_path: Path) -> None:
    [obstacle] = scan(tmp_path / "gone")

    assert isinstance(obstacle, Obstacle)
    assert obstacle.reason is FileReason.VANISHED
    assert obstacle.path_bytes == os.fsencode(tmp_path / "gone") + b"/"


def test_a_folder_that_vanishes_during_the_scan_is_an_obstacle(tmp_path: Path) -> None:
    write(tmp_path / "a/1.txt")
    write(tmp_path / "b/2.txt")
    walk = LocalFileTree().scan(source(tmp_path), lambda extension: True)
    next(walk)
    shutil.rmtree(tmp_path / "b")

    [obstacle] = walk

    assert isinstance(obstacle, Obstacle)
    assert obstacle.reason is FileReason.VANISHED


def test_a_file_that_vanishes_during_the_scan_does_not_come(tmp_path: Path) -> None:
    for name in ("1.txt", "2.txt", "3.txt"):
        write(tmp_path / name)
    walk = LocalFileTree().scan(source(tmp_path), lambda extension: True)
    next(walk)
    (tmp_path / "2.txt").unlink()

    [last] = walk

    assert last.path_bytes.endswith(b"/3.txt")


def test_case_only_differences_are_different_files(tmp_path: Path) -> None:
    write(tmp_path / "Notes.txt")
    write(tmp_path / "notes.txt")
    if len(os.listdir(tmp_path)) == 1:
        pytest.skip("this file system takes them for the same name")

    assert names(tmp_path) == ["Notes.txt", "notes.txt"]


def test_a_path_near_the_limit_of_the_system_is_found_and_opened(tmp_path: Path) -> None:
    folder = tmp_path
    while len(os.fsencode(folder)) < 3_700:
        folder /= "d" * 200
    write(folder / f"{'f' * (3_990 - len(os.fsencode(folder)))}.txt", "deep")

    [found] = scan(tmp_path)

    assert len(found.path_bytes) > 3_900
    with LocalFileTree().open(found.path_bytes) as file:
        assert file.read() == b"deep"


def test_a_path_beyond_the_limit_of_the_system_is_an_obstacle_and_its_neighbour_is_found(tmp_path: Path) -> None:
    write(tmp_path / "z.txt")
    below = os.open(tmp_path, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=below)
        deeper = os.open("d" * 200, os.O_RDONLY, dir_fd=below)
        os.close(below)
        below = deeper
    os.close(os.open("deep.txt", os.O_CREAT | os.O_WRONLY, dir_fd=below))
    os.close(below)

    obstacle, neighbour = scan(tmp_path)

    assert isinstance(obstacle, Obstacle)
    assert obstacle.reason is FileReason.UNSUPPORTED
    assert "longer" in obstacle.message
    assert neighbour.path_bytes.endswith(b"/z.txt")
    shutil.rmtree(tmp_path / ("d" * 200))  # safe for such depths, unlike what cleans `tmp_path` up later


def test_patterns_of_the_configuration_hold_everywhere(tmp_path: Path) -> None:
    for name in ("a.txt", "drafts/b.txt", "sub/drafts/c.txt", "sub/d.md"):
        write(tmp_path / name)

    assert names(tmp_path, "drafts/", "*.md") == ["a.txt"]


def test_an_unreadable_ignore_file_hides_its_folder_rather_than_show_too_much(world: DiskWorld) -> None:
    world.write(b"sub/.openmindignore", b"*.txt")
    world.write(b"sub/a.txt", b"")
    world.write(b"b.txt", b"")
    world.deny(b"sub/.openmindignore")

    b, obstacle = scan(world.folder)

    assert b.path_bytes.endswith(b"/b.txt")
    assert isinstance(obstacle, Obstacle)
    assert obstacle.path_bytes.endswith(b"/sub/")
    assert obstacle.reason is FileReason.DENIED


def planted(at: Path, kind: str) -> None:
    if kind == "link":
        at.symlink_to(at.parent.parent / "patterns")
    elif kind == "pipe":
        os.mkfifo(at)
    elif kind == "folder":
        at.mkdir()
    else:
        at.write_text("\n" * MAX_LINES if kind == "lines" else "x" * (MAX_BYTES + 1))


@pytest.mark.parametrize("name", [".gitignore", ".openmindignore"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "lines", "bytes"])
def test_an_ignore_file_that_cannot_be_used_hides_its_folder_and_is_named(tmp_path: Path, name: str, kind: str) -> None:
    for path in ("patterns", "a/1.txt", "b.txt"):
        write(tmp_path / path, "*.txt")
    planted(tmp_path / "a" / name, kind)

    obstacle, b = scan(tmp_path)

    assert isinstance(obstacle, Obstacle)
    assert obstacle.path_bytes == os.fsencode(tmp_path / "a") + b"/"
    assert obstacle.message.startswith(f"Its {name} ")
    assert obstacle.message.endswith("so nothing in the folder is read")
    assert b.path_bytes == os.fsencode(tmp_path / "b.txt")


def test_a_source_in_a_repository_keeps_to_what_git_leaves_out_above_it(tmp_path: Path) -> None:
    write(tmp_path / ".gitignore", "*.md")
    write(tmp_path / "repo/.gitignore", "*.log.txt\n/docs/deep/private/\n")
    write(tmp_path / "repo/docs/.gitignore", "!keep.log.txt")
    (tmp_path / "repo/.git").mkdir()
    for path in ("a.txt", "a.log.txt", "keep.log.txt", "b.md", "private/c.txt"):
        write(tmp_path / "repo/docs/deep" / path)

    assert names(tmp_path / "repo/docs/deep") == ["a.txt", "b.md", "keep.log.txt"]
    assert included(tmp_path / "repo/docs/deep", "a.txt", "a.log.txt", "private/c.txt") == ["a.txt"]


def test_a_source_that_its_repository_leaves_out_is_read_whole(tmp_path: Path) -> None:
    write(tmp_path / ".gitignore", "*\n!.profile\n")
    (tmp_path / ".git").mkdir()
    write(tmp_path / "notes/deep/a.txt")

    assert names(tmp_path / "notes") == ["deep/a.txt"]
    assert names(tmp_path / "notes/deep") == ["a.txt"]
    assert names(tmp_path) == []


def test_a_rule_above_a_source_that_cannot_be_used_closes_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").mkdir()
    write(tmp_path / "notes/a.txt")

    [obstacle] = scan(tmp_path / "notes")

    assert isinstance(obstacle, Obstacle)
    assert (
        obstacle.message == "Its .gitignore is a link, a pipe or a folder and no file, so nothing in the folder is read"
    )


def test_nothing_heavy_is_imported_for_a_folder_without_ignore_files(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    program = (
        "import sys\n"
        "from openmind.adapters.local_files import LocalFileTree\n"
        "from openmind.domain.sources import Source\n"
        "tree = LocalFileTree()\n"
        "assert list(tree.scan(Source(id='s', path_bytes=sys.argv[1].encode(), created_at=''), bool))\n"
        "assert not {'psutil', 'cattrs', 'tomlkit', 'pluggy'} & set(sys.modules)\n"
    )

    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)


def test_folders_deeper_than_nested_calls_can_be_are_walked(tmp_path: Path) -> None:
    folders = [tmp_path]
    for _ in range(sys.getrecursionlimit() + 200):
        folders.append(folders[-1] / "d")
        folders[-1].mkdir()
    (folders[-1] / "a.txt").touch()

    assert len(names(tmp_path)) == 1

    (folders[-1] / "a.txt").unlink()
    for folder in reversed(folders[1:]):
        folder.rmdir()


ODD_NAMES = [
    "a", "b.txt", "B.txt", ".hidden", "node_modules", "build", "target", "out", "package.json", "id_rsa", "x.log", "~y",
    "CACHEDIR.TAG", "Ünï", "sub", "deep",
]  # fmt: skip
PATTERNS = ["*.log", "a/", "/b.txt", "!x.log", "!.hidden", "!node_modules/", "sub/**", "**/deep", "out", "!target/"]


@pytest.mark.parametrize("seed", range(25))
def test_of_a_random_tree_the_walk_and_the_question_after_a_path_say_the_same(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folders = [tmp_path]
    for _ in range(40):
        path = chance.choice(folders) / chance.choice(ODD_NAMES[:-4] if chance.random() < 0.5 else ODD_NAMES)
        if path.exists() or path.is_symlink():
            continue
        kind = chance.random()
        if kind < 0.4:
            path.mkdir()
            folders.append(path)
        elif kind < 0.5:
            path.symlink_to(chance.choice(folders))
        else:
            path.touch()
    for folder in chance.sample(folders, min(3, len(folders))):
        ignoring = folder / chance.choice([".gitignore", ".openmindignore"])
        ignoring.write_text("\n".join(chance.sample(PATTERNS, 3)))
    tree = LocalFileTree(tuple(chance.sample(PATTERNS, seed % 2)))
    whole = evolve(source(tmp_path), recursive=seed % 5 != 0)
    everything = sorted(os.fsencode(path) for path in tmp_path.rglob("*"))

    included = list(tree.included(whole, everything))

    scanned = [found.path_bytes for found in tree.scan(whole, lambda _: True) if isinstance(found, FoundFile)]
    assert included == scanned
    chance.shuffle(everything)
    assert sorted(tree.included(whole, everything)) == included
