"""Reading one version of a table."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from openmind.domain.chunks import ChunkKey, ChunkRow, StoredPassage
from openmind.domain.ids import FileId, Generation
from openmind.ports.chunk_store import Candidate, CandidateQuery, Candidates, WordsQuery

from openmind_stores.lance.conditions import matching, of_keys, of_rows, quote
from openmind_stores.lance.engine import Dataset, Scored, all_of, any_of, side_by_side
from openmind_stores.lance.errors import first_line, is_from_lance, is_lost_file, reading
from openmind_stores.lance.reading_memory import ReadingMemory
from openmind_stores.lance.row_names import Name
from openmind_stores.lance.sample import Sample
from openmind_stores.lance.schema import KEY, OF_A_PASSAGE, WITHOUT_VECTOR, to_keys, to_passages, to_rows
from openmind_stores.lance.table import Table, in_portions

SPARE = 20
"""Candidates asked for beyond the limit, so that the order of the key, not Lance's, decides between equal ones."""
PROBES = 20
KEYS_AT_ONCE = 2_000

T = TypeVar("T")


class LanceChunkView:
    """One version of a table. A reader whose version was cleaned away goes on, once, with the newest one."""

    def __init__(self, table: Table, memory: ReadingMemory) -> None:
        self._table = table
        self._memory = memory
        self._data = table.open()
        self._row_ids: dict[ChunkKey, int] = {}
        self._names: dict[int, Name] = {}
        """Key and passage of each row that was found so far: a search asks the same view several times."""
        self._cosines: dict[bytes, dict[int, float]] = {}
        """Of each vector that was looked for, the cosine of each row with a vector that was met so far."""
        self._reopened = False

    def candidates(self, query: CandidateQuery) -> Candidates:
        """Ask both legs."""
        found = self._read(lambda data: self._ask(data, query))
        self._memory.searched(self._table.caches)
        return found

    def document_share(self, terms: Sequence[str]) -> tuple[float, ...]:
        """Estimate, for each term, which share of the passages holds it."""
        return self._read(lambda data: tuple(self._sample(data).share(data, term) for term in terms))

    def passages(self, keys: Collection[ChunkKey]) -> dict[ChunkKey, StoredPassage]:
        """Fetch what a search reads of rows; what is not there is left out."""
        wanted = set(keys)

        def fetch(data: Dataset) -> dict[ChunkKey, StoredPassage]:
            known = self._rows_of(data, wanted)
            return to_passages(known, data.take(list(known.values()), OF_A_PASSAGE)) if known else {}

        return self._read(fetch)

    def file_rows(
        self, generation: Generation, file_id: FileId, *, start: int = 0, limit: int = 1_000
    ) -> list[ChunkRow]:
        """Fetch the rows of one file in order, without vectors."""
        where = f"generation = {int(generation)} AND file_id = {quote(file_id)} AND chunk_index >= {int(start)}"

        def read(data: Dataset) -> list[ChunkRow]:
            parts = data.scan(WITHOUT_VECTOR, where=where, order_by=("chunk_index",), limit=limit)
            return [row for part in parts for row in to_rows(part)]

        return self._read(read)

    def _ask(self, data: Dataset, query: CandidateQuery) -> Candidates:
        where = matching(query.filter, bounded=self._sample(data).has_newer(data, query.filter.visible))
        rows: list[int] = []
        if query.filter.keys is not None:
            rows = list(self._rows_of(data, set(query.filter.keys)).values())
            among = of_rows(rows)
            rows = [] if where else rows  # where nothing else is asked for, they are what is found
            where = f"{where} AND {among}" if where else among
        most = query.limit + SPARE
        words, words_error = self._leg(lambda: match(data, query.words, where, most))
        beside = [row_id for row_id, _ in words]
        vectors, vectors_error = self._leg(
            lambda: self._measured(data, query.vector, rows or nearest(data, query.vector, where, most), beside)
        )
        if words_error or vectors_error:
            data.take_at(range(min(1, data.count())), WITHOUT_VECTOR)
        found = self._named(data, {row_id for row_id, _ in (*words, *vectors)})
        return Candidates(
            words=ranked(words, found, query.limit),
            vectors=ranked(vectors, found, query.limit),
            background=self._sample(data).background(data, query.vector) if query.vector and vectors else 0.0,
            words_error=words_error,
            vectors_error=vectors_error,
        )

    def _leg(self, ask: Callable[[], Scored]) -> tuple[Scored, str]:
        """Ask one leg: what it found, or why it found nothing."""
        try:
            return ask(), ""
        except BaseException as error:
            if not is_from_lance(error) or self._may_reopen(error):
                raise
            return [], first_line(error)

    def _measured(self, data: Dataset, vector: bytes | None, rows: Iterable[int], beside: Iterable[int]) -> Scored:
        """Measure the vectors of rows, and of others by the way: who asked is likely to want these next."""
        if vector is None:
            return []
        rows = list(rows)
        known = self._cosines.setdefault(vector, {})
        if unknown := {*rows, *beside} - known.keys():
            known.update(data.cosines(vector, sorted(unknown)))
        return [(row_id, known[row_id]) for row_id in rows if row_id in known]

    def _named(self, data: Dataset, row_ids: Collection[int]) -> Mapping[int, Name]:
        """Name rows, for both legs at once, and remember them."""
        new = set(row_ids) - self._names.keys()
        if new:
            found = self._memory.names(self._table.name).of(data, new)
            self._names.update(found)
            self._row_ids.update((key, row_id) for row_id, (key, _) in found.items())
        return self._names

    def _sample(self, data: Dataset) -> Sample:
        return self._memory.samples.of(self._table.name, data)

    def _rows_of(self, data: Dataset, wanted: set[ChunkKey]) -> dict[ChunkKey, int]:
        known = {key: self._row_ids[key] for key in wanted if key in self._row_ids}
        return known | self._look_up(data, wanted - known.keys())

    def _look_up(self, data: Dataset, keys: Collection[ChunkKey]) -> dict[ChunkKey, int]:
        found: dict[ChunkKey, int] = {}
        for some in in_portions(sorted(keys), KEYS_AT_ONCE):
            row_ids, columns = data.row_ids(of_keys(some), KEY)
            found.update((key, row_id) for key, row_id in zip(to_keys(columns), row_ids, strict=True) if key in keys)
        return found

    def _read(self, ask: Callable[[Dataset], T]) -> T:
        with reading(self._table.name):
            return self._once_more(ask)

    def _once_more(self, ask: Callable[[Dataset], T]) -> T:
        try:
            return ask(self._data)
        except BaseException as error:
            if not is_from_lance(error) or not self._may_reopen(error):
                raise
        self._reopened = True
        self._row_ids.clear()
        self._names.clear()
        self._cosines.clear()
        self._data = self._table.open()
        return ask(self._data)

    def _may_reopen(self, error: BaseException) -> bool:
        return not self._reopened and is_lost_file(error)


def match(data: Dataset, wanted: WordsQuery | None, where: str, limit: int) -> Scored:
    if wanted is None:
        return []
    phrases = [side_by_side(phrase) for phrase in wanted.phrases if phrase]
    terms = [any_of(wanted.terms)] if wanted.terms else []
    if phrases:
        return data.match(all_of(phrases, terms), where=where, limit=limit)
    return data.match(terms[0], where=where, limit=limit) if terms else []


def nearest(data: Dataset, wanted: bytes | None, where: str, limit: int) -> list[int]:
    if wanted is None:
        return []
    if len(wanted) != 4 * data.dimension:
        raise ValueError(f"the query has {len(wanted) // 4} components, the table {data.dimension}")
    return data.nearest(wanted, where=where, limit=limit, probes=PROBES)


def ranked(rows: Scored, found: Mapping[int, Name], limit: int) -> tuple[Candidate, ...]:
    candidates = [Candidate(key=found[row_id][0], score=score, passage=found[row_id][1]) for row_id, score in rows]
    return tuple(sorted(candidates, key=lambda candidate: (-candidate.score, candidate.key))[:limit])
