import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from openmind.domain.changes import ChangeKind, Reader, classify
from openmind.domain.errors import HomeForeign, HomeNewer, StoreError
from openmind.domain.files import FileReason
from openmind.domain.ids import FileId, JobId, SourceId
from openmind.domain.jobs import JobState
from openmind_stores.sqlite.catalog import SqliteCatalog
from openmind_stores.sqlite.schema import APPLICATION_ID, MIGRATIONS, VERSION

LEGACY = """
CREATE TABLE sources (
  id TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE, recursive INTEGER NOT NULL DEFAULT 1,
  enabled INTEGER NOT NULL DEFAULT 1, created_at TEXT NOT NULL
);
CREATE TABLE files (
  id TEXT PRIMARY KEY, source_id TEXT NOT NULL, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  extension TEXT NOT NULL, size INTEGER NOT NULL, modified_at REAL NOT NULL, content_hash TEXT NOT NULL,
  status TEXT NOT NULL, indexed_at TEXT, error TEXT, FOREIGN KEY(source_id) REFERENCES sources(id)
);
CREATE TABLE index_runs (
  id TEXT PRIMARY KEY, started_at TEXT NOT NULL, finished_at TEXT, files_seen INTEGER NOT NULL DEFAULT 0,
  files_indexed INTEGER NOT NULL DEFAULT 0, files_skipped INTEGER NOT NULL DEFAULT 0, errors INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE index_jobs (
  id TEXT PRIMARY KEY, status TEXT NOT NULL, total_files INTEGER DEFAULT 0, processed_files INTEGER DEFAULT 0,
  indexed_files INTEGER DEFAULT 0, skipped_files INTEGER DEFAULT 0, already_indexed_files INTEGER DEFAULT 0,
  failed_files INTEGER DEFAULT 0, total_chunks INTEGER DEFAULT 0, current_file TEXT, error TEXT, started_at TEXT,
  completed_at TEXT, updated_at TEXT
);
INSERT INTO sources (id, path, created_at) VALUES ('s1', '/home/ada/notés', '2025-01-01T00:00:00');
INSERT INTO sources (id, path, recursive, enabled, created_at) VALUES ('s2', '/home/ada/old', 0, 0, '2025-01-02');
INSERT INTO files VALUES
  ('f1', 's1', '/home/ada/notés/a.md', 'a.md', '.md', 12, 1700000000.25, 'aa', 'indexed', '2025-01-01', NULL),
  ('f2', 's1', '/home/ada/notés/b.bin', 'b.bin', '.bin', 0, 0.0, '', 'skipped', NULL, 'no text'),
  ('f3', 's2', '/home/ada/old/c.pdf', 'c.pdf', '.pdf', 7, 1.5, 'cc', 'failed', NULL, 'broken'),
  ('f4', 's2', '/home/ada/old/d.pdf', 'd.pdf', '.pdf', 7, 1.5, 'dd', 'processing', NULL, NULL),
  ('f5', 'gone', '/home/ada/gone/e.md', 'e.md', '.md', 1, 1.0, 'ee', 'indexed', NULL, NULL);
INSERT INTO index_runs VALUES ('r1', '2025-01-01', '2025-01-02', 4, 2, 1, 1), ('r2', '2025-01-03', NULL, 0, 0, 0, 0);
INSERT INTO index_jobs (id, status, total_files, indexed_files, started_at) VALUES ('j1', 'completed', 5, 4, '1');
INSERT INTO index_jobs (id, status, total_files, failed_files, started_at) VALUES ('j2', 'running', NULL, 1, '2');
"""


def legacy_home(home: Path, *, script: str = LEGACY) -> SqliteCatalog:
    """Make a home as it was before the schema had versions."""
    with closing(sqlite3.connect(home / "openmind.sqlite")) as connection:
        connection.executescript(script)
    return SqliteCatalog(home)


def adopt(catalog: SqliteCatalog) -> SqliteCatalog:
    catalog.initialise(written_by=lambda: "0.1.0")
    return catalog


