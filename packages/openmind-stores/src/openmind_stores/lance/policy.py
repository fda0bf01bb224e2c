"""When the indexes and files of a table are tended: figures and decisions, nothing that is done."""

from collections.abc import Sequence
from itertools import accumulate, takewhile

from attrs import frozen


@frozen(kw_only=True)
class UpkeepPolicy:
    """Thresholds, each a balance between what a search pays and what a run pays. The defaults are measured."""

    most_segments: int = 8
    """Index segments before some are merged. A search asks each: ten of 10,000 rows cost twice as much as one."""
    most_merged_rows: int = 25_000
    """Rows merged at once in an index of a column. Two commits of a full batch fit with room to spare, since a batch
    ends with a whole file; at thirty thousand it was chance whether a third did."""
    most_merged_words: int = 10_000
    """The same for the text index, where merging takes 0.1 ms and 7 kB of memory for each row: no more than folding a
    full batch takes. A search pays 0.1 ms for a segment of that size."""
    most_text_segments: int = 24
    """Segments of the text index before batches are joined: a word that is asked for the first time is looked for in
    each, which takes 2 ms. Joining a row takes 0.1 ms, so tables that do not need it are spared."""
    joined_words: int = 40_000
    """Rows of a segment of joined batches."""
    cheap_rows: int = 3_000
    """Rows that are merged although nothing demands it: what small runs, and the very first commit of a run, leave.
    With twice as many the next two commits are merged, too: 0.6 s more for the 7.2 s that a first run of 37,000
    rows writes and folds."""
    vector_index_rows: int = 50_000
    """With fewer vectors than that, looking at each of them is exact and fast enough: 11 ms for 37,000, where an index
    would take 3 ms, and 0.3 s to build."""
    loose_vectors: int = 50_000
    """Vectors that a run leaves outside the index until it ends: looking at each of so many takes a search 20 ms, and
    each segment that is made meanwhile costs all later ones 1 ms. Building takes 1 to 2.5 kB of memory for each row."""
    rows_per_partition: int = 4_096
    """Vectors in a partition of the vector index."""
    text_build_mb: int = 64
    """Memory for building the text index from nothing."""
    tiny_file_rows: int = 5_000
    most_tiny_files: int = 8
    small_file_rows: int = 10_000
    most_small_files: int = 64
    """Files are joined when there are more small ones than that. A file of a full batch is none: moving rows costs
    more than writing them, since all indexes follow (50 s and 380 MB for a million rows), and spares a search nothing
    once there is a vector index."""
    most_deleted: float = 0.2
    """Share of a file's rows that may be deleted before it is written anew."""

    def newest_to_merge(self, sizes: Sequence[int], *, most: int) -> int:
        """Say how many of the newest segments should become one: 1 when they are fine as they are.

        Big segments are left alone. Those are merged that are not larger than the newer ones together, so that each
        row is merged a few times only: up to `most` rows when there are more than `most_segments` small ones
        behind the last big one, or enough to fill a big one, else up to `cheap_rows`. Memory does not grow with the
        table.
        """
        small = list(takewhile(lambda rows: rows < most // 2, reversed(sizes)))
        fills = len(sizes) > self.most_segments and sum(small) >= most
        too_many = fills or len(small) > self.most_segments
        merged, rows = 1, sum(small[:1])
        for older in small[1:]:
            fits = rows + older <= (most if too_many else self.cheap_rows)
            if older and not (fits and (older <= rows or (too_many and merged == 1))):
                break
            rows += older
            merged += 1
        return merged

    def newest_to_join(self, sizes: Sequence[int]) -> int:
        """Say how many of the newest segments of a column's index should become one when a run ends.

        Those that are at most twice as large as all newer ones together: so a table has few segments however large it
        is, and each row is merged a few times only.
        """
        joined, rows = 1, sum(sizes[-1:])
        for older in reversed(sizes[:-1]):
            if older > 2 * rows:
                break
            rows += older
            joined += 1
        return joined

    def batches_to_join(self, sizes: Sequence[int]) -> int:
        """Say how many of the newest segments of the text index should become one, since the table is large."""
        small = list(takewhile(lambda rows: rows <= self.joined_words // 2, reversed(sizes)))
        if len(sizes) <= self.most_text_segments or sum(small) < self.joined_words:
            return 1
        return next(count for count, rows in enumerate(accumulate(small), 1) if rows >= self.joined_words)

    def rows_per_file(self, sizes: Sequence[int]) -> int:
        """Say below how many rows files should be joined now; 0 when they may stay as they are."""
        if sum(rows < self.small_file_rows for rows in sizes) > self.most_small_files:
            return self.small_file_rows
        if sum(rows < self.tiny_file_rows for rows in sizes) > self.most_tiny_files:
            return self.tiny_file_rows
        return 0

    def is_worn(self, rows: int, deleted: int) -> bool:
        """Say whether a file should be written anew without its deleted rows."""
        return deleted > self.most_deleted * (rows + deleted)

    def vector_index_is_due(self, vectors: int) -> bool:
        """Say whether a table that has no vector index should get one."""
        return vectors >= self.vector_index_rows

    def is_outgrown(self, segments: Sequence[int]) -> bool:
        """Say whether the vector index should be built anew when a run ends.

        The table outgrew its partitions, or all segments would be joined, which takes as long.
        """
        return sum(segments) > 2 * segments[0] or 1 < len(segments) == self.newest_to_join(segments)

    def vector_segments_to_merge(self, segments: Sequence[int]) -> int:
        """Say with how many segments new vectors are merged: all but the first when there are many, else none."""
        return len(segments) - 1 if len(segments) >= self.most_segments else 0
