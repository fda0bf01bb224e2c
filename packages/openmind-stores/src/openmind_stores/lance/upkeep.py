"""Tends the indexes and files of a table."""

import logging
from collections.abc import Callable, Collection

from attrs import frozen

from openmind_stores.lance.engine import Dataset, spare_memory
from openmind_stores.lance.errors import is_from_lance, is_out_of_reach
from openmind_stores.lance.policy import UpkeepPolicy

logger = logging.getLogger(__name__)

WORDS_INDEX, VECTOR_INDEX = "words_idx", "vector_idx"


@frozen
class Upkeep:
    """Does what the policy says. Rows never depend on it: an index that fails is dropped and built anew."""

    policy: UpkeepPolicy

    def prepare(self, data: Dataset) -> None:
        """Give a new table its indexes, so that the very first rows are searched in the same way as all others."""
        for build in self._wanted().values():
            build(data)

    def fold(self, data: Dataset) -> None:
        """Take new rows into all indexes as segments of their own; merge segments when there are too many."""
        self._tend(data, loose_vectors=self.policy.loose_vectors)

    def merge(self, data: Dataset) -> None:
        """Fold what is left, join small files and segments, and do nothing that costs more than it gives."""
        self._tend(data, loose_vectors=0)
        self._join_columns(data)
        self._join_vectors(data)
        self._compact(data)  # last, since only files that share their index segments can be joined

    def purge(self, data: Dataset) -> None:
        """Write the files anew that hold deleted rows, however few, and what holds rows of lost files of the indexes.

        Of the text index, by far the largest, only the segments that do.
        """
        fragments = data.fragments()
        if not fragments:  # there is no file to write anew, and the indexes still tell of all that was there
            self._begin_anew(data)
            return
        kept = [each.id for each in fragments if not each.deleted]
        if len(kept) < len(fragments):
            data.compact(rows_per_file=self.policy.small_file_rows, keep=kept)
        outdated = data.outdated_indexes()
        if VECTOR_INDEX in outdated and data.count("vector IS NOT NULL") < self.policy.vector_index_rows:
            data.drop_index(VECTOR_INDEX)
            outdated -= {VECTOR_INDEX}
        if WORDS_INDEX in outdated:
            or_anew(data, WORDS_INDEX, self._renew_outdated_words, self._build_words_index)
            outdated -= {WORDS_INDEX}
        self.renew(data, outdated)

    def _renew_outdated_words(self, data: Dataset) -> None:
        for files in data.outdated_segments(WORDS_INDEX):
            data.build_words_segment("words", name=WORDS_INDEX, memory_mb=self.policy.text_build_mb, files=files)

    def _begin_anew(self, data: Dataset) -> None:
        if VECTOR_INDEX in data.index_names():
            data.drop_index(VECTOR_INDEX)
        self.renew(data, self._wanted())

    def broken(self, data: Dataset, segments: Collection[str], *, every: bool) -> frozenset[str]:
        """Name the indexes that these segments belong to; or every index there is, or should be."""
        owners = data.index_segments()
        return frozenset((*self._wanted(), *owners.values()) if every else (owners[each] for each in segments))

    def renew(self, data: Dataset, names: Collection[str]) -> None:
        """Build indexes anew, whatever is left of them."""
        for name in sorted(names):
            replace(data, name, self._wanted().get(name, self._build_vector_index))

    def _wanted(self) -> dict[str, Callable[[Dataset], None]]:
        """Say which indexes a table has from its first rows on, and how each is built."""
        return {
            WORDS_INDEX: self._build_words_index,
            "generation_idx": lambda data: data.build_scalar_index("generation", "BTREE", name="generation_idx"),
            "modified_at_idx": lambda data: data.build_scalar_index("modified_at", "BTREE", name="modified_at_idx"),
            "path_idx": lambda data: data.build_scalar_index("path", "BTREE", name="path_idx"),
            "source_id_idx": lambda data: data.build_scalar_index("source_id", "BITMAP", name="source_id_idx"),
            "extension_idx": lambda data: data.build_scalar_index("extension", "BITMAP", name="extension_idx"),
        }

    def _tend(self, data: Dataset, *, loose_vectors: int) -> None:
        there = data.index_names()
        for name, build in self._wanted().items():
            if name in there:
                or_anew(data, name, self._fold_words if name == WORDS_INDEX else self._fold_column(name), build)
            else:
                build(data)
        spare_memory()
        if VECTOR_INDEX in there:
            or_anew(data, VECTOR_INDEX, self._fold_vectors(loose_vectors), self._build_vector_index)
        elif data.count() > loose_vectors and self.policy.vector_index_is_due(data.count("vector IS NOT NULL")):
            replace(data, VECTOR_INDEX, self._build_vector_index)

    def _fold_words(self, data: Dataset) -> None:
        """Fold new rows, then merge: rows folded and merged at once would lie in the segment side by side, as two.

        The first rows take the place of the empty index: beside it, they would be merged with nothing at full price.
        """
        state = data.index_state(WORDS_INDEX)
        if state.unindexed and not any(state.segments):
            self._build_words_index(data)
            return
        if state.unindexed:
            data.fold_index(WORDS_INDEX, merge=0)
        segments = data.index_state(WORDS_INDEX).segments
        merged = self.policy.newest_to_merge(segments, most=self.policy.most_merged_words)
        merged = max(merged, self.policy.batches_to_join(segments))
        if merged > 1:
            data.fold_index(WORDS_INDEX, merge=merged)

    def _fold_column(self, name: str) -> Callable[[Dataset], None]:
        def fold(data: Dataset) -> None:
            state = data.index_state(name)
            fresh = (state.unindexed,) if state.unindexed else ()
            sizes = (*state.segments, *fresh)
            merged = self.policy.newest_to_merge(sizes, most=self.policy.most_merged_rows) - len(fresh)
            if fresh or merged > 1:
                data.fold_index(name, merge=merged)

        return fold

    def _fold_vectors(self, loose: int) -> Callable[[Dataset], None]:
        def fold(data: Dataset) -> None:
            state = data.index_state(VECTOR_INDEX)
            if state.unindexed > loose:
                data.fold_index(VECTOR_INDEX, merge=self.policy.vector_segments_to_merge(state.segments))

        return fold

    def _join_columns(self, data: Dataset) -> None:
        """Join segments of the indexes that filters ask: a search goes through all of them.

        For 100,000 rows this takes 0.1 s and 30 MB, which there is room for at the end of a run.
        """
        for name, build in self._wanted().items():
            if name != WORDS_INDEX:
                or_anew(data, name, self._join_column(name), build)

    def _join_column(self, name: str) -> Callable[[Dataset], None]:
        def join(data: Dataset) -> None:
            joined = self.policy.newest_to_join(data.index_state(name).segments)
            if joined > 1:
                data.fold_index(name, merge=joined)

        return join

    def _join_vectors(self, data: Dataset) -> None:
        """Join segments of the vector index, or build it anew; at the end of a run there is memory for it."""
        if VECTOR_INDEX in data.index_names():
            or_anew(data, VECTOR_INDEX, self._join_vector_segments, self._build_vector_index)

    def _join_vector_segments(self, data: Dataset) -> None:
        segments = data.index_state(VECTOR_INDEX).segments
        joined = self.policy.newest_to_join(segments)
        if self.policy.is_outgrown(segments):
            self._build_vector_index(data)
        elif joined > 1:
            data.fold_index(VECTOR_INDEX, merge=joined)

    def _build_words_index(self, data: Dataset) -> None:
        data.build_words_index("words", name=WORDS_INDEX, memory_mb=self.policy.text_build_mb)

    def _build_vector_index(self, data: Dataset) -> None:
        partitions = max(1, data.count("vector IS NOT NULL") // self.policy.rows_per_partition)
        data.build_vector_index("vector", name=VECTOR_INDEX, partitions=partitions)

    def _compact(self, data: Dataset) -> None:
        fragments = data.fragments()
        limit = self.policy.rows_per_file([each.rows for each in fragments])
        kept = [
            each.id for each in fragments if each.rows >= limit and not self.policy.is_worn(each.rows, each.deleted)
        ]
        if len(kept) < len(fragments):
            data.compact(rows_per_file=self.policy.small_file_rows, keep=kept)


def or_anew(data: Dataset, name: str, act: Callable[[Dataset], None], build: Callable[[Dataset], None]) -> None:
    """Act on an index; when that fails, build it anew in its place, or without what is left of it."""
    try:
        act(data)
    except BaseException as error:
        if not is_from_lance(error) or is_out_of_reach(error):
            raise
        logger.warning("the index %s could not be tended and is built anew: %s", name, error)
        replace(data, name, build)


def replace(data: Dataset, name: str, build: Callable[[Dataset], None]) -> None:
    try:
        build(data)
    except BaseException as error:
        if not is_from_lance(error) or is_out_of_reach(error) or name not in data.index_names():
            raise
        data.drop_index(name)
        build(data)


def unindexed_words(data: Dataset) -> int:
    """Count the rows that the words leg has to look through one by one; all of them when its index is broken."""
    try:
        return data.index_state(WORDS_INDEX).unindexed
    except BaseException as error:
        if not is_from_lance(error):
            raise
        return data.count()
