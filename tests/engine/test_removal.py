import threading
from pathlib import Path

import pytest
from openmind.application.recovering import sweeping
from openmind.domain.errors import (
    NoSources,
    SourceExists,
    SourceForbidden,
    SourceMissing,
    SourceNotFolder,
    SourceNotFound,
    SourceOverlaps,
    UsageError,
)
from openmind.domain.search import SearchState

MARKER = "zanzibarquartz"


def everywhere(home: Path) -> list[str]:
    return [
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and MARKER.encode() in path.read_bytes()
    ]


def test_removing_a_source_takes_it_out_of_memory_and_leaves_the_folder(world, memory) -> None:
    path = world.write("a.txt", f"{MARKER} in the garden")
    memory.index()
    [source] = memory.sources.list()

    report = memory.sources.remove(source.id)

    assert (report.files_removed, report.chunks_removed) == (1, 1)
    assert path.read_text() == f"{MARKER} in the garden"
    assert memory.sources.list() == ()
    assert memory.search(MARKER).state is SearchState.NOTHING_INDEXED


def test_a_removed_source_leaves_no_trace_in_the_home(world, memory) -> None:
    world.write(f"{MARKER}.txt", f"{MARKER} in the garden")
    memory.index()
    assert everywhere(world.home)
    [source] = memory.sources.list()

    memory.sources.remove(source.id)

    assert everywhere(world.home) == []


def test_searches_go_on_while_a_source_is_taken_off_the_disk(world, memory, tmp_path) -> None:
    (tmp_path / "other").mkdir()
    world.write("stays.txt", "heliotrope in the garden")
    wrong, over = [], threading.Event()

    def search() -> None:
        with world.memory() as other:
            while not over.is_set():
                result = other.search("heliotrope")
                if [hit.file_name for hit in result.hits][:1] != ["stays.txt"] or result.degraded_reason:
                    wrong.append(result)

    memory.index()
    reader = threading.Thread(target=search)
    reader.start()
    for round_ in range(5):
        (tmp_path / "other" / "goes.txt").write_text(f"{MARKER} {round_}")
        source = memory.sources.add(tmp_path / "other")
        memory.index()
        memory.sources.remove(source.id)
    over.set()
    reader.join()

    assert wrong == []
    assert everywhere(world.home) == []


def test_a_deleted_file_leaves_no_trace_in_the_home(world, memory, monkeypatch) -> None:
    monkeypatch.setattr("openmind.application.recovering.sweeping.VERSION_AGE_S", 0.0)
    world.write("stays.txt", "heliotrope")
    path = world.write(f"{MARKER}.txt", f"{MARKER} in the garden")
    memory.index()
    assert everywhere(world.home)

    path.unlink()
    memory.index()

    assert everywhere(world.home) == []
    assert sweeping.GRACE_S == 60.0


def test_another_source_with_the_same_text_keeps_it(world, memory, tmp_path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text("heliotrope in the garden")
    world.write("a.txt", "heliotrope in the garden")
    memory.sources.add(other)
    memory.index()

    memory.sources.remove(memory.sources.list()[0].id)

    assert [hit.file_name for hit in memory.search("heliotrope").hits] == ["b.txt"]


def test_an_unknown_source_cannot_be_removed(memory) -> None:
    with pytest.raises(SourceNotFound):
        memory.sources.remove("src_000000000000")


def test_what_cannot_be_a_source_is_refused(world, memory, tmp_path) -> None:
    inner = world.notes / "inner"
    inner.mkdir()
    file = world.write("a.txt", "text")
    other = tmp_path / "other"
    (other / "lancedb").mkdir(parents=True)
    (other / ".openmind-home").touch()

    for path, error in [
        (tmp_path / "nowhere", SourceMissing),
        ("", UsageError),
        (file, SourceNotFolder),
        ("/", SourceForbidden),
        *((path, SourceForbidden) for path in ("/proc", "/proc/self", "/sys", "/dev") if Path(path).is_dir()),
        (world.home, SourceForbidden),
        (world.home / "logs", SourceForbidden),
        (other / "lancedb", SourceForbidden),
        (other, SourceForbidden),
        (None, UsageError),
        (b"/notes", UsageError),
        ("/no\0tes", UsageError),
        (world.notes, SourceExists),
        (world.notes / "." / "inner" / "..", SourceExists),
        (inner, SourceOverlaps),
        (tmp_path, SourceOverlaps),
    ]:
        with pytest.raises(error):
            memory.sources.add(path)


def test_a_folder_that_was_added_since_the_last_run_is_told_until_it_is_read(world, memory, tmp_path) -> None:
    assert memory.status().unread_sources == ()
    memory.index()
    other = tmp_path / "other"
    other.mkdir()
    memory.sources.add(other)

    assert memory.status().unread_sources == (str(other),)
    memory.index()
    assert memory.status().unread_sources == ()


def test_with_disabled_sources_only_an_index_run_says_how_to_enable_one(world, memory) -> None:
    [source] = memory.sources.list()
    memory.sources.change(source.id, enabled=False)

    with pytest.raises(NoSources, match="disabled") as refused:
        memory.index()

    assert "--enable" in refused.value.hint


def test_a_source_that_is_not_recursive_lets_its_folders_be_sources(world, tmp_path) -> None:
    inner = world.notes / "inner"
    inner.mkdir()
    with world.memory() as memory:
        memory.sources.add(world.notes, recursive=False)
        memory.sources.add(inner)
        world.write("top.txt", "heliotrope")
        world.write("inner/deep.txt", "chrysanthemum")

        assert memory.index().run.tally.indexed == 2


def test_a_home_inside_a_source_is_not_read(tmp_path, monkeypatch) -> None:
    from openmind import open_memory

    (tmp_path / "a.txt").write_text("heliotrope")
    with open_memory(tmp_path / "home") as memory:
        (tmp_path / "home" / "logs" / "note.txt").write_text("heliotrope")
        memory.sources.add(tmp_path)

        assert memory.index().run.tally.total == 1
