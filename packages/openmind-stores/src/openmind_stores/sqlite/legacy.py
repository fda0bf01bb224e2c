"""Takes over a catalog that was made before the schema had versions.

It has the documented tables with their first columns and nothing else. Its rows move into tables of today; what its
passages were made with is unknown, so every file counts as not yet read.
"""

from typing import Final

from openmind.domain.errors import HomeForeign

from openmind_stores.sqlite.connection import Link

_TABLES: Final = """
SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
"""
_COLUMNS: Final = "SELECT name FROM pragma_table_info(?)"

_MUST_HAVE: Final = {
    "sources": {"id", "path", "recursive", "enabled", "created_at"},
    "files": {
        "id", "source_id", "path", "name", "extension", "size", "modified_at", "content_hash", "status",
        "indexed_at", "error",
    },
}  # fmt: skip
_MAY_HAVE: Final = {
    "index_runs": {"id", "started_at", "finished_at", "files_seen", "files_indexed", "files_skipped", "errors"},
    "index_jobs": {
        "id", "status", "total_files", "processed_files", "indexed_files", "skipped_files", "already_indexed_files",
        "failed_files", "total_chunks", "current_file", "error", "started_at", "completed_at", "updated_at",
    },
}  # fmt: skip

_KNOWN: Final = {**_MUST_HAVE, **_MAY_HAVE}

_SET_ASIDE: Final = {
    "sources": "ALTER TABLE sources RENAME TO legacy_sources",
    "files": "ALTER TABLE files RENAME TO legacy_files",
    "index_runs": "ALTER TABLE index_runs RENAME TO legacy_index_runs",
    "index_jobs": "ALTER TABLE index_jobs RENAME TO legacy_index_jobs",
}

_COPY_SOURCES: Final = """
INSERT INTO sources (id, path, recursive, enabled, created_at, path_bytes)
SELECT id, path, recursive, enabled, created_at, CAST(path AS BLOB) FROM legacy_sources
"""
# The hash is not taken over: it would let a file pass for unchanged whose text nobody kept.
_COPY_FILES: Final = """
INSERT INTO files (
    id, source_id, path, name, extension, size, modified_at, content_hash, status, indexed_at, error,
    path_bytes, mtime_ns, scanned_ns, reason, extractor, layout, live_generation, chunk_count, missing_vectors,
    title, metadata
)
SELECT
    id, source_id, path, name, extension, size, modified_at, '', status, '', COALESCE(error, ''),
    CAST(path AS BLOB), CAST(modified_at * 1000000000 AS INTEGER), 0, reason, '', '', NULL, 0, 0,
    '', '{}'
FROM (
    SELECT *, CASE status WHEN 'indexed' THEN 'ok' WHEN 'skipped' THEN 'empty' ELSE 'damaged' END AS reason
    FROM legacy_files
    WHERE source_id IN (SELECT id FROM sources)
)
"""
_NAME_STATUS: Final = """
UPDATE files SET status = 'failed' WHERE status NOT IN ('indexed', 'skipped', 'failed')
"""
_COPY_RUNS: Final = """
INSERT INTO index_runs (id, started_at, finished_at, files_seen, files_indexed, files_skipped, errors)
SELECT id, started_at, finished_at, files_seen, files_indexed, files_skipped, errors
FROM legacy_index_runs ORDER BY started_at
"""
_COPY_JOBS: Final = """
INSERT INTO index_jobs (
    id, status, total_files, processed_files, indexed_files, skipped_files, already_indexed_files, failed_files,
    total_chunks, current_file, error, started_at, completed_at, updated_at
)
SELECT
    id, CASE WHEN status IN ('completed', 'stopped', 'failed') THEN status ELSE 'failed' END,
    COALESCE(total_files, 0), COALESCE(processed_files, 0), COALESCE(indexed_files, 0), COALESCE(skipped_files, 0),
    COALESCE(already_indexed_files, 0), COALESCE(failed_files, 0), COALESCE(total_chunks, 0),
    '', COALESCE(error, ''), started_at, completed_at, updated_at
FROM legacy_index_jobs ORDER BY started_at
"""
_COPY: Final = {
    "sources": (_COPY_SOURCES, "DROP TABLE legacy_sources"),
    "files": (_COPY_FILES, _NAME_STATUS, "DROP TABLE legacy_files"),
    "index_runs": (_COPY_RUNS, "DROP TABLE legacy_index_runs"),
    "index_jobs": (_COPY_JOBS, "DROP TABLE legacy_index_jobs"),
}


def require_ours(link: Link) -> None:
    """Refuse a database whose tables are none of OpenMind's; an empty one will do.

    Raises:
        HomeForeign
    """
    found = {name: _columns(link, name) for (name,) in link.rows(_TABLES)}
    complete = all(columns <= found[name] for name, columns in _KNOWN.items() if name in found)
    if found and not (complete and _MUST_HAVE.keys() <= found.keys()):
        raise HomeForeign(
            f"{link.path} is the database of another program", hint="Choose another folder as OpenMind's home."
        )


def has_tables(link: Link) -> bool:
    """Whether there is a legacy catalog at all: an empty database could be anybody's."""
    return bool(link.rows(_TABLES))


def set_aside(link: Link) -> tuple[str, ...]:
    """Make room for the tables of today; returns the names of the legacy tables, none in an empty database."""
    found = {name for (name,) in link.rows(_TABLES)}
    legacy = tuple(name for name in _KNOWN if name in found)
    for name in legacy:
        link.run(_SET_ASIDE[name])
    return legacy


def take_over(link: Link, legacy: tuple[str, ...]) -> None:
    """Move the rows that `set_aside` left; files whose source is gone are left behind."""
    for name in legacy:
        for statement in _COPY[name]:
            link.run(statement)


def _columns(link: Link, table: str) -> set[str]:
    return {name for (name,) in link.rows(_COLUMNS, (table,))}
