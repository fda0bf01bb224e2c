import pytest
from openmind_stores.lance.policy import UpkeepPolicy

POLICY = UpkeepPolicy()


@pytest.mark.parametrize(
    ("sizes", "cheap", "expected"),
    [
        ((), 0, 1),
        ((10_000,), 0, 1),
        ((10_000, 10_000), 0, 1),
        ((0, 10_000), 0, 2),
        ((10_000,) * 8, 0, 1),
        ((10_000,) * 9, 0, 3),
        ((*(10_000,) * 6, 30_000, *(10_000,) * 2), 0, 1),
        ((*(10_000,) * 6, 30_000, *(10_000,) * 3), 0, 3),
        ((512, 256, 128, 64, 32, 16, 8, 4, 1), 0, 2),
        ((10_000, 10_000, 500, 500, 500), 5_000, 3),
        ((10_000, 4_000, 4_000), 5_000, 1),
        ((500, 500, 30_000), 5_000, 1),
    ],
)
def test_the_newest_segments_are_merged_when_it_pays(sizes: tuple[int, ...], cheap: int, expected: int) -> None:
    assert POLICY.newest_to_merge(sizes, cheap=cheap) == expected


@pytest.mark.parametrize("batches", [[10_000] * 200, [500] * 2_000, [7, 10_000, 300, 2_500] * 300, [45_000] * 40])
def test_a_growing_table_keeps_few_segments_and_merges_each_row_a_few_times(batches: list[int]) -> None:
    sizes: list[int] = []
    written = 0
    for batch in batches:
        sizes.append(batch)
        merged = POLICY.newest_to_merge(sizes, cheap=0)
        sizes[-merged:] = [sum(sizes[-merged:])]
        written += sizes[-1]
        assert len(sizes) <= 2 * POLICY.most_segments + sum(sizes) // (POLICY.most_merged_rows // 3)
        assert merged == 1 or sizes[-1] <= POLICY.most_merged_rows

    assert sum(sizes) == sum(batches)
    assert written < 8 * sum(batches)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], 0),
        ([10] * 8, 0),
        ([10] * 9, POLICY.tiny_file_rows),
        ([10_000] * 64, 0),
        ([10_000] * 65, POLICY.small_file_rows),
        ([POLICY.small_file_rows] * 500, 0),
    ],
)
def test_files_are_joined_when_there_are_many_small_ones(rows: list[int], expected: int) -> None:
    assert POLICY.rows_per_file(rows) == expected


@pytest.mark.parametrize(
    ("segments", "unindexed", "expected"),
    [
        ((), 49_999, False),
        ((), 50_000, True),
        ((50_000,), 0, False),
        ((50_000,), 10_000, False),
        ((50_000,), 50_001, True),
        ((50_000, 40_000), 10_000, False),
        ((50_000, 40_000), 10_001, True),
        ((50_000, 60_000), 0, False),
    ],
)
def test_the_vector_index_is_built_when_there_are_many_and_when_they_have_doubled(
    segments: tuple[int, ...], unindexed: int, expected: bool
) -> None:
    assert POLICY.vector_index_is_due(segments, unindexed) == expected


def test_vector_segments_are_merged_behind_the_first_when_there_are_many() -> None:
    assert POLICY.vector_segments_to_merge((50_000, *(10,) * 6)) == 0
    assert POLICY.vector_segments_to_merge((50_000, *(10,) * 7)) == 7
