"""What happens to the stores between runs, and what the next run makes of it."""

import shutil

import pytest
from openmind.domain.search import SearchState


@pytest.fixture
def indexed(world, memory):
    for number in range(30):
        world.write(f"{number}.txt", f"heliotrope number{number} in the garden")
    memory.index()
    return memory


def all_found(memory) -> bool:
    return all(
        [hit.file_name for hit in memory.search(f"number{number}").hits][:1] == [f"{number}.txt"]
        for number in range(30)
    )


def test_a_deleted_table_is_made_again_without_reading_files(world, indexed) -> None:
    shutil.rmtree(world.home / "lancedb")

    result = indexed.search("number7")
    assert result.degraded or result.state is SearchState.NOTHING_INDEXED

    report = indexed.index()

    assert report.run.tally.extracted == 0
    assert report.notices
    assert all_found(indexed)


def test_a_lost_manifest_is_noticed_and_what_is_missing_is_made_again(world, indexed) -> None:
    manifests = sorted((world.home / "lancedb" / "chunks.lance" / "_versions").glob("*.manifest"))
    newest = min(manifests, key=lambda path: path.name)  # Lance counts its names down
    newest.unlink()

    indexed.index()

    assert all_found(indexed)


def test_a_truncated_data_file_is_noticed_and_made_again(world, indexed) -> None:
    for path in (world.home / "lancedb" / "chunks.lance" / "data").glob("*.lance"):
        path.write_bytes(b"")

    report = indexed.index()

    assert report.notices
    assert report.run.tally.extracted == 0
    assert all_found(indexed)


def test_rows_that_nobody_knows_are_swept_after_an_unclean_end(world, indexed) -> None:
    store = indexed.storage.chunks
    catalog = indexed.storage.catalog
    with catalog.reading() as snapshot:
        [table] = snapshot.tables()
        [(generation, _, _), *_] = snapshot.live_generations()
    [row] = list(store.read_generations(table.name, [generation]))
    import attrs

    with catalog.writing() as session:
        [begun] = session.begin([table.id], 1)
    store.add(table.name, [attrs.evolve(row, generation=begun, text="half done")])

    indexed.index()

    assert begun not in {generation for generation, _ in store.counts(table.name)}
    assert all_found(indexed)


def test_a_clean_run_after_a_clean_run_looks_at_no_row(world, indexed, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the rows were counted")

    monkeypatch.setattr(type(indexed.storage.chunks), "counts", refuse)

    assert indexed.index().notices == ()


def test_lost_passages_come_back_while_the_folder_is_away(world, indexed) -> None:
    world.notes.rename(world.notes.with_name("unplugged"))
    shutil.rmtree(world.home / "lancedb")

    report = indexed.index()

    assert all_found(indexed)
    assert report.run.tally.hashed == 0
