"""The tables of the catalog: numbered migrations, never changed once released, only appended to.

`sources`, `files`, `index_runs` and `index_jobs` are documented tables that other programs may read. The rest is
the catalog's own.
"""

from typing import Final

APPLICATION_ID: Final = 0x4F504D44
"""ASCII `OPMD`: tells OpenMind's database from any other, also for `file(1)`."""

FIRST: Final = (
    """
    CREATE TABLE sources (
        id TEXT PRIMARY KEY,
        path TEXT NOT NULL UNIQUE,
        recursive INTEGER NOT NULL DEFAULT 1,
        enabled INTEGER NOT NULL DEFAULT 1,
        created_at TEXT NOT NULL,
        path_bytes BLOB NOT NULL UNIQUE,
        kind TEXT NOT NULL DEFAULT 'folder',
        config TEXT NOT NULL DEFAULT '{}',
        device TEXT,
        ocr INTEGER NOT NULL DEFAULT 1,
        code INTEGER NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE files (
        id TEXT PRIMARY KEY,
        source_id TEXT NOT NULL REFERENCES sources(id),
        path TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        extension TEXT NOT NULL,
        size INTEGER NOT NULL,
        modified_at REAL NOT NULL,
        content_hash TEXT NOT NULL,
        status TEXT NOT NULL,
        indexed_at TEXT,
        error TEXT,
        path_bytes BLOB NOT NULL UNIQUE,
        mtime_ns INTEGER NOT NULL,
        scanned_ns INTEGER NOT NULL,
        reason TEXT NOT NULL,
        extractor TEXT NOT NULL,
        layout TEXT NOT NULL,
        live_generation INTEGER,
        chunk_count INTEGER NOT NULL,
        missing_vectors INTEGER NOT NULL,
        title TEXT NOT NULL,
        metadata TEXT NOT NULL
    )
    """,
    "CREATE INDEX files_in_order ON files(source_id, path_bytes)",
    "CREATE INDEX files_counted ON files(source_id, reason, live_generation, chunk_count, missing_vectors)",
    "CREATE INDEX files_by_content ON files(content_hash, extractor)",
    "CREATE UNIQUE INDEX files_by_generation ON files(live_generation) WHERE live_generation IS NOT NULL",
    "CREATE INDEX files_without_vectors ON files(id) WHERE missing_vectors > 0",
    "CREATE INDEX files_without_passages ON files(id) WHERE live_generation IS NULL AND chunk_count > 0",
    # One row: the highest generation ever reserved. A counter, and not the highest number in use, so that a number
    # never comes back.
    "CREATE TABLE generations (last INTEGER NOT NULL)",
    "INSERT INTO generations (last) VALUES (0)",
    """
    CREATE TABLE index_tables (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        revision TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        prompt_version INTEGER NOT NULL,
        chunking INTEGER NOT NULL,
        analyser INTEGER NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX index_tables_one_live ON index_tables(state) WHERE state = 'live'",
    """
    CREATE TABLE intents (
        generation INTEGER NOT NULL,
        table_id INTEGER NOT NULL,
        PRIMARY KEY (generation, table_id)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE garbage (
        table_id INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        died_at REAL NOT NULL,
        PRIMARY KEY (table_id, generation)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX garbage_by_age ON garbage(died_at)",
    """
    CREATE TABLE filled (
        table_id INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        PRIMARY KEY (table_id, generation)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE texts (
        content_hash TEXT NOT NULL,
        extractor TEXT NOT NULL,
        size INTEGER NOT NULL,
        packed BLOB NOT NULL,
        PRIMARY KEY (content_hash, extractor)
    )
    """,
    # One row: what the texts weigh together, asked for by every status; adding them up takes a third of its time.
    "CREATE TABLE text_totals (size INTEGER NOT NULL)",
    "INSERT INTO text_totals (size) VALUES (0)",
    """
    CREATE TRIGGER text_kept AFTER INSERT ON texts
    BEGIN UPDATE text_totals SET size = size + new.size; END
    """,
    """
    CREATE TRIGGER text_dropped AFTER DELETE ON texts
    BEGIN UPDATE text_totals SET size = size - old.size; END
    """,
    """
    CREATE TABLE vectors (
        embedder TEXT NOT NULL,
        input_hash BLOB NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (embedder, input_hash)
    )
    """,
    """
    CREATE TABLE changes (
        position INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL,
        source_id TEXT NOT NULL,
        path_bytes BLOB NOT NULL,
        kind TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        file_id TEXT,
        effort INTEGER NOT NULL,
        content_hash TEXT NOT NULL
    )
    """,
    "CREATE INDEX changes_in_order ON changes(run_id, effort, size, path_bytes, position)",
    "CREATE INDEX changes_gone ON changes(run_id, content_hash) WHERE kind = 'gone'",
    """
    CREATE TABLE index_runs (
        id TEXT PRIMARY KEY,
        started_at TEXT NOT NULL,
        finished_at TEXT,
        files_seen INTEGER NOT NULL DEFAULT 0,
        files_indexed INTEGER NOT NULL DEFAULT 0,
        files_skipped INTEGER NOT NULL DEFAULT 0,
        errors INTEGER NOT NULL DEFAULT 0,
        already_indexed INTEGER NOT NULL DEFAULT 0,
        moved INTEGER NOT NULL DEFAULT 0,
        removed INTEGER NOT NULL DEFAULT 0,
        waiting_deletions INTEGER NOT NULL DEFAULT 0,
        chunks INTEGER NOT NULL DEFAULT 0,
        extracted INTEGER NOT NULL DEFAULT 0,
        embedded INTEGER NOT NULL DEFAULT 0,
        hashed INTEGER NOT NULL DEFAULT 0,
        state TEXT NOT NULL DEFAULT 'completed',
        pid INTEGER,
        process_started_at REAL,
        boot_id TEXT,
        heartbeat_at TEXT NOT NULL DEFAULT '',
        current_file TEXT NOT NULL DEFAULT '',
        error TEXT NOT NULL DEFAULT '',
        job_id TEXT
    )
    """,
    """
    CREATE TABLE index_jobs (
        id TEXT PRIMARY KEY,
        status TEXT NOT NULL,
        total_files INTEGER DEFAULT 0,
        processed_files INTEGER DEFAULT 0,
        indexed_files INTEGER DEFAULT 0,
        skipped_files INTEGER DEFAULT 0,
        already_indexed_files INTEGER DEFAULT 0,
        failed_files INTEGER DEFAULT 0,
        total_chunks INTEGER DEFAULT 0,
        current_file TEXT,
        error TEXT,
        started_at TEXT,
        completed_at TEXT,
        updated_at TEXT,
        moved INTEGER NOT NULL DEFAULT 0,
        removed INTEGER NOT NULL DEFAULT 0,
        waiting_deletions INTEGER NOT NULL DEFAULT 0,
        extracted INTEGER NOT NULL DEFAULT 0,
        embedded INTEGER NOT NULL DEFAULT 0,
        hashed INTEGER NOT NULL DEFAULT 0,
        pid INTEGER,
        process_started_at REAL,
        boot_id TEXT
    )
    """,
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
)

_ADD: Final = """
    INSERT INTO file_totals (source_id, reason, files, chunks, missing_vectors)
    VALUES (
        new.source_id, new.reason, 1,
        IIF(new.live_generation IS NULL, 0, new.chunk_count), IIF(new.live_generation IS NULL, 0, new.missing_vectors)
    )
    ON CONFLICT DO UPDATE SET
        files = files + 1, chunks = chunks + excluded.chunks,
        missing_vectors = missing_vectors + excluded.missing_vectors;
"""
_TAKE: Final = """
    UPDATE file_totals SET
        files = files - 1,
        chunks = chunks - IIF(old.live_generation IS NULL, 0, old.chunk_count),
        missing_vectors = missing_vectors - IIF(old.live_generation IS NULL, 0, old.missing_vectors)
    WHERE source_id = old.source_id AND reason = old.reason;
"""
COUNTED: Final = (
    # What a status tells of files, at hand: whoever looks every second must not count a million of them each time.
    """
    CREATE TABLE file_totals (
        source_id TEXT NOT NULL,
        reason TEXT NOT NULL,
        files INTEGER NOT NULL,
        chunks INTEGER NOT NULL,
        missing_vectors INTEGER NOT NULL,
        PRIMARY KEY (source_id, reason)
    ) WITHOUT ROWID
    """,
    """
    INSERT INTO file_totals (source_id, reason, files, chunks, missing_vectors)
    SELECT source_id, reason, COUNT(*), SUM(IIF(live_generation IS NULL, 0, chunk_count)),
        SUM(IIF(live_generation IS NULL, 0, missing_vectors))
    FROM files GROUP BY source_id, reason
    """,
    f"CREATE TRIGGER file_added AFTER INSERT ON files BEGIN {_ADD} END",
    f"CREATE TRIGGER file_taken AFTER DELETE ON files BEGIN {_TAKE} END",
    f"""
    CREATE TRIGGER file_changed
    AFTER UPDATE OF source_id, reason, live_generation, chunk_count, missing_vectors ON files
    BEGIN {_TAKE} {_ADD} END
    """,
    """
    CREATE TRIGGER source_taken AFTER DELETE ON sources
    BEGIN DELETE FROM file_totals WHERE source_id = old.id; END
    """,
    "DROP INDEX files_counted",
)

PACED: Final = (
    # How far the vectors are that follow the files, and how long a job has worked: pauses are no part of its pace.
    "ALTER TABLE index_runs ADD COLUMN vectors_wanted INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE index_runs ADD COLUMN vectors_made INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE index_jobs ADD COLUMN vectors_wanted INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE index_jobs ADD COLUMN vectors_made INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE index_jobs ADD COLUMN worked_s REAL NOT NULL DEFAULT 0",
)

CHANGE_TIMED: Final = (
    # Two files can change places, and a backup come back, without a difference in size and date.
    "ALTER TABLE files ADD COLUMN ctime_ns INTEGER",
)

RATED: Final = (
    # How fast it goes since it began or went on; an average over all of its time says nothing after a pause.
    "ALTER TABLE index_runs ADD COLUMN per_second REAL NOT NULL DEFAULT 0",
    "ALTER TABLE index_jobs RENAME COLUMN worked_s TO per_second",
    "UPDATE index_jobs SET per_second = 0",
)

OWNED: Final = (
    # Whose passages they were: with a file goes what it held before it was changed.
    "ALTER TABLE garbage ADD COLUMN file_id TEXT",
)

PROGRESSED: Final = (
    # A process may live, and say so, without finishing anything.
    "ALTER TABLE index_runs ADD COLUMN progressed_at TEXT NOT NULL DEFAULT ''",
)

MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (FIRST, COUNTED, PACED, CHANGE_TIMED, RATED, OWNED, PROGRESSED)
"""Migration n brings a catalog from `user_version` n to n + 1."""

VERSION: Final = len(MIGRATIONS)
