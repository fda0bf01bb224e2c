import pytest
from openmind_stores.lance.engine import FragmentState
from openmind_stores.lance.upkeep import (
    MOST_MERGED_ROWS,
    MOST_SEGMENTS,
    SMALL_FILE_ROWS,
    TINY_FILE_ROWS,
    newest_to_merge,
    rows_per_file_due,
)


@pytest.mark.parametrize(
    ("sizes", "cheap", "expected"),
    [
        ((), 0, 1),
        ((10_000,), 0, 1),
        ((10_000, 10_000), 0, 1),
        ((0, 10_000), 0, 2),
        ((10_000,) * 8, 0, 1),
        ((10_000,) * 9, 0, 5),
        ((*(10_000,) * 4, 50_000, *(10_000,) * 4), 0, 1),
        ((*(10_000,) * 4, 50_000, *(10_000,) * 5), 0, 5),
        ((512, 256, 128, 64, 32, 16, 8, 4, 1), 0, 2),
        ((10_000, 10_000, 500, 500, 500), 5_000, 3),
        ((10_000, 4_000, 4_000), 5_000, 1),
        ((500, 500, 60_000), 5_000, 1),
    ],
)
def test_the_newest_segments_are_merged_when_it_pays(sizes: tuple[int, ...], cheap: int, expected: int) -> None:
    assert newest_to_merge(sizes, cheap=cheap) == expected


@pytest.mark.parametrize("batches", [[10_000] * 200, [500] * 2_000, [7, 10_000, 300, 2_500] * 300, [45_000] * 40])
def test_a_growing_table_keeps_few_segments_and_merges_each_row_a_few_times(batches: list[int]) -> None:
    sizes: list[int] = []
    written = 0
    for batch in batches:
        sizes.append(batch)
        merged = newest_to_merge(sizes, cheap=0)
        sizes[-merged:] = [sum(sizes[-merged:])]
        written += sizes[-1]
        assert len(sizes) <= 2 * MOST_SEGMENTS + sum(sizes) // (MOST_MERGED_ROWS // 2)
        assert merged == 1 or sizes[-1] <= MOST_MERGED_ROWS

    assert sum(sizes) == sum(batches)
    assert written < 8 * sum(batches)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], 0),
        ([10] * 8, 0),
        ([10] * 9, TINY_FILE_ROWS),
        ([10_000] * 64, 0),
        ([10_000] * 65, SMALL_FILE_ROWS),
        ([SMALL_FILE_ROWS] * 500, 0),
    ],
)
def test_files_are_joined_when_there_are_many_small_ones(rows: list[int], expected: int) -> None:
    assert rows_per_file_due([FragmentState(rows=each, deleted=0) for each in rows]) == expected