def shape(path: Path) -> list[tuple[str, str, str]]:
    """Describe tables and indexes, whatever way they came to be."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name"
        ).fetchall()


def pragma(path: Path, name: str) -> object:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_a_new_catalog_says_whose_it_is(tmp_path: Path) -> None:
    catalog = adopt(SqliteCatalog(tmp_path))

    assert pragma(catalog.path, "user_version") == VERSION
    assert pragma(catalog.path, "application_id") == APPLICATION_ID
    assert pragma(catalog.path, "integrity_check") == "ok"


def test_the_documented_columns_are_there(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    catalog = adopt(SqliteCatalog(tmp_path / "new"))
    legacy_home(tmp_path)
    with closing(sqlite3.connect(tmp_path / "openmind.sqlite")) as old, closing(sqlite3.connect(catalog.path)) as new:
        for table in ("sources", "files", "index_runs", "index_jobs"):
            before = [row[1:3] for row in old.execute(f"PRAGMA table_info({table})")]
            after = [row[1:3] for row in new.execute(f"PRAGMA table_info({table})")]
            assert after[: len(before)] == before


def test_initialising_twice_changes_nothing(tmp_path: Path) -> None:
    catalog = adopt(SqliteCatalog(tmp_path))
    with catalog.writing() as session:
        session.set_setting("a", "b")
    before = catalog.path.read_bytes()

    adopt(catalog)

    assert catalog.path.read_bytes() == before


def test_an_empty_file_becomes_a_catalog(tmp_path: Path) -> None:
    (tmp_path / "openmind.sqlite").touch()

    with adopt(SqliteCatalog(tmp_path)).reading() as snapshot:
        assert snapshot.sources() == ()


def test_a_legacy_home_gets_the_tables_of_today(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    new = adopt(SqliteCatalog(tmp_path / "new"))
    old = adopt(legacy_home(tmp_path))

    assert shape(old.path) == shape(new.path)
    assert pragma(old.path, "auto_vacuum") == 2
    assert pragma(old.path, "journal_mode") == "wal"
    assert pragma(old.path, "integrity_check") == "ok"
    assert pragma(old.path, "user_version") == VERSION


def test_sources_of_a_legacy_home_are_kept(tmp_path: Path) -> None:
    with adopt(legacy_home(tmp_path)).reading() as snapshot:
        first, second = snapshot.sources()

    assert (first.id, first.path_bytes, first.recursive, first.enabled) == (
        "s1",
        "/home/ada/notés".encode(),
        True,
        True,
    )
    assert (second.id, second.recursive, second.enabled) == ("s2", False, False)


def test_files_of_a_legacy_home_are_kept_and_orphans_left_behind(tmp_path: Path) -> None:
    with adopt(legacy_home(tmp_path)).reading() as snapshot:
        files = {found.id: found for found in snapshot.list_files()}

    assert sorted(files) == ["f1", "f2", "f3", "f4"]
    assert files[FileId("f1")].path_bytes == "/home/ada/notés/a.md".encode()
    assert files[FileId("f1")].stat.size == 12
    assert files[FileId("f1")].stat.modified_at == pytest.approx(1_700_000_000.25)
    assert [found.reason for _, found in sorted(files.items())] == [
        FileReason.OK,
        FileReason.EMPTY,
        FileReason.DAMAGED,
        FileReason.DAMAGED,
    ]
    assert files[FileId("f2")].error == "no text"


def test_every_file_of_a_legacy_home_is_read_again(tmp_path: Path) -> None:
    today = Reader(extractor="markdown/1", layout="1.1")
    with adopt(legacy_home(tmp_path)).reading() as snapshot:
        for found in snapshot.list_files():
            assert found.live_generation is None
            assert classify(found.stat, found, today) in {ChangeKind.SUSPECT, ChangeKind.REREAD}
            assert found.content_hash == ""  # so that no hash can say it has not changed


def test_runs_and_jobs_of_a_legacy_home_are_kept(tmp_path: Path) -> None:
    with adopt(legacy_home(tmp_path)).reading() as snapshot:
        runs = snapshot.runs()
        finished, running = snapshot.job(JobId("j1")), snapshot.job(JobId("j2"))

    assert [(run.id, run.tally.total, run.tally.indexed, run.tally.failed) for run in runs] == [
        ("r2", 0, 0, 0),
        ("r1", 4, 2, 1),
    ]
    assert finished is not None
    assert running is not None
    assert (finished.state, finished.tally.total, finished.tally.indexed) == (JobState.COMPLETED, 5, 4)
    assert (running.state, running.tally.total, running.tally.failed) == (JobState.FAILED, 0, 1)


def test_a_legacy_home_can_be_written_to(tmp_path: Path) -> None:
    catalog = adopt(legacy_home(tmp_path))

    with catalog.writing() as session:
        session.delete_source(SourceId("s1"))

    with catalog.reading() as snapshot:
        assert [found.id for found in snapshot.list_files()] == ["f3", "f4"]


def test_a_legacy_home_without_runs_and_jobs_is_taken_over(tmp_path: Path) -> None:
    catalog = legacy_home(tmp_path, script=LEGACY.split("CREATE TABLE index_runs")[0])

    with adopt(catalog).reading() as snapshot:
        assert snapshot.runs() == ()


def test_reading_a_legacy_home_says_what_to_do(tmp_path: Path) -> None:
    catalog = legacy_home(tmp_path)

    with pytest.raises(StoreError, match="older") as caught, catalog.reading():
        pass  # never reached
    assert "openmind init" in caught.value.hint
    with pytest.raises(StoreError, match="older"), catalog.writing():
        pass  # never reached


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE bookmarks (id INTEGER)",
        "CREATE TABLE sources (id TEXT, path TEXT, recursive, enabled, created_at)",
        "CREATE TABLE sources (id TEXT); CREATE TABLE files (id TEXT)",
        "CREATE TABLE x (id TEXT); PRAGMA application_id = 7",
        "CREATE TABLE x (id TEXT); PRAGMA user_version = 1",
    ],
)
def test_the_database_of_another_program_is_left_alone(tmp_path: Path, script: str) -> None:
    catalog = legacy_home(tmp_path, script=script)
    before = catalog.path.read_bytes()

    with pytest.raises(HomeForeign):
        adopt(catalog)

    assert catalog.path.read_bytes() == before


def newer_home(home: Path) -> SqliteCatalog:
    catalog = adopt(SqliteCatalog(home))
    with closing(sqlite3.connect(catalog.path)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 3}")
        connection.execute("UPDATE settings SET value = '9.8.7' WHERE name = 'written_by'")
        connection.commit()
    return catalog


def test_a_newer_home_is_refused_and_names_the_version_that_can_read_it(tmp_path: Path) -> None:
    catalog = newer_home(tmp_path)
    before = shape(catalog.path)

    for attempt in (
        lambda: adopt(catalog),
        lambda: catalog.reading().__enter__(),
        lambda: catalog.writing().__enter__(),
    ):
        with pytest.raises(HomeNewer) as caught:
            attempt()
        assert "9.8.7" in caught.value.hint
        assert "was written by OpenMind 9.8.7" in caught.value.message

    assert shape(catalog.path) == before


def test_a_newer_home_whose_settings_are_elsewhere_is_refused_too(tmp_path: Path) -> None:
    catalog = newer_home(tmp_path)
    with closing(sqlite3.connect(catalog.path)) as connection:
        connection.execute("DROP TABLE settings")

    with pytest.raises(HomeNewer):
        adopt(catalog)


def test_a_home_that_becomes_newer_is_noticed_by_a_process_that_has_used_it(tmp_path: Path) -> None:
    catalog = adopt(SqliteCatalog(tmp_path))
    with catalog.writing() as session:
        session.set_setting("a", "b")
    newer_home(tmp_path)

    with pytest.raises(HomeNewer), catalog.writing():
        pass  # never reached


def test_private_files_stay_private_when_they_were_not(tmp_path: Path) -> None:
    catalog = legacy_home(tmp_path)
    catalog.path.chmod(0o644)

    adopt(catalog)

    assert catalog.path.stat().st_mode & 0o777 == 0o600


KILLED = """
import os, signal, sys
from pathlib import Path
from openmind_stores.sqlite import migration
from openmind_stores.sqlite.catalog import SqliteCatalog

