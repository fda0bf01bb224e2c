import os
from pathlib import Path

import pytest
from openmind import OpenMind
from openmind.domain.errors import NoSources
from openmind.domain.files import FileReason
from openmind.domain.jobs import IndexTally, JobState
from openmind.domain.search import SearchState


def found(memory: OpenMind, query: str) -> list[str]:
    result = memory.search(query)
    return [hit.file_name for hit in result.hits] if result.state is SearchState.OK else []


def tally(memory: OpenMind, *, accept_deletions: bool = False) -> IndexTally:
    return memory.index(accept_deletions=accept_deletions).run.tally


def test_a_folder_becomes_searchable(world, memory) -> None:
    world.write("flat.md", "# Flat\n\nThe landlord wants a rent increase.\n")

    report = memory.index()

    assert report.run.state is JobState.COMPLETED
    assert report.run.tally.indexed == 1
    assert found(memory, "rent increase") == ["flat.md"]


def test_without_a_source_there_is_nothing_to_index(world) -> None:
    with world.memory() as memory, pytest.raises(NoSources):
        memory.index()


def test_a_second_run_reads_nothing(world, memory) -> None:
    world.write("a.txt", "heliotrope")
    os.utime(world.notes / "a.txt", (1, 1))
    memory.index()

    again = tally(memory)

    assert (again.already_indexed, again.indexed, again.extracted, again.embedded) == (1, 0, 0, 0)


def test_a_changed_file_is_found_by_its_new_text_only(world, memory) -> None:
    world.write("a.txt", "heliotrope in the garden")
    memory.index()

    world.write("a.txt", "chrysanthemum on the balcony")
    memory.index()

    assert found(memory, "chrysanthemum") == ["a.txt"]
    assert found(memory, "heliotrope") == []


def test_touching_a_file_costs_no_extraction(world, memory) -> None:
    path = world.write("a.txt", "heliotrope")
    memory.index()

    os.utime(path, (5, 5))
    again = tally(memory)

    assert (again.already_indexed, again.extracted, again.embedded) == (1, 0, 0)


def test_a_renamed_file_keeps_its_passages_and_costs_no_embedding(world, memory) -> None:
    path = world.write("a.txt", "heliotrope in the garden")
    memory.index()
    file_id = memory.search("heliotrope").hits[0].file_id

    path.rename(world.notes / "flowers.txt")
    again = tally(memory)

    hit = memory.search("heliotrope").hits[0]
    assert (again.moved, again.removed, again.extracted, again.embedded) == (1, 0, 0, 0)
    assert (hit.file_id, hit.file_name) == (file_id, "flowers.txt")
    assert found(memory, "flowers") == ["flowers.txt"]


def _places_during_a_run(memory, query: str) -> list[list[str]]:
    """Where a query finds something, each time that a run tells how far it is."""
    seen: list[list[str]] = []

    def look(_: object) -> None:
        names = sorted(hit.file_name for hit in memory.search(query, limit=50).hits)
        if [names] != seen[-1:]:
            seen.append(names)

    memory.index(progress=look)
    return seen


def test_a_file_that_was_moved_is_at_one_place_at_every_moment(world, memory) -> None:
    path = world.write("before.txt", "heliotrope in the morning")
    memory.index()

    path.rename(world.notes / "after.txt")

    assert _places_during_a_run(memory, "heliotrope") == [["before.txt"], ["after.txt"]]


def test_a_file_that_was_moved_and_edited_is_another_file_beside_the_former_one_until_the_run_ends(
    world, memory
) -> None:
    path = world.write("before.txt", "heliotrope in the morning")
    memory.index()

    path.unlink()
    world.write("after.txt", "heliotrope in the evening")

    places = _places_during_a_run(memory, "heliotrope")

    # How many moments there are to look at in between is a matter of pace.
    assert [moment for moment in places if moment != ["after.txt", "before.txt"]] == [["before.txt"], ["after.txt"]]


def test_a_moved_folder_moves_all_its_files(world, memory) -> None:
    for number in range(120):
        world.write(f"old/{number}.txt", f"heliotrope number {number}")
    memory.index()

    (world.notes / "old").rename(world.notes / "new")
    again = tally(memory)

    assert (again.moved, again.removed, again.waiting_deletions, again.embedded) == (120, 0, 0, 0)
    assert memory.status().files == 120


def test_twins_cost_one_extraction_and_are_both_named(world, memory) -> None:
    world.write("a.txt", "heliotrope in the garden")
    world.write("copy/b.txt", "heliotrope in the garden")

    first = tally(memory)

    hit, *others = memory.search("heliotrope").hits
    assert (first.indexed, first.extracted, first.embedded) == (2, 1, 1)
    assert others == []
    assert {Path(hit.path).name, *(Path(path).name for path in hit.also_at)} == {"a.txt", "b.txt"}


def test_a_copy_made_later_costs_no_embedding(world, memory) -> None:
    world.write("a.txt", "heliotrope in the garden")
    memory.index()

    world.write("b.txt", "heliotrope in the garden")
    again = tally(memory)

    assert (again.indexed, again.extracted, again.embedded) == (1, 0, 0)
    assert found(memory, "b.txt") == ["b.txt"]


