"""The promises of `FileTree`."""

import stat
from typing import Protocol

import pytest

from openmind.domain.errors import ExtractionFailed
from openmind.domain.files import FileReason
from openmind.domain.ids import SourceId
from openmind.domain.sources import Source
from openmind.domain.unread import LINK, PIPE
from openmind.ports.file_tree import FileTree, FoundFile, NoFile, Obstacle


class FileWorld(Protocol):
    """A folder that tests can change, with the tree that looks at it."""

    @property
    def tree(self) -> FileTree: ...

    @property
    def root(self) -> bytes:
        """The folder, absolute, without `/` at its end. It need not exist before something is written."""
        ...

    def write(self, path: bytes, data: bytes) -> None:
        """Write a file below the root, with the folders on its way."""
        ...

    def plant(self, path: bytes, mode: int) -> None:
        """Create a link (to a folder with files) or a FIFO below the root."""
        ...

    def remove(self, path: bytes) -> None:
        """Remove a file."""
        ...

    def deny(self, path: bytes) -> None:
        """Make a file or folder unreadable."""
        ...


def is_text(extension: str) -> bool:
    return extension in {".txt", ".md"}


class FileTreeContract:
    """Subclass and give a `world` fixture; every promise is checked."""

    def source(self, world: FileWorld, *, recursive: bool = True) -> Source:
        return Source(id=SourceId("src_1"), path_bytes=world.root, recursive=recursive, created_at="")

    def scan(self, world: FileWorld, *, recursive: bool = True) -> list[FoundFile | Obstacle | NoFile]:
        return list(world.tree.scan(self.source(world, recursive=recursive), is_text))

    def paths(self, world: FileWorld, *, recursive: bool = True) -> list[bytes]:
        found = self.scan(world, recursive=recursive)
        return [each.path_bytes.removeprefix(world.root + b"/") for each in found if isinstance(each, FoundFile)]

    def test_a_folder_with_files_is_present_and_on_a_device(self, world: FileWorld) -> None:
        world.write(b"a.txt", b"a")

        state = world.tree.root(self.source(world))

        assert state.present
        assert state.device is not None

    def test_a_missing_folder_is_not_present_and_says_so(self, world: FileWorld) -> None:
        state = world.tree.root(Source(id=SourceId("src_1"), path_bytes=world.root + b"/nowhere", created_at=""))

        assert not state.present
        assert state.message

    def test_each_file_that_no_rule_leaves_out_is_asked_for_once(self, world: FileWorld) -> None:
        for name in (b"a.txt", b"b.doc", b"sub/c.doc", b"sub/.hidden.doc", b"sub/d.tmp", b"left.out"):
            world.write(name, b"x")
        world.write(b".gitignore", b"left.out\n")
        asked: list[str] = []

        def wanted(extension: str) -> bool:
            asked.append(extension)
            return False

        assert list(world.tree.scan(self.source(world), wanted)) == []
        assert sorted(asked) == [".doc", ".doc", ".txt"]

    def test_a_scan_gives_size_and_date_as_stat_does(self, world: FileWorld) -> None:
        world.write(b"a.txt", b"four")

        [found] = self.scan(world)

        assert isinstance(found, FoundFile)
        assert found.stat.size == 4
        assert found.stat == world.tree.stat(found.path_bytes)

    def test_files_come_in_ascending_order_of_whole_paths(self, world: FileWorld) -> None:
        names = [b"a.txt", b"a/z.txt", b"a-b/c.txt", b"a0.txt", b"a/b/c.txt", b"a/b.txt", b"A.txt", b"\xc3\xa4.md"]
        for name in names:
            world.write(name, b"")

        assert self.paths(world) == sorted(names)

    def test_only_wanted_extensions_come_whatever_their_case(self, world: FileWorld) -> None:
        for name in (b"a.TXT", b"b.bin", b"c", b"d.md"):
            world.write(name, b"")

        assert self.paths(world) == [b"a.TXT", b"d.md"]

    def test_a_source_that_is_not_recursive_gives_only_its_own_files(self, world: FileWorld) -> None:
        world.write(b"a.txt", b"")
        world.write(b"below/b.txt", b"")

        assert self.paths(world, recursive=False) == [b"a.txt"]

    def test_links_and_pipes_are_named_in_their_place_for_what_they_are(self, world: FileWorld) -> None:
        for name in (b"a.txt", b"m/b.txt", b"z.txt"):
            world.write(name, b"")
        world.plant(b"link.txt", stat.S_IFLNK)
        world.plant(b"m/pipe.bin", stat.S_IFIFO)
        world.plant(b".hidden.txt", stat.S_IFLNK)

        found = self.scan(world)

        assert self.paths(world) == [b"a.txt", b"m/b.txt", b"z.txt"]
        assert [each for each in found if isinstance(each, NoFile)] == [
            NoFile(path_bytes=world.root + b"/link.txt", kind=LINK),
            NoFile(path_bytes=world.root + b"/m/pipe.bin", kind=PIPE),
        ]
        assert found == sorted(found, key=lambda each: each.path_bytes)

    def test_hidden_noisy_secret_and_temporary_things_do_not_come(self, world: FileWorld) -> None:
        for name in (b".git/a.md", b".hidden.md", b"node_modules/p/readme.md", b"~$draft.md", b".ssh/note.txt"):
            world.write(name, b"")
        world.write(b"kept/a.md", b"")

        assert self.paths(world) == [b"kept/a.md"]

    def test_an_openmind_home_does_not_come(self, world: FileWorld) -> None:
        world.write(b"home/.openmind-home", b"")
        world.write(b"home/logs/index.txt", b"")
        world.write(b"notes.txt", b"")

        assert self.paths(world) == [b"notes.txt"]

    def test_ignore_files_hold_from_their_folder_downwards(self, world: FileWorld) -> None:
        world.write(b".gitignore", b"*.txt\n!keep.txt\n/top.md\n")
        world.write(b"sub/.openmindignore", b"private/\n")
        for name in (b"a.txt", b"keep.txt", b"top.md", b"sub/top.md", b"sub/private/c.md", b"private/d.md"):
            world.write(name, b"")

        assert self.paths(world) == [b"keep.txt", b"private/d.md", b"sub/top.md"]

    def test_names_of_any_bytes_come(self, world: FileWorld) -> None:
        names = [b"\xff\xfe.txt", b"new\nline.txt", b"-rf.txt", b"quote'\".txt", b"100%_[b].txt"]
        for name in names:
            world.write(name, b"x")

        assert self.paths(world) == sorted(names)
        for name in names:
            with world.tree.open(world.root + b"/" + name) as file:
                assert file.read() == b"x"

    def test_an_unreadable_folder_is_an_obstacle_in_its_place(self, world: FileWorld) -> None:
        for name in (b"a.txt", b"locked/b.txt", b"z.txt"):
            world.write(name, b"")
        world.deny(b"locked")

        a, locked, z = self.scan(world)

        assert isinstance(locked, Obstacle)
        assert locked.path_bytes == world.root + b"/locked/"
        assert locked.reason is FileReason.DENIED
        assert locked.message
        assert world.root.decode() not in locked.message
        assert [a.path_bytes, z.path_bytes] == [world.root + b"/a.txt", world.root + b"/z.txt"]

    @pytest.mark.parametrize("recursive", [True, False])
    def test_the_question_after_a_path_is_answered_as_a_scan_would(self, world: FileWorld, recursive: bool) -> None:
        ignored = {b".gitignore": b"*.log\n/out/\n!keep.log\n", b"sub/.openmindignore": b"private/\n!.hidden.txt\n"}
        files = [
            b"a.txt", b"b.log", b"keep.log", b"odd", b"out/a.txt", b"node_modules/p/a.md", b".git/a.md", b"~$draft.md",
            b"sub/.hidden.txt", b"sub/private/a.txt", b"sub/deep/er/a.txt", b"sub/deep/id_rsa", b"sub/deep/b.log",
            b"home/.openmind-home", b"home/logs/a.txt", b"work/Makefile", b"work/bin/a.txt", b"work/src/bin/a.txt",
        ]  # fmt: skip
        for name in files:
            world.write(name, b"")
        for name, patterns in ignored.items():
            world.write(name, patterns)
        world.plant(b"link.txt", stat.S_IFLNK)
        world.plant(b"pipe.txt", stat.S_IFIFO)
        source = self.source(world, recursive=recursive)
        names = [*files, *ignored, b"link.txt", b"link.txt/a.txt", b"pipe.txt", b"gone.txt", b"gone/a.txt", b"sub", b""]
        asked = [world.root + b"/" + name for name in names]
        found = world.tree.scan(source, lambda extension: True)
        scanned = [each.path_bytes for each in found if isinstance(each, FoundFile)]

        included = list(world.tree.included(source, [*asked, world.root, world.root + b".txt", b"/a.txt"]))

        assert included == [path for path in asked if path in scanned]
        assert sorted(included) == scanned
        assert list(world.tree.included(source, scanned[::-1])) == scanned[::-1]

    def test_what_lies_behind_an_obstacle_is_not_said_to_be_left_out(self, world: FileWorld) -> None:
        for name in (b"locked/b.txt", b"z.txt"):
            world.write(name, b"")
        world.deny(b"locked")
        asked = [world.root + b"/" + name for name in (b"locked/b.txt", b"locked/c/d.txt", b"y.txt", b"z.txt")]

        assert list(world.tree.included(self.source(world), asked)) == [asked[0], asked[1], asked[3]]

    def test_stat_knows_only_regular_files(self, world: FileWorld) -> None:
        world.write(b"a/b.txt", b"")
        world.plant(b"link.txt", stat.S_IFLNK)

        for path in (b"/gone.txt", b"/a", b"/link.txt"):
            assert world.tree.stat(world.root + path) is None

    def test_opening_gives_the_bytes(self, world: FileWorld) -> None:
        world.write(b"a.txt", b"one\ntwo")

        with world.tree.open(world.root + b"/a.txt") as file:
            assert file.read(3) == b"one"
            assert file.read() == b"\ntwo"

    def test_opening_what_has_gone_is_vanished(self, world: FileWorld) -> None:
        world.write(b"a.txt", b"")
        world.remove(b"a.txt")

        assert self.reason(world, b"a.txt") is FileReason.VANISHED

    @pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO])
    def test_opening_what_is_no_file_is_unsupported_and_does_not_wait(self, world: FileWorld, mode: int) -> None:
        world.write(b"a.txt", b"")
        world.plant(b"odd.txt", mode)

        assert self.reason(world, b"odd.txt") is FileReason.UNSUPPORTED

    def test_opening_what_may_not_be_read_is_denied(self, world: FileWorld) -> None:
        world.write(b"a.txt", b"")
        world.deny(b"a.txt")

        assert self.reason(world, b"a.txt") is FileReason.DENIED

    def reason(self, world: FileWorld, path: bytes) -> FileReason:
        with pytest.raises(ExtractionFailed) as caught, world.tree.open(world.root + b"/" + path):
            pass
        assert caught.value.message
        return caught.value.reason
