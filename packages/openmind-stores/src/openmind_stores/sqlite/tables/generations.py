"""Generations in the catalog: which are reserved, which died, what a reader may see."""

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Final

from openmind.domain.ids import FileId, Generation
from openmind.domain.index import Visibility, as_ranges
from openmind.ports.catalog import GarbageEntry

from openmind_stores.sqlite.records import REAL, TEXT, WHOLE, Form, Session, shapes
from openmind_stores.sqlite.values import array, batches

_NEWEST: Final = "SELECT last FROM generations"
_RESERVE: Final = "UPDATE generations SET last = last + ?"
_INTENTS: Final = "SELECT table_id, generation FROM intents ORDER BY generation, table_id"
_INVISIBLE: Final = """
SELECT generation FROM intents WHERE table_id = :table
UNION
SELECT generation FROM garbage WHERE table_id = :table
ORDER BY generation
"""
_LIVE: Final = """
SELECT live_generation, id, chunk_count FROM files WHERE live_generation IS NOT NULL ORDER BY live_generation
"""
_FILLED: Final = """
SELECT filled.generation, files.id, files.chunk_count
FROM filled JOIN files ON files.live_generation = filled.generation
WHERE filled.table_id = ? ORDER BY filled.generation
"""
_GARBAGE: Final = """
SELECT table_id, generation, died_at FROM garbage WHERE died_at < ?
ORDER BY died_at, table_id, generation LIMIT ?
"""
_INTEND: Final = "INSERT INTO intents (generation, table_id) VALUES (?, ?)"
_BURY: Final = """
INSERT OR IGNORE INTO garbage (table_id, generation, died_at)
SELECT table_id, generation, :at FROM intents WHERE generation IN (SELECT value FROM json_each(:generations))
"""
_END: Final = "DELETE FROM intents WHERE generation IN (SELECT value FROM json_each(?))"
_BURY_ALL: Final = """
INSERT OR IGNORE INTO garbage (table_id, generation, died_at) SELECT table_id, generation, ? FROM intents
"""
_END_ALL: Final = "DELETE FROM intents"
_DROP_GARBAGE: Final = "DELETE FROM garbage WHERE table_id = ? AND generation = ?"
_DROP_FILLED: Final = "DELETE FROM filled WHERE table_id = ? AND generation = ?"
_FILL: Final = """
INSERT OR IGNORE INTO filled (table_id, generation)
SELECT :table, live_generation FROM files WHERE live_generation IN (SELECT value FROM json_each(:generations))
"""
# They died while their rows were being copied; nobody searches a table that is being filled, so they are old at once.
_BURY_UNFILLED: Final = """
INSERT OR IGNORE INTO garbage (table_id, generation, died_at)
SELECT :table, value, 0.0 FROM json_each(:generations)
WHERE NOT EXISTS (SELECT 1 FROM files WHERE live_generation = json_each.value)
"""


NEWEST: Final[Form[Generation]] = Form(table="generations", every=_NEWEST, shapes=shapes(WHOLE), make=itemgetter(0))
INTENTS: Final[Form[tuple[int, Generation]]] = Form(
    table="intents",
    every="SELECT table_id, generation FROM intents",
    shapes=shapes(WHOLE, WHOLE),
    make=lambda row: row,
)
GARBAGE: Final = Form(
    table="garbage",
    every="SELECT table_id, generation, died_at FROM garbage",
    shapes=shapes(WHOLE, WHOLE, REAL),
    make=lambda row: GarbageEntry(table_id=row[0], generation=row[1], died_at=row[2]),
)
INVISIBLE: Final[Form[Generation]] = Form(
    table="garbage", every="SELECT generation FROM garbage", shapes=shapes(WHOLE), make=itemgetter(0)
)
LIVE: Final[Form[tuple[Generation, FileId, int]]] = Form(
    table="files", every=_LIVE, shapes=shapes(WHOLE, TEXT, WHOLE), make=lambda row: row
)


class GenerationReading(Session):
    """Tells what may be seen."""

    def visibility(self, table_id: int) -> Visibility:
        dead = list(self.each(INVISIBLE, _INVISIBLE, {"table": table_id}))
        return Visibility(newest=self._newest(), dead=as_ranges(dead))

    def garbage(self, *, died_before: float, limit: int) -> tuple[GarbageEntry, ...]:
        return self.all(GARBAGE, _GARBAGE, (died_before, limit))

    def intents(self) -> tuple[tuple[int, Generation], ...]:
        return self.all(INTENTS, _INTENTS)

    def live_generations(self) -> Iterator[tuple[Generation, FileId, int]]:
        return self.each(LIVE, _LIVE)

    def filled_generations(self, table_id: int) -> Iterator[tuple[Generation, FileId, int]]:
        return self.each(LIVE, _FILLED, (table_id,))

    def _newest(self) -> Generation:
        return self.sole(NEWEST, _NEWEST)


class GenerationWriting(GenerationReading):
    """Reserves generations and buries them."""

    def begin(self, table_ids: Sequence[int], count: int) -> list[Generation]:
        self.link.run(_RESERVE, (count,))
        last = self._newest()
        generations = [Generation(number) for number in range(last - count + 1, last + 1)]
        self.link.run_many(_INTEND, ((number, table_id) for number in generations for table_id in table_ids))
        return generations

    def abandon(self, generations: Iterable[Generation], *, at: float) -> None:
        for batch in batches(generations):
            packed = array(batch)
            self.link.run(_BURY, {"at": at, "generations": packed})
            self.link.run(_END, (packed,))

    def abandon_all(self, *, at: float) -> int:
        self.link.run(_BURY_ALL, (at,))
        return self.link.run(_END_ALL)

    def drop_garbage(self, entries: Iterable[GarbageEntry]) -> None:
        for batch in batches(entries):
            self.link.run_many(_DROP_GARBAGE, ((entry.table_id, entry.generation) for entry in batch))

    def mark_filled(self, table_id: int, generations: Iterable[Generation]) -> None:
        for batch in batches(generations):
            named = {"table": table_id, "generations": array(batch)}
            self.link.run(_FILL, named)
            self.link.run(_BURY_UNFILLED, named)

    def unmark_filled(self, table_id: int, generations: Iterable[Generation]) -> None:
        for batch in batches(generations):
            self.link.run_many(_DROP_FILLED, ((table_id, generation) for generation in batch))
