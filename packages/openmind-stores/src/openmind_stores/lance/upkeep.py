"""Keeps the indexes of a table: which there are, when rows are folded in, when segments and files are merged."""

import logging
from collections.abc import Callable, Sequence
from itertools import takewhile

from openmind_stores.lance.engine import Dataset, FragmentState
from openmind_stores.lance.errors import is_from_lance, is_out_of_reach

logger = logging.getLogger(__name__)

Build = Callable[[Dataset], None]

MOST_SEGMENTS = 8
"""A search asks each of them: ten of 10,000 rows cost twice as much as one of 100,000."""
MOST_MERGED_ROWS = 50_000
CHEAP_ROWS = 5_000
"""Merging costs as much as building: 0.7 s for 10,000 rows."""
TEXT_BUILD_MB = 256

WANTED: dict[str, Build] = {
    "words_idx": lambda data: data.build_words_index("words", name="words_idx", memory_mb=TEXT_BUILD_MB),
    "generation_idx": lambda data: data.build_scalar_index("generation", "BTREE", name="generation_idx"),
    "modified_at_idx": lambda data: data.build_scalar_index("modified_at", "BTREE", name="modified_at_idx"),
    "source_id_idx": lambda data: data.build_scalar_index("source_id", "BITMAP", name="source_id_idx"),
    "extension_idx": lambda data: data.build_scalar_index("extension", "BITMAP", name="extension_idx"),
}
"""The indexes that each table has from its first rows on, by name."""

VECTOR_INDEX = "vector_idx"
VECTOR_INDEX_ROWS = 50_000
"""With fewer vectors than that, looking at each of them is fast enough, and exact."""
ROWS_PER_PARTITION = 4_096


def prepare(data: Dataset) -> None:
    """Give a new table its indexes, so that the very first rows are searched in the same way as all others."""
    for build in WANTED.values():
        build(data)


def fold(data: Dataset) -> None:
    """Take new rows into all indexes as segments of their own; merge segments when there are too many."""
    tend(data, cheap=0)


def merge(data: Dataset) -> None:
    """Tidy up: fold what is left, join small files and small segments, and nothing that costs more than it gives."""
    compact(data)
    tend(data, cheap=CHEAP_ROWS)


def tend(data: Dataset, *, cheap: int) -> None:
    there = data.indexes()
    for name, build in WANTED.items():
        state = there.get(name)
        if state is None:
            build(data)
            continue
        fresh = (state.unindexed,) if state.unindexed else ()
        merged = newest_to_merge((*state.segments, *fresh), cheap=cheap) - len(fresh)
        if fresh or merged > 1:
            fold_or_rebuild(data, name, merge=merged)
    tend_vector_index(data)


def newest_to_merge(sizes: Sequence[int], *, cheap: int) -> int:
    """Say how many of the newest segments should become one: 1 when they are fine as they are.

    Big segments are left alone. When there are more than `MOST_SEGMENTS` small ones behind the last big one, or
    enough to fill a big one, those are merged that are not larger than the newer ones together, so that each row is
    merged a few times only, and no more than `MOST_MERGED_ROWS` at once, so that memory does not grow with the table.
    Otherwise those are merged that have at most `cheap` rows together.
    """
    small = list(takewhile(lambda rows: rows < MOST_MERGED_ROWS // 2, reversed(sizes)))
    fills = len(sizes) > MOST_SEGMENTS and sum(small) >= MOST_MERGED_ROWS
    too_many = fills or len(small) > MOST_SEGMENTS
    merged, rows = 1, sum(small[:1])
    for older in small[1:]:
        fits = rows + older <= (MOST_MERGED_ROWS if too_many else cheap)
        if older and not (fits and (older <= rows or merged == 1 or not too_many)):
            break
        rows += older
        merged += 1
    return merged


def unindexed_words(data: Dataset) -> int:
    state = data.indexes().get("words_idx")
    return data.count() if state is None else state.unindexed


def fold_or_rebuild(data: Dataset, name: str, *, merge: int) -> None:
    """Fold; an index that cannot be folded is dropped and built anew, so that no row depends on it."""
    try:
        data.fold_index(name, merge=merge)
    except BaseException as error:
        if not is_from_lance(error) or is_out_of_reach(error):
            raise
        logger.warning("the index %s could not be folded and is built anew: %s", name, error)
        data.drop_index(name)
        WANTED[name](data)


def tend_vector_index(data: Dataset) -> None:
    """Build the vector index when there are enough vectors, and again when they have doubled; else fold it."""
    state = data.indexes().get(VECTOR_INDEX)
    if state is None:
        if data.count() >= VECTOR_INDEX_ROWS and data.count("vector IS NOT NULL") >= VECTOR_INDEX_ROWS:
            build_vector_index(data)
    elif state.unindexed and (
        len(state.segments) >= MOST_SEGMENTS or sum(state.segments) + state.unindexed > 2 * state.segments[0]
    ):
        build_vector_index(data)
    elif state.unindexed:
        data.fold_index(VECTOR_INDEX, merge=0)


def build_vector_index(data: Dataset) -> None:
    partitions = max(1, data.count("vector IS NOT NULL") // ROWS_PER_PARTITION)
    data.build_vector_index("vector", name=VECTOR_INDEX, partitions=partitions)


MOST_TINY_FILES, TINY_FILE_ROWS = 8, 5_000
MOST_SMALL_FILES, SMALL_FILE_ROWS = 64, 100_000
MOST_DELETED = 0.2


def compact(data: Dataset) -> None:
    """Rewrite files when there are many small ones, or when much of one is deleted.

    Moving rows costs more than writing them, since the indexes follow; so it is put off while files are few.
    """
    fragments = data.fragments()
    rows_per_file = rows_per_file_due(fragments)
    if rows_per_file or any(each.deleted > MOST_DELETED * (each.rows + each.deleted) for each in fragments):
        data.compact(rows_per_file=rows_per_file or 1, most_deleted=MOST_DELETED)


def rows_per_file_due(fragments: Sequence[FragmentState]) -> int:
    """Say below how many rows files should be joined now; 0 when there is no need."""
    if sum(each.rows < SMALL_FILE_ROWS for each in fragments) > MOST_SMALL_FILES:
        return SMALL_FILE_ROWS
    if sum(each.rows < TINY_FILE_ROWS for each in fragments) > MOST_TINY_FILES:
        return TINY_FILE_ROWS
    return 0
