"""Files of kinds that nothing reads are counted and can be named, though memory keeps nothing of them."""

import pytest


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