step = int(sys.argv[2])
run = migration.Link.run
calls = 0

def counted(link, sql, parameters=()):
    global calls
    calls += 1
    if calls == step:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(link, sql, parameters)

migration.Link.run = counted
SqliteCatalog(Path(sys.argv[1])).initialise(written_by=lambda: "0.1.0")
print(calls)
"""


def test_a_migration_that_is_killed_at_any_step_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    reference = tmp_path / "reference"
    reference.mkdir()
    adopt(legacy_home(reference))
    steps = range(1, 70, 4)
    outcomes = []
    for step in steps:
        home = tmp_path / str(step)
        home.mkdir()
        legacy = legacy_home(home)
        before = shape(legacy.path)
        child = subprocess.run(
            [sys.executable, "-c", KILLED, str(home), str(step)], capture_output=True, text=True, check=False
        )
        killed = child.returncode == -signal.SIGKILL
        assert killed or child.returncode == 0, child.stderr

        found = shape(legacy.path)
        assert found in (before, shape(reference / "openmind.sqlite"))
        outcomes.append((killed, found == before))

        with adopt(legacy).reading() as snapshot:
            assert len(snapshot.list_files()) == 4
        assert shape(legacy.path) == shape(reference / "openmind.sqlite")
        assert pragma(legacy.path, "auto_vacuum") == 2
    assert (True, True) in outcomes


def test_many_processes_can_initialise_one_home_at_once(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from openmind_stores.sqlite.catalog import SqliteCatalog;"
        "SqliteCatalog(Path(sys.argv[1]), lock_timeout_s=60).initialise(written_by=lambda: '0.1.0')"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stderr=subprocess.PIPE) for _ in range(6)
    ]

    failures = [child.communicate()[1].decode() for child in children]

    assert failures == [""] * 6
    assert pragma(tmp_path / "openmind.sqlite", "integrity_check") == "ok"


@pytest.mark.parametrize("version", range(1, VERSION))
def test_a_catalog_of_every_earlier_version_gets_the_tables_of_today(tmp_path: Path, version: int) -> None:
    (tmp_path / "new").mkdir()
    new = adopt(SqliteCatalog(tmp_path / "new"))
    old = SqliteCatalog(tmp_path)
    with closing(sqlite3.connect(old.path)) as connection:
        for statement in (each for number in range(version) for each in MIGRATIONS[number]):
            connection.execute(statement)
        connection.execute("INSERT INTO index_jobs (id, status, indexed_files) VALUES ('job_1', 'completed', 7)")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()

    with adopt(old).reading() as snapshot:
        job = snapshot.job(JobId("job_1"))

    assert shape(old.path) == shape(new.path)
    assert (job.tally.indexed, job.tally.vectors_wanted, job.per_second) == (7, 0, 0.0)


def test_a_catalog_of_before_the_totals_has_its_files_counted(tmp_path: Path) -> None:
    catalog = adopt(legacy_home(tmp_path))
    with closing(sqlite3.connect(catalog.path)) as connection:
        connection.executescript(
            "UPDATE files SET live_generation = 7, chunk_count = 3, missing_vectors = 2 WHERE id = 'f1';"
            "DROP TRIGGER file_added; DROP TRIGGER file_taken; DROP TRIGGER file_changed; DROP TRIGGER source_taken;"
            "DROP TABLE file_totals; ALTER TABLE garbage DROP COLUMN file_id; PRAGMA user_version = 1;"
            "ALTER TABLE index_runs DROP COLUMN vectors_wanted; ALTER TABLE index_runs DROP COLUMN vectors_made;"
            "ALTER TABLE index_jobs DROP COLUMN vectors_wanted; ALTER TABLE index_jobs DROP COLUMN vectors_made;"
            "ALTER TABLE index_jobs DROP COLUMN per_second; ALTER TABLE index_runs DROP COLUMN per_second;"
            "ALTER TABLE files DROP COLUMN ctime_ns; ALTER TABLE index_runs DROP COLUMN progressed_at;"
            "CREATE INDEX files_counted ON files(source_id, reason, live_generation, chunk_count, missing_vectors);"
        )

    with adopt(catalog).reading() as snapshot:
        counts = snapshot.counts()

    assert pragma(catalog.path, "user_version") == VERSION
    assert (counts.files, counts.chunks, counts.missing_vectors) == (2, 3, 2)
    assert counts.by_reason == {FileReason.OK: 1, FileReason.EMPTY: 1}
