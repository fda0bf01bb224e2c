"""The one module that imports Lance, the native binding of LanceDB's format: `import lancedb` costs seconds.

Everything here speaks of one dataset in plain values; what OpenMind makes of it is the business of the other
modules.
"""

import ctypes
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from operator import itemgetter
from pathlib import Path
from typing import Literal, TypedDict

import numpy as np
from attrs import field, frozen
from openmind.domain.chunk_rows import ChunkRows

from openmind_stores.hidden_pandas import hidden_pandas
from openmind_stores.lance.batches import to_batch
from openmind_stores.lance.columns import FileColumns, arrow_schema, unpack
from openmind_stores.lance.schema import Columns

LOG_LEVEL = "LANCE_LOG"


@contextmanager
def quiet_log() -> Iterator[None]:
    """Keep Lance from warning on stderr; it reads this variable once, while it loads."""
    before = os.environ.get(LOG_LEVEL)
    os.environ.setdefault(LOG_LEVEL, "error")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(LOG_LEVEL, None)


with hidden_pandas():
    import pyarrow as pa
    import pyarrow.dataset
with quiet_log():
    import lance
    from lance.file import LanceFileReader
    from lance.lance import _Session as Session
    from lance.query import BooleanQuery, FullTextQuery, MatchQuery, Occur, PhraseQuery

