import pytest
from openmind_stores.lance.policy import UpkeepPolicy

POLICY = UpkeepPolicy()


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((), 1),
        ((10_000,), 1),
        ((10_000, 10_000), 1),
        ((0, 10_000), 2),
        ((10_000,) * 8, 1),
        ((10_000,) * 9, 2),
        ((*(10_000,) * 6, 30_000, *(10_000,) * 2), 1),
        ((*(10_000,) * 6, 30_000, *(10_000,) * 3), 2),
        ((512, 256, 128, 64, 32, 16, 8, 4, 1), 2),
        ((200, 1_400), 2),
        ((1_100, 1_800), 2),
        ((1_700, 3_400), 1),
        ((5_800, 8_600), 1),
        ((10_000, 10_000, 500, 500, 500), 3),
        ((10_000, 1_000, 500), 1),
        ((10_000, 4_000, 4_000), 1),
        ((500, 500, 30_000), 1),
    ],
)
def test_the_newest_segments_are_merged_when_it_pays(sizes: tuple[int, ...], expected: int) -> None:
    assert POLICY.newest_to_merge(sizes, most=25_000) == expected


@pytest.mark.parametrize("sizes", [(10_000,) * 40, (300, 1_000, *(10_000,) * 9, 5_000), (5_000,) * 20])
def test_of_the_text_index_no_more_is_merged_than_a_full_batch_brings(sizes: tuple[int, ...]) -> None:
    assert POLICY.newest_to_merge(sizes, most=POLICY.most_merged_words) == 1


@pytest.mark.parametrize("batches", [[10_000] * 200, [500] * 2_000, [7, 10_000, 300, 2_500] * 300, [45_000] * 40])
@pytest.mark.parametrize("most", [POLICY.most_merged_rows, POLICY.most_merged_words])
def test_a_growing_table_keeps_few_segments_and_merges_each_row_a_few_times(batches: list[int], most: int) -> None:
    sizes: list[int] = []
    written = 0
    for batch in batches:
        sizes.append(batch)
        merged = POLICY.newest_to_merge(sizes, most=most)
        sizes[-merged:] = [sum(sizes[-merged:])]
        written += sizes[-1]
        assert len(sizes) <= 3 * POLICY.most_segments + sum(sizes) // (most // 3)
        assert merged == 1 or sizes[-1] <= most

    assert sum(sizes) == sum(batches)
    assert written < 8 * sum(batches)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((), 1),
        ((10_000,) * 24, 1),
        ((10_000,) * 25, 4),
        ((*(10_000,) * 21, 40_000, *(10_000,) * 3), 1),
        ((*(10_000,) * 21, 40_000, *(10_000,) * 4), 4),
        ((*(10_000,) * 21, 40_000, 9_000, *(10_000,) * 3, 20), 1),
        ((*(10_000,) * 21, 40_000, 9_000, *(10_000,) * 3, 2_000), 5),
    ],
)
def test_batches_of_a_large_text_index_are_joined(sizes: tuple[int, ...], expected: int) -> None:
    assert POLICY.batches_to_join(sizes) == expected


def test_a_text_index_of_a_million_rows_has_some_forty_segments_and_joins_each_row_once() -> None:
    sizes: list[int] = []
    written = 0
    for _ in range(100):
        sizes.append(10_000)
        joined = POLICY.batches_to_join(sizes)
        sizes[-joined:] = [sum(sizes[-joined:])]
        written += sizes[-1] if joined > 1 else 0

    assert sum(sizes) == 1_000_000
    assert len(sizes) <= 45
    assert written <= 1_000_000


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((), 1),
        ((10_000,), 1),
        ((10_000, 10_000), 2),
        ((20_000, 10_000), 2),
        ((20_001, 10_000), 1),
        ((100_000, 500), 1),
        ((100_000, 900, 500), 2),
        ((1_801, 4_507, 10_000, 20_003, 10_003, 5_174), 6),
    ],
)
def test_the_segments_that_filters_ask_are_joined_behind_those_that_are_much_larger(
    sizes: tuple[int, ...], expected: int
) -> None:
    assert POLICY.newest_to_join(sizes) == expected


@pytest.mark.parametrize("batches", [[10_000] * 100, [500] * 1_000, [7, 10_000, 300, 2_500] * 100])
def test_runs_leave_few_segments_for_filters_to_ask_and_join_each_row_a_few_times(batches: list[int]) -> None:
    sizes: list[int] = []
    written = 0
    for batch in batches:
        sizes.append(batch)
        joined = POLICY.newest_to_join(sizes)
        sizes[-joined:] = [sum(sizes[-joined:])]
        written += sizes[-1] if joined > 1 else 0
        assert len(sizes) <= 10

    assert written < 12 * sum(batches)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], 0),
        ([10] * 8, 0),
        ([10] * 9, POLICY.tiny_file_rows),
        ([9_999] * 64, 0),
        ([9_999] * 65, POLICY.small_file_rows),
        ([POLICY.small_file_rows] * 500, 0),
    ],
)
def test_files_are_joined_when_there_are_many_small_ones(rows: list[int], expected: int) -> None:
    assert POLICY.rows_per_file(rows) == expected


@pytest.mark.parametrize(("vectors", "expected"), [(0, False), (49_999, False), (50_000, True)])
def test_the_vector_index_is_built_when_there_are_many(vectors: int, expected: bool) -> None:
    assert POLICY.vector_index_is_due(vectors) == expected


@pytest.mark.parametrize(
    ("segments", "expected"),
    [
        ((20_000,), False),
        ((20_000, 9_999), False),
        ((20_000, 10_000), True),
        ((90_000, 30_000, 10_000), False),
        ((20_000, 4_000, 15_000, 1_001), True),
    ],
)
def test_the_vector_index_is_built_anew_when_vectors_have_doubled_or_all_would_be_joined(
    segments: tuple[int, ...], expected: bool
) -> None:
    assert POLICY.is_outgrown(segments) == expected


def test_vector_segments_are_merged_behind_the_first_when_there_are_many() -> None:
    assert POLICY.vector_segments_to_merge((50_000, *(10,) * 6)) == 0
    assert POLICY.vector_segments_to_merge((50_000, *(10,) * 7)) == 7
