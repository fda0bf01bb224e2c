"""What happens to a table when files are lost or broken: never a crash, never a silent loss."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from openmind.domain.errors import StoreDamaged
from openmind.domain.ids import Generation
from openmind.domain.index import Visibility
from openmind.ports.chunk_store import CandidateQuery, ChunkFilter, WordsQuery
from openmind.testing.contracts.chunk_store_promises.samples import EVERYTHING, TABLE, ask, counted, keys, row, unit
from openmind_stores.lance.chunk_store import LanceChunkStore

COUNTS = {(generation, f"file_{generation}"): 20 for generation in (1, 3, 4, 5, 6)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a table of two data files, a deletion file and indexes of two segments."""
    store = LanceChunkStore(tmp_path)
    store.create(TABLE, dimension=3)
    for first in (1, 4):
        store.add(
            TABLE,
            [row(n, i, f"alpha w{n}", vector=unit(1, n, i)) for n in range(first, first + 3) for i in range(20)],
        )
        store.fold(TABLE)
    store.delete(TABLE, [Generation(2)])
    return tmp_path


def newest(folder: Path) -> Path:
    return max((path for path in folder.iterdir() if path.is_file()), key=lambda path: path.stat().st_mtime_ns)


def newest_manifest(folder: Path) -> Path:
    return min((folder / f"{TABLE}.lance" / "_versions").glob("*.manifest"))  # they are numbered downwards


def cut(path: Path) -> None:
    os.truncate(path, 0)


