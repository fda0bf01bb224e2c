"""Sources in the catalog."""

from typing import Final

from openmind.domain.errors import SourceExists, SourceNotFound
from openmind.domain.ids import SourceId
from openmind.domain.sources import Source

from openmind_stores.sqlite.connection import Row
from openmind_stores.sqlite.records import BYTES, TEXT, WHOLE, Form, Session, or_null, shapes
from openmind_stores.sqlite.tables.paths import as_path, shown

_EVERY: Final = """
SELECT id, path_bytes, recursive, enabled, created_at, kind, config, device, ocr, code FROM sources
"""
_LIST: Final = f"{_EVERY} WHERE enabled >= ? ORDER BY rowid"
_FETCH: Final = f"{_EVERY} WHERE id = ?"
_TAKEN: Final = "SELECT 1 FROM sources WHERE id = ? OR path_bytes = ?"
_SHOWN: Final = "SELECT 1 FROM sources WHERE path = ?"
_INSERT: Final = """
INSERT INTO sources (id, path, path_bytes, recursive, enabled, created_at, kind, config, device, ocr, code)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_UPDATE: Final = """
UPDATE sources SET recursive = ?, enabled = ?, created_at = ?, kind = ?, config = ?, device = ?, ocr = ?, code = ?
WHERE id = ?
"""


def _source(row: Row) -> Source:
    id, path_bytes, recursive, enabled, created_at, kind, config, device, ocr, code = row
    return Source(
        id=id,
        path_bytes=as_path(path_bytes),
        recursive=bool(recursive),
        enabled=bool(enabled),
        created_at=created_at,
        kind=kind,
        config=config,
        device=None if device is None else int(device),
        ocr=bool(ocr),
        code=bool(code),
    )


SOURCES: Final = Form(
    table="sources",
    every=_EVERY,
    shapes=shapes(TEXT, BYTES, WHOLE, WHOLE, TEXT, TEXT, TEXT, or_null(TEXT), WHOLE, WHOLE),
    make=_source,
)


def _properties(source: Source) -> tuple[object, ...]:
    device = None if source.device is None else str(source.device)  # some systems have numbers of 64 bits and more
    return (
        source.recursive,
        source.enabled,
        source.created_at,
        source.kind,
        source.config,
        device,
        source.ocr,
        source.code,
    )


class SourceReading(Session):
    """Looks sources up."""

    def sources(self, *, enabled_only: bool = False) -> tuple[Source, ...]:
        return self.all(SOURCES, _LIST, (int(enabled_only),))

    def source(self, source_id: SourceId) -> Source:
        source = self.one(SOURCES, _FETCH, (source_id,))
        if source is None:
            raise _not_found(source_id)
        return source


class SourceWriting(SourceReading):
    """Changes sources."""

    def add_source(self, source: Source) -> None:
        if self.link.row(_TAKEN, (source.id, source.path_bytes)):
            raise SourceExists(f"{source.path} is a source already", hint="`openmind source list` shows all of them.")
        path = shown(source.path_bytes, lambda look: self.link.row(_SHOWN, (look,)) is not None)
        self.link.run(_INSERT, (source.id, path, source.path_bytes, *_properties(source)))

    def update_source(self, source: Source) -> None:
        if not self.link.run(_UPDATE, (*_properties(source), source.id)):
            raise _not_found(source.id)


def _not_found(source_id: SourceId) -> SourceNotFound:
    return SourceNotFound(f"there is no source {source_id}", hint="`openmind source list` shows all of them.")