def test_a_deleted_file_leaves_memory(world, memory) -> None:
    path = world.write("a.txt", "heliotrope")
    world.write("b.txt", "chrysanthemum")
    memory.index()

    path.unlink()
    again = tally(memory)

    assert again.removed == 1
    assert found(memory, "heliotrope") == []
    assert memory.status().files == 1


def test_an_emptied_folder_deletes_nothing_until_it_is_confirmed(world, memory) -> None:
    path = world.write("a.txt", "heliotrope")
    memory.index()

    path.unlink()
    kept = memory.index()

    assert (kept.run.tally.removed, kept.run.tally.waiting_deletions) == (0, 1)
    assert memory.status().waiting_deletions == 1
    assert found(memory, "heliotrope") == ["a.txt"]
    assert "--accept-deletions" in " ".join(kept.notices)

    assert tally(memory, accept_deletions=True).removed == 1
    assert memory.status().waiting_deletions == 0
    assert found(memory, "heliotrope") == []


def test_a_third_of_a_large_folder_gone_at_once_waits_for_consent(world, memory) -> None:
    for number in range(160):
        world.write(f"{number}.txt", f"heliotrope number {number}")
    memory.index()

    for number in range(60):
        (world.notes / f"{number}.txt").unlink()

    assert tally(memory).waiting_deletions == 60
    assert tally(memory, accept_deletions=True).removed == 60


def test_a_folder_that_is_ignored_as_a_whole_waits_for_consent_and_is_not_called_deleted(world, memory) -> None:
    for number in range(3):
        world.write(f"{number}.txt", f"heliotrope number {number}")
    memory.index()

    world.write(".openmindignore", "*.txt\n")
    (world.notes / "0.txt").unlink()
    report = memory.index()

    assert report.run.tally.waiting_deletions == 3
    deleted, ignored = report.notices
    assert deleted.startswith(f"1 file of {world.notes} is gone.")
    assert ignored.startswith(f"2 files of {world.notes} are there but left out now")
    assert len(found(memory, "heliotrope")) == 3
    assert tally(memory, accept_deletions=True).removed == 3


def test_a_missing_source_folder_keeps_what_was_remembered(world, memory) -> None:
    world.write("a.txt", "heliotrope")
    memory.index()

    world.notes.rename(world.notes.with_name("unplugged"))
    report = memory.index()

    assert report.run.tally.removed == 0
    assert any("is kept" in notice for notice in report.notices)
    assert found(memory, "heliotrope") == ["a.txt"]
    assert memory.status().missing_sources == memory.missing_sources() == (str(world.notes),)
    assert memory.status().waiting_deletions == 0


def test_a_file_that_is_too_big_is_skipped_with_its_reason(world) -> None:
    world.write("big.txt", "x" * (1024 * 1024 + 1))
    world.write("hollow.csv", "a,b")
    os.truncate(world.notes / "hollow.csv", 10_000_000_000)  # takes no room on the disk, and all memory there is
    world.write("good.txt", "heliotrope")
    with world.memory() as memory:
        (world.home / "config.toml").write_text("[indexing]\nmax_file_mb = 1\n")
    with world.memory() as memory:
        memory.sources.add(world.notes)

        report = memory.index()

        assert (report.run.tally.skipped, report.run.tally.indexed) == (2, 1)
        assert [failure.code for failure in report.failures] == ["too_big"] * 2
        assert [file.reason for file in memory.documents.list(reasons=["skipped"])] == [FileReason.TOO_BIG] * 2


def test_an_empty_file_is_skipped_and_not_read_again(world, memory) -> None:
    path = world.write("empty.txt", "")
    os.utime(path, (1, 1))

    report = memory.index()

    assert [failure.code for failure in report.failures] == ["empty"]
    assert memory.index().run.tally.skipped == 1


def test_a_file_that_became_empty_is_not_found_any_more(world, memory) -> None:
    world.write("a.txt", "heliotrope")
    memory.index()

    world.write("a.txt", "")
    memory.index()

    assert found(memory, "heliotrope") == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root, to whom nothing is denied otherwise")
def test_a_file_type_that_is_no_file_does_not_block(world, memory) -> None:
    os.mkfifo(world.notes / "pipe.txt")
    world.write("good.txt", "heliotrope")

    assert tally(memory).indexed == 1


def test_more_files_than_workers_need_are_prepared_by_workers(world, memory) -> None:
    for number in range(400):
        world.write(f"{number % 7}/{number}.txt", f"note {number} about heliotrope{number}")

    report = memory.index()

    assert (report.run.tally.indexed, report.run.tally.failed) == (400, 0)
    assert found(memory, "heliotrope399")[:1] == ["399.txt"]


def test_the_run_is_remembered(world, memory) -> None:
    world.write("a.txt", "heliotrope")

    report = memory.index()

    run = memory.status().last_run
    assert run is not None
    assert (run.id, run.state, run.tally) == (report.run.id, JobState.COMPLETED, report.run.tally)
