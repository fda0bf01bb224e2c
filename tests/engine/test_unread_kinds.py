"""Files of kinds that nothing reads are counted and can be named, though memory keeps nothing of them."""

import json
import os
import socket

import pytest
from openmind.domain.contract import unread_object


@pytest.fixture
def mixed(world, memory):
    world.write("a.txt", "heliotrope")
    for name in (
        "old.doc",
        "sub/older.DOC",
        "pack.zip",
        "script.py",
        "strange",
        ".hidden.doc",
        "half.part",
        "node_modules/x.doc",
    ):
        world.write(name, "x")
    return memory


def test_a_run_and_the_status_count_them_by_kind(world, mixed) -> None:
    kinds = {".doc": 2, ".py": 1, ".zip": 1, "no extension": 1}

    report = mixed.index()

    assert report.unread_kinds == kinds
    assert report.run.tally.total == 1
    assert mixed.status().unread_kinds == kinds
    world.notes.joinpath("pack.zip").unlink()
    assert mixed.index().unread_kinds == {".doc": 2, ".py": 1, "no extension": 1}


def test_they_are_listed_with_what_can_be_done(world, mixed) -> None:
    hints = {file.path_bytes.rpartition(b"/")[2].decode(): file.hint for file in mixed.maintenance.unread()}

    assert set(hints) == {"old.doc", "older.DOC", "pack.zip", "script.py", "strange"}
    assert ".docx" in hints["old.doc"]
    assert "--code" in hints["script.py"]
    assert hints["strange"] == ""


def test_coverage_tells_them_from_files_that_turned_out_unreadable(world, mixed) -> None:
    world.write("program.txt", "\x7fELF" + "\0" * 100)
    mixed.index()

    [found] = mixed.maintenance.coverage()

    assert found.unread_kinds == {".doc": 2, ".py": 1, ".zip": 1, "no extension": 1}
    assert found.unreadable["unsupported"].files == 6


def test_what_was_counted_goes_with_the_source(world, mixed) -> None:
    mixed.index()
    [source] = mixed.sources.list()

    mixed.sources.remove(source.id)

    assert mixed.status().unread_kinds == {}
    with mixed.storage.catalog.reading() as snapshot:
        assert snapshot.setting(f"unread_kinds:{source.id}") is None


def test_code_is_no_unread_kind_where_it_is_read(world, mixed) -> None:
    [source] = mixed.sources.list()
    mixed.index()

    mixed.sources.change(source.id, code=True)

    assert ".py" not in mixed.index().unread_kinds


def test_links_pipes_and_sockets_are_counted_and_named_and_never_opened(world, memory, tmp_path) -> None:
    world.write("a.txt", "heliotrope")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("not of the folder")
    for name, target in (("away.txt", outside / "secret.txt"), ("far", outside), ("lost.md", "nowhere"), (".x", "y")):
        (world.notes / name).symlink_to(target)
    os.mkfifo(world.notes / "pipe.pdf")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(world.notes / "s"))
        kinds = {"link": 3, "pipe": 1, "socket": 1}

        report = memory.index()

        assert report.unread_kinds == kinds
        assert report.run.tally.total == 1
        assert memory.status().unread_kinds == kinds
        [covered] = memory.maintenance.coverage()
        assert (covered.unread_kinds, covered.unreadable["unsupported"].files) == (kinds, 5)
        named = {file.path_bytes.rpartition(b"/")[2]: file for file in memory.maintenance.unread()}
    assert {name: file.kind for name, file in named.items()} == {
        b"away.txt": "link", b"far": "link", b"lost.md": "link", b"pipe.pdf": "pipe", b"s": "socket",
    }  # fmt: skip
    assert "not followed" in named[b"far"].hint
    told = unread_object(named[b"pipe.pdf"])
    assert (told["error"], told["size"], told["modified_at"]) == ("This is a pipe, and no file.", 0, None)
    assert json.dumps(told)


def test_a_file_that_becomes_a_link_is_forgotten(world, memory) -> None:
    world.write("a.txt", "heliotrope")
    world.write("b.txt", "amaranth")
    memory.index()
    (world.notes / "a.txt").unlink()
    (world.notes / "a.txt").symlink_to("b.txt")

    report = memory.index()

    assert (report.run.tally.removed, report.unread_kinds) == (1, {"link": 1})
    assert memory.search("heliotrope").hits == () or "heliotrope" not in memory.search("heliotrope").hits[0].text