def blank(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def data(folder: Path) -> Path:
    return newest(folder / f"{TABLE}.lance" / "data")


def deletions(folder: Path) -> Path:
    return newest(folder / f"{TABLE}.lance" / "_deletions")


def index_files(folder: Path) -> list[Path]:
    return [path for path in (folder / f"{TABLE}.lance" / "_indices").rglob("*") if path.is_file()]


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "the newest manifest is empty": lambda folder: cut(newest_manifest(folder)),
    "the newest manifest is cut short": lambda folder: os.truncate(newest_manifest(folder), 100),
    "all manifests are lost": lambda folder: shutil.rmtree(folder / f"{TABLE}.lance" / "_versions"),
    "a data file is empty": lambda folder: cut(data(folder)),
    "a data file is cut short": lambda folder: os.truncate(data(folder), data(folder).stat().st_size // 2),
    "a data file is blank": lambda folder: blank(data(folder)),
    "a data file is lost": lambda folder: data(folder).unlink(),
    "a deletion file is empty": lambda folder: cut(deletions(folder)),
    "a deletion file is lost": lambda folder: deletions(folder).unlink(),
    "the table is lost": lambda folder: shutil.rmtree(folder / f"{TABLE}.lance"),
    "everything is lost": shutil.rmtree,
}


@pytest.mark.parametrize("breaking", UNREADABLE)
def test_a_table_that_cannot_be_read_says_so_and_can_be_made_anew(folder: Path, breaking: str) -> None:
    UNREADABLE[breaking](folder)
    store = LanceChunkStore(folder)

    with pytest.raises(StoreDamaged):
        counted(store)
    with pytest.raises(StoreDamaged):
        ask(store, "alpha", vector=unit(1, 0, 0))
    with pytest.raises(StoreDamaged):
        list(store.read_generations(TABLE, [Generation(n) for n in range(9)]))
    store.health()

    store.quarantine(TABLE)
    store.create(TABLE, dimension=3)
    store.add(TABLE, [row(7, 0, "alpha")])
    assert counted(store) == {(7, "file_7"): 1}


def test_a_lost_manifest_shows_in_the_counts(folder: Path) -> None:
    newest_manifest(folder).unlink()

    assert counted(LanceChunkStore(folder)) == COUNTS | {(2, "file_2"): 20}


@pytest.mark.parametrize("content", [None, b"", b"\0\0", b'{"version": 999}'])
def test_the_hint_to_the_newest_version_is_only_a_hint(folder: Path, content: bytes | None) -> None:
    hint = folder / f"{TABLE}.lance" / "_versions" / "latest_version_hint.json"
    hint.unlink(missing_ok=True)
    if content is not None:
        hint.write_bytes(content)
    store = LanceChunkStore(folder)

    assert counted(store) == COUNTS
    store.add(TABLE, [row(9, 0, "alpha")])
    assert counted(store) == COUNTS | {(9, "file_9"): 1}


def test_what_is_no_table_can_be_put_aside_and_dropped(tmp_path: Path) -> None:
    (tmp_path / f"{TABLE}.lance").write_text("not a table")
    store = LanceChunkStore(tmp_path)

    with pytest.raises(StoreDamaged):
        store.create(TABLE, dimension=3)
    store.quarantine(TABLE)
    (tmp_path / f"{TABLE}.lance").write_text("nor this")
    store.drop(TABLE)
    store.create(TABLE, dimension=3)

    assert counted(store) == {}
    assert (tmp_path / f"{TABLE}.lance.broken-1").read_text() == "not a table"
    store.discard_quarantined()
    assert [path.name for path in tmp_path.iterdir()] == [f"{TABLE}.lance"]


def test_a_table_whose_making_was_interrupted_is_made(tmp_path: Path) -> None:
    (tmp_path / f"{TABLE}.lance" / "_transactions").mkdir(parents=True)
    store = LanceChunkStore(tmp_path)

    store.create(TABLE, dimension=3)

    assert counted(store) == {}


def test_someone_elses_table_is_not_taken_for_ours(tmp_path: Path) -> None:
    import lance
    import pyarrow as pa

    lance.write_dataset(
        pa.table({"id": [1], "vector": pa.array([[1.0]], pa.list_(pa.float32(), 1))}), tmp_path / f"{TABLE}.lance"
    )
    store = LanceChunkStore(tmp_path)

    with pytest.raises(StoreDamaged, match="words"):
        counted(store)


@pytest.mark.parametrize("breaking", [cut, Path.unlink, lambda path: os.truncate(path, path.stat().st_size // 2)])
def test_broken_indexes_fail_their_legs_only_and_the_next_fold_mends_them(
    folder: Path, breaking: Callable[[Path], object]
) -> None:
    for path in index_files(folder):
        breaking(path)
    store = LanceChunkStore(folder)

    found = ask(store, "alpha", "w1", vector=unit(1, 0, 0))
    assert found.words_error != ""
    assert found.words == ()
    assert counted(store) == COUNTS
    assert store.health().rows == {TABLE: 100}

    store.fold(TABLE)

    mended = ask(store, "alpha", "w1", vector=unit(1, 0, 0))
    assert (mended.words_error, mended.vectors_error) == ("", "")
    assert len(mended.words) == len(mended.vectors) == 100
    assert store.health().unindexed_rows == {TABLE: 0}


def mended(folder: Path, breaking: Callable[[], object], *, thoroughly: bool = False) -> LanceChunkStore:
    """Break something behind a seal, and let it be mended; a new process does that."""
    sealed = LanceChunkStore(folder).seal(TABLE)
    breaking()
    store = LanceChunkStore(folder)
    changes = store.compare(TABLE, sealed)
    assert changes.damaged or thoroughly
    store.mend(TABLE, changes, thoroughly=thoroughly)
    return store


def all_is_found(store: LanceChunkStore) -> bool:
    found = [ask(store, "alpha", f"w{n}", vector=unit(1, 0, 0)) for n in (1, 3, 4, 5, 6)]
    return all(
        (each.words_error, each.vectors_error) == ("", "") and len(each.words) == len(each.vectors) == 100
        for each in found
    )


@pytest.mark.parametrize("file", ["part_0_invert", "part_0_docs", "part_0_tokens", "metadata", "page_data", "bitmap"])
@pytest.mark.parametrize("breaking", [cut, blank, Path.unlink, lambda path: os.truncate(path, 20)])
def test_every_broken_file_of_an_index_is_mended(folder: Path, file: str, breaking: Callable[[Path], object]) -> None:
    broken = [path for path in index_files(folder) if path.name.startswith(file)]
    assert broken

    store = mended(folder, lambda: [breaking(path) for path in broken])

    assert all_is_found(store)
    assert counted(store) == COUNTS


def test_lost_indexes_are_made_anew(folder: Path) -> None:
    store = mended(folder, lambda: shutil.rmtree(folder / f"{TABLE}.lance" / "_indices"))

    assert all_is_found(store)


def test_files_of_old_versions_that_were_cleaned_away_are_no_damage(folder: Path) -> None:
    store = LanceChunkStore(folder)
    sealed = store.seal(TABLE)
    store.merge(TABLE)
    store.clean(TABLE, older_than_s=0)

    changes = store.compare(TABLE, sealed)

    assert changes.lost
    assert not store.mend(TABLE, changes)
    assert counted(store) == COUNTS


def test_a_blank_data_file_is_damage_even_if_it_can_be_read(folder: Path) -> None:
    middle = data(folder)
    content = bytearray(middle.read_bytes())
    content[40:80] = bytes(40)

    with pytest.raises(StoreDamaged, match="were changed"):
        mended(folder, lambda: middle.write_bytes(content))


def test_mending_thoroughly_mends_an_index_whose_files_nobody_touched(folder: Path) -> None:
    for path in index_files(folder):
        cut(path)  # before anything was sealed

    assert all_is_found(mended(folder, lambda: None, thoroughly=True))


def test_mending_thoroughly_reads_every_row(folder: Path) -> None:
    blank(data(folder))

    with pytest.raises(StoreDamaged):
        mended(folder, lambda: None, thoroughly=True)


def test_a_view_whose_version_was_cleaned_away_goes_on_with_the_newest(folder: Path) -> None:
    writer, reader = LanceChunkStore(folder), LanceChunkStore(folder)
    query = CandidateQuery(words=WordsQuery(terms=("alpha",)), filter=ChunkFilter(visible=EVERYTHING))
    with reader.open(TABLE) as view:
        writer.delete(TABLE, [Generation(n) for n in range(1, 6)])
        writer.merge(TABLE)
        writer.clean(TABLE, older_than_s=0)

        found = view.candidates(query)
        passages = view.passages([candidate.key for candidate in found.words])

    assert {generation for generation, _ in keys(found.words)} == {6}
    assert len(found.words) == len(passages) == 20


def test_rows_found_before_a_version_was_cleaned_away_are_fetched_from_the_newest(folder: Path) -> None:
    writer, reader = LanceChunkStore(folder), LanceChunkStore(folder)
    seen = ChunkFilter(visible=Visibility(newest=Generation(6)))
    with reader.open(TABLE) as view:
        found = view.candidates(CandidateQuery(words=WordsQuery(terms=("w6",)), filter=seen)).words
        writer.delete(TABLE, [Generation(n) for n in range(1, 6)])
        writer.merge(TABLE)
        writer.clean(TABLE, older_than_s=0)

        passages = view.passages([candidate.key for candidate in found])

    assert sorted(passages) == sorted(candidate.key for candidate in found)
    assert {each.words for each in passages.values()} == {"alpha w6"}


@pytest.mark.parametrize("breaking", [cut, blank, Path.unlink])
def test_what_whole_data_files_hold_is_salvaged(folder: Path, breaking: Callable[[Path], object]) -> None:
    store = LanceChunkStore(folder)
    sealed = store.seal(TABLE)
    breaking(data(folder))

    saved = list(store.salvage(TABLE, [Generation(3), Generation(4)], seal=sealed))

    assert [(each.generation, each.index, each.vector) for each in saved] == [(3, i, unit(1, 3, i)) for i in range(20)]


def test_rows_are_salvaged_although_no_version_is_left_that_names_them(folder: Path) -> None:
    store = LanceChunkStore(folder)
    sealed = store.seal(TABLE)
    for manifest in (folder / f"{TABLE}.lance" / "_versions").glob("*.manifest"):
        cut(manifest)

    saved = store.salvage(TABLE, [Generation(1), Generation(6)], seal=sealed)

    assert {each.generation for each in saved} == {1, 6}
