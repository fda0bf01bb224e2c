"""Plans in the catalog: what a run has to do, in the order in which it does it."""

from collections.abc import Collection, Iterable
from typing import Final

from openmind.domain.changes import ChangeKind
from openmind.domain.files import FileStat
from openmind.domain.ids import RunId
from openmind.ports.catalog import PlannedChange

from openmind_stores.sqlite.connection import Row
from openmind_stores.sqlite.records import BYTES, TEXT, WHOLE, Form, Session, or_null, shapes
from openmind_stores.sqlite.tables.paths import as_path
from openmind_stores.sqlite.values import array, batches, integer

_KINDS: Final = {kind.value: kind for kind in ChangeKind}

# Pages continue behind a line, not behind a number: lines that are planned while a plan is being worked on still come
# in their place, and nothing has to be numbered anew. The line is looked up first: compared with a subquery, the index
# would be searched by `effort` alone.
_LINE: Final = "SELECT effort, size, path_bytes, position FROM changes WHERE position = ?"
_COLUMNS: Final = "position, source_id, path_bytes, kind, size, mtime_ns, file_id, effort, content_hash"
_PAGE: Final = f"""
SELECT {_COLUMNS} FROM changes
WHERE run_id = :run AND (:any_kind OR kind IN (SELECT value FROM json_each(:kinds)))
  AND (effort, size, path_bytes, position) > (:effort, :size, :path_bytes, :position)
ORDER BY effort, size, path_bytes, position LIMIT :limit
"""
_GONE: Final = f"""
SELECT {_COLUMNS} FROM changes
WHERE run_id = ? AND content_hash = ? AND kind = 'gone'
  AND EXISTS (SELECT 1 FROM files WHERE id = changes.file_id AND path_bytes = changes.path_bytes)
ORDER BY path_bytes LIMIT 1
"""
_PLAN: Final = """
INSERT INTO changes (run_id, source_id, path_bytes, kind, size, mtime_ns, file_id, effort, content_hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_UNPLAN: Final = "DELETE FROM changes WHERE run_id = ? AND position = ?"
_DROP: Final = "DELETE FROM changes WHERE run_id = ?"
_DROP_ALL: Final = "DELETE FROM changes"


_START: Final = (-1, 0, b"", 0)
"""Before every line."""


def _change(row: Row) -> PlannedChange:
    position, source_id, path_bytes, kind, size, mtime_ns, file_id, effort, content_hash = row
    return PlannedChange(
        position=position,
        source_id=source_id,
        path_bytes=as_path(path_bytes),
        kind=_KINDS[kind],
        stat=FileStat(size=size, mtime_ns=mtime_ns),
        file_id=file_id,
        effort=effort,
        content_hash=content_hash,
    )


CHANGES: Final = Form(
    table="changes",
    every=f"SELECT {_COLUMNS} FROM changes",
    shapes=shapes(WHOLE, TEXT, BYTES, TEXT, WHOLE, WHOLE, or_null(TEXT), WHOLE, TEXT),
    make=_change,
)


class PlanReading(Session):
    """Pages through plans."""

    def next_changes(
        self, run_id: RunId, *, after: int, limit: int, kinds: Collection[ChangeKind] = ()
    ) -> tuple[PlannedChange, ...]:
        seen = self.link.row(_LINE, (after,)) if after else _START
        if seen is None:
            return ()
        effort, size, path_bytes, position = seen
        wanted = {
            "run": run_id,
            "any_kind": not kinds,
            "kinds": array(kinds),
            "effort": effort,
            "size": size,
            "path_bytes": path_bytes,
            "position": position,
            "limit": limit,
        }
        return self.all(CHANGES, _PAGE, wanted)

    def gone_with_content(self, run_id: RunId, content_hash: str) -> PlannedChange | None:
        return self.one(CHANGES, _GONE, (run_id, content_hash))


class PlanWriting(PlanReading):
    """Writes and drops plans."""

    def plan(self, run_id: RunId, changes: Iterable[PlannedChange]) -> None:
        for batch in batches(changes):
            self.link.run_many(_PLAN, (_row(run_id, change) for change in batch))

    def unplan(self, run_id: RunId, changes: Iterable[PlannedChange]) -> None:
        self.link.run_many(_UNPLAN, ((run_id, change.position) for change in changes))

    def drop_plan(self, run_id: RunId | None = None) -> None:
        if run_id is None:
            self.link.run(_DROP_ALL)
        else:
            self.link.run(_DROP, (run_id,))


def _row(run_id: RunId, change: PlannedChange) -> tuple[object, ...]:
    return (
        run_id,
        change.source_id,
        change.path_bytes,
        change.kind.value,
        integer(change.stat.size),
        integer(change.stat.mtime_ns),
        change.file_id,
        change.effort,
        change.content_hash,
    )