MB = 1 << 20
ROW_ID, SCORE, DISTANCE = "_rowid", "_score", "_distance"
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
MALLOC_OPTIONS = ((M_ARENA_MAX, 2), (M_MMAP_THRESHOLD, MB // 4), (M_TRIM_THRESHOLD, MB))


class WordsOptions(TypedDict):
    """How Lance takes in the words of a row."""

    base_tokenizer: str
    language: str
    stem: bool
    remove_stop_words: bool
    with_position: bool
    max_token_length: int
    lower_case: bool
    ascii_folding: bool
    num_workers: int


WORDS_OPTIONS = WordsOptions(
    base_tokenizer="whitespace",
    language="English",
    stem=True,
    remove_stop_words=False,
    with_position=True,
    max_token_length=1_000,
    lower_case=False,
    ascii_folding=False,
    num_workers=1,
)
ScalarIndex = Literal["BTREE", "BITMAP"]
SAMPLED_VECTORS = 64
"""Vectors from which each partition of the vector index is learnt. From Lance's 256 a build takes twice as long, and
searches find no more: of the best ten 97.3 and 97.5 %, in 20 of 244 partitions."""


def spare_memory() -> None:
    """Ask the C library to give memory back, now and from now on.

    Building an index else leaves hundreds of megabytes with the process. For processes that write: searching is a
    little faster without.
    """
    if sys.platform == "linux":
        library = ctypes.CDLL(None)
        if hasattr(library, "mallopt"):  # musl has none
            for option, value in MALLOC_OPTIONS:
                library.mallopt(option, value)
            library.malloc_trim(0)
        pa.set_memory_pool(pa.system_memory_pool())  # that of Arrow's own keeps what was freed


Scored = list[tuple[int, float]]
"""What a search found: row ids, to be fetched from the same version, with scores that grow with relevance."""


@frozen(kw_only=True)
class IndexState:
    """An index as it is: rows of each of its segments, the oldest first, and rows outside of it."""

    segments: tuple[int, ...]
    unindexed: int


@frozen(kw_only=True)
class FragmentState:
    """A data file as it is."""

    id: int
    rows: int
    """Without the deleted ones."""
    deleted: int


class Caches:
    """What datasets keep in memory from one search to the next: parts of indexes and of manifests."""

    def __init__(self, *, index_mb: int = 16, metadata_mb: int = 16) -> None:
        self.session = Session(index_cache_size_bytes=index_mb * MB, metadata_cache_size_bytes=metadata_mb * MB)

    @property
    def index_bytes(self) -> int:
        """What Lance counts for the parts of indexes; takes a microsecond, and is less than the memory they take."""
        return int(self.session.index_cache_size_bytes())


@frozen
class Dataset:
    """One table at one version. What writes moves it on to the version it made."""

    native: lance.LanceDataset = field(repr=False)

    @classmethod
    def create(cls, path: Path, *, dimension: int) -> "Dataset":
        schema = arrow_schema(dimension)
        return cls(lance.write_dataset(schema.empty_table(), str(path), schema=schema, mode="create"))

    @classmethod
    def open(cls, path: Path, caches: Caches) -> "Dataset":
        return cls(lance.LanceDataset(str(path), session=caches.session))

    @property
    def version(self) -> int:
        return int(self.native.version)

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(self.native.schema.names)

    @property
    def dimension(self) -> int:
        return int(self.native.schema.field("vector").type.list_size)

    def count(self, where: str | None = None) -> int:
        return int(self.native.count_rows(where))

    def fragments(self) -> list[FragmentState]:
        return [
            FragmentState(id=each.fragment_id, rows=each.count_rows(), deleted=each.num_deletions)
            for each in self.native.get_fragments()
        ]

    def append(self, portions: Iterable[ChunkRows]) -> None:
        """Write rows as one new version; they are packed portion by portion, so that memory holds few of them twice."""
        schema = self.native.schema
        batches = (to_batch(rows, schema) for rows in portions)
        lance.write_dataset(pa.RecordBatchReader.from_batches(schema, batches), self.native, mode="append")

    def delete(self, where: str) -> None:
        self.native.delete(where)

    def scan(
        self,
        columns: Sequence[str],
        *,
        where: str | None = None,
        order_by: Sequence[str] = (),
        limit: int | None = None,
        batch_rows: int = 4_096,
    ) -> Iterator[Columns]:
        """Stream columns, batch by batch, in the order of `order_by` or of the files."""
        scanner = self.native.scanner(
            columns=list(columns),
            filter=where,
            limit=limit,
            order_by=list(order_by) or None,
            batch_size=batch_rows,
        )
        for batch in scanner.to_batches():
            yield unpack(batch)

    def pairs(self, first: str, second: str) -> Iterator[tuple[object, object, int]]:
        """Count the rows of each pair of values of two columns, in ascending order; they are counted at once."""
        table = self.native.to_table(columns=[first, second])
        counted = table.group_by([first, second], use_threads=False).aggregate([([], "count_all")])
        ordered = counted.sort_by([(first, "ascending"), (second, "ascending")])
        names = (first, second, "count_all")
        return (
            each
            for batch in ordered.to_batches(max_chunksize=4_096)
            for each in zip(*(batch.column(name).to_pylist() for name in names), strict=True)
        )

    def read_through(self) -> None:
        """Read every row; only whether that can be done matters."""
        for _ in self.native.to_batches():
            pass

    def row_ids(self, where: str, columns: Sequence[str]) -> tuple[list[int], Columns]:
        """Find rows and name them as `take` wants it."""
        table = self.native.to_table(columns=list(columns), filter=where, with_row_id=True)
        return table.column(ROW_ID).to_pylist(), unpack(table.drop_columns([ROW_ID]))

    def files(self) -> dict[int, str]:
        """Name the data file of each fragment. No name is ever used twice, and what such a file holds stays."""
        return {each.fragment_id: each.metadata.files[0].path for each in self.native.get_fragments()}

    def file_columns(self, file: int, *, numbers: Sequence[str], text: str) -> FileColumns:
        """Read columns of all rows of one data file that are not deleted, in the order of their ids."""
        table = self.native.scanner(
            columns=[*numbers, text],
            fragments=[each for each in self.native.get_fragments() if each.fragment_id == file],
            with_row_id=True,
        ).to_table()
        return FileColumns.of(table, row_ids=ROW_ID, numbers=numbers, text=text)

    def take(self, row_ids: Sequence[int], columns: Sequence[str]) -> Columns:
        """Fetch rows by the ids that a search of this version gave, in that order."""
        return unpack(self.native._take_rows(list(row_ids), list(columns)))

    def take_at(self, positions: Sequence[int], columns: Sequence[str]) -> Columns:
        """Fetch rows by their position, counted without deleted rows."""
        return unpack(self.native.take(list(positions), list(columns)))

    def match(self, query: FullTextQuery, *, where: str, limit: int) -> Scored:
        """Search the words of the rows that meet a condition, or of all; BM25, best first."""
        table = self.native.scanner(
            columns=[SCORE], full_text_query=query, filter=where or None, prefilter=True, limit=limit, with_row_id=True
        ).to_table()
        return list(zip(table.column(ROW_ID).to_pylist(), table.column(SCORE).to_pylist(), strict=True))

    def nearest(self, vector: bytes, *, where: str, limit: int, probes: int) -> list[int]:
        """Search the vectors by cosine: the ids of the best rows, best first. Rows without a vector take no part.

        An index looks into `probes` of its partitions, and into more while a filter leaves fewer than `limit`. Cosines
        are what `cosines` gives: an index of rounded vectors tells of twice the distance, and now and then of an
        endless one.
        """
        wanted = {
            "column": "vector",
            "q": np.frombuffer(vector, "<f4"),
            "k": limit,
            "metric": "cosine",
            "minimum_nprobes": probes,
        }
        table = self.native.scanner(
            columns=[DISTANCE], nearest=wanted, filter=where or None, prefilter=True, with_row_id=True
        ).to_table()
        row_ids: list[int] = table.column(ROW_ID).to_pylist()
        return row_ids

    def cosines(self, vector: bytes, row_ids: Sequence[int]) -> Scored:
        """Measure the vectors of some rows of this version, best first. Rows without a vector take no part."""
        column = self.native._take_rows(list(row_ids), ["vector"]).column("vector").combine_chunks()
        values = column.flatten().to_numpy(zero_copy_only=False).astype(np.float32).reshape(-1, self.dimension)
        query = np.frombuffer(vector, "<f4")
        found = values @ query / (np.linalg.norm(values, axis=1) * np.linalg.norm(query))
        there = [row_id for row_id, valid in zip(row_ids, column.is_valid().to_pylist(), strict=True) if valid]
        cosines = np.clip(found, -1.0, 1.0)  # rounding makes more than 1 of a vector and its like
        return sorted(zip(there, cosines.tolist(), strict=True), key=itemgetter(1), reverse=True)

    def index_segments(self) -> dict[str, str]:
        """Say to which index each segment, which is a folder of that name, belongs."""
        return {segment.uuid: each.name for each in self.native.describe_indices() for segment in each.segments}

    def outdated_indexes(self) -> frozenset[str]:
        """Name the indexes that still hold rows of files of which nothing is left: no compaction touches these."""
        there = {fragment.fragment_id for fragment in self.native.get_fragments()}
        return frozenset(
            each.name
            for each in self.native.describe_indices()
            if any(not there.issuperset(segment.fragment_ids) for segment in each.segments)
        )

    def outdated_segments(self, name: str) -> list[frozenset[int]]:
        """For each segment of an index that holds rows of files of which nothing is left: the files it shall cover."""
        there = frozenset(fragment.fragment_id for fragment in self.native.get_fragments())
        covered = [
            frozenset(segment.fragment_ids)
            for each in self.native.describe_indices()
            if each.name == name
            for segment in each.segments
        ]
        return [files & there for files in covered if not files <= there]

    def index_names(self) -> frozenset[str]:
        return frozenset(each.name for each in self.native.describe_indices())

    def index_state(self, name: str) -> IndexState:
        stats = self.native.stats.index_stats(name)
        return IndexState(segments=tuple(stats["num_indexed_rows_per_delta"]), unindexed=stats["num_unindexed_rows"])

    def build_scalar_index(self, column: str, kind: ScalarIndex, *, name: str) -> None:
        self.native.create_scalar_index(column, kind, name=name, replace=True)

    def build_words_index(self, column: str, *, name: str, memory_mb: int) -> None:
        """Index words that come analysed: what is left to do is to part them at blanks and to stem them."""
        self.native.create_scalar_index(
            column, "INVERTED", name=name, replace=True, memory_limit=memory_mb, **WORDS_OPTIONS
        )

    def build_words_segment(self, column: str, *, name: str, memory_mb: int, files: Collection[int]) -> None:
        """Index the words of some files anew, in place of the segments that cover these; the others stay."""
        segment = self.native.create_index_uncommitted(
            column,
            "INVERTED",
            name=name,
            replace=True,
            fragment_ids=sorted(files),
            memory_limit=memory_mb,
            **WORDS_OPTIONS,
        )
        self.native.commit_existing_index_segments(name, column, [segment])

    def build_vector_index(self, column: str, *, name: str, partitions: int) -> None:
        self.native.create_index(
            column,
            "IVF_SQ",
            name=name,
            metric="cosine",
            num_partitions=partitions,
            sample_rate=SAMPLED_VECTORS,
            replace=True,
        )

    def fold_index(self, name: str, *, merge: int) -> None:
        """Take unindexed rows into an index as a segment, merged with the `merge` newest ones."""
        self.native.optimize.optimize_indices(index_names=[name], num_indices_to_merge=merge)

    def drop_index(self, name: str) -> None:
        self.native.drop_index(name)

    def compact(self, *, rows_per_file: int, keep: Sequence[int]) -> None:
        """Write all files but those to keep anew: without deleted rows, neighbours joined up to a number of rows."""
        self.native.optimize.compact_files(
            target_rows_per_fragment=rows_per_file,
            excluded_fragment_ids=list(keep),
            materialize_deletions_threshold=0.0,
        )

    def clean(self, *, older_than_s: float) -> None:
        """Delete old versions, and files that no version names.

        What a killed process was about to write is among these; Lance else keeps it for a week, in case that its
        writer is still at work. Whoever calls this has the right to write, which only one process can have.
        """
        self.native.cleanup_old_versions(
            timedelta(seconds=older_than_s), delete_unverified=True, error_if_tagged_old_versions=False
        )


def file_of(row_id: int) -> int:
    """Say in which data file a row lies: ids are addresses, since the tables ask Lance for no others."""
    return row_id >> 32


def columns_of_file(path: Path, columns: Sequence[str]) -> Iterator[Columns]:
    """Stream columns of one data file by itself, deleted rows and all, whatever became of the versions that name it."""
    for batch in LanceFileReader(str(path), columns=list(columns)).read_all().to_batches():
        yield unpack(batch)


def any_of(terms: Sequence[str]) -> FullTextQuery:
    return MatchQuery(as_text(terms), "words")


def side_by_side(terms: Sequence[str]) -> FullTextQuery:
    """Look for a run of terms; a phrase of one term is that term."""
    return PhraseQuery(as_text(terms), "words") if len(terms) > 1 else any_of(terms)


def as_text(terms: Sequence[str]) -> str:
    """Join terms for Lance, which takes no half characters."""
    return " ".join(terms).encode(errors="replace").decode()


def all_of(required: Sequence[FullTextQuery], optional: Sequence[FullTextQuery]) -> FullTextQuery:
    return BooleanQuery([(Occur.MUST, each) for each in required] + [(Occur.SHOULD, each) for each in optional])
