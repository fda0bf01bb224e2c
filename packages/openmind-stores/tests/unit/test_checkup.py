"""Damage in a catalog is found, and a stranger's database told from our own."""

import shutil
import sqlite3
import traceback
from contextlib import closing
from pathlib import Path

import pytest
from openmind.domain.errors import CatalogDamaged
from openmind.domain.ids import RunId, SourceId
from openmind.ports.catalog import CatalogReader
from openmind_stores.storage import LocalStorage

LEGACY = """
CREATE TABLE sources (id TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE, recursive INTEGER NOT NULL DEFAULT 1,
  enabled INTEGER NOT NULL DEFAULT 1, created_at TEXT NOT NULL);
CREATE TABLE files (id TEXT PRIMARY KEY, source_id TEXT NOT NULL, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  extension TEXT NOT NULL, size INTEGER NOT NULL, modified_at REAL NOT NULL, content_hash TEXT NOT NULL,
  status TEXT NOT NULL, indexed_at TEXT, error TEXT);
"""


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    storage = LocalStorage(tmp_path / "home")
    storage.initialise()
    return storage


def write(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


def test_a_sound_catalog_has_no_damage(storage: LocalStorage) -> None:
    health = storage.examine()

    assert health.damage == ()
    assert health.quarantined == ()
    assert health.versions["SQLite"] == sqlite3.sqlite_version
    assert health.versions["Lance"][0].isdigit()


def test_damaged_pages_are_told(storage: LocalStorage) -> None:
    path = storage.home / "openmind.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany("INSERT INTO settings VALUES (?, ?)", [(f"name{n}", "x" * 500) for n in range(200)])
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : -100] = b"\x5a" * (len(content) - len(content) // 2 - 100)
    path.write_bytes(content)

    assert storage.examine().damage


def test_records_that_point_nowhere_are_told(storage: LocalStorage) -> None:
    write(
        storage.home / "openmind.sqlite",
        """
        PRAGMA foreign_keys = OFF;
        INSERT INTO files VALUES ('f', 'nobody', '/a', 'a', '', 1, 1.0, '', 'indexed', '', '', x'2f61', 1, 1, 'ok',
            '', '', NULL, 0, 0, '', '{}', NULL);
        """,
    )

    assert any("files" in sentence and "nowhere" in sentence for sentence in storage.examine().damage)


@pytest.mark.parametrize(("table", "column"), [("settings", "value"), ("sources", "created_at")])
def test_text_that_is_none_is_told_without_showing_it(storage: LocalStorage, table: str, column: str) -> None:
    garbled = "CAST(x'70726976617465207469746c6520ff' AS TEXT)"
    write(
        storage.home / "openmind.sqlite",
        f"""
        INSERT INTO sources (id, path, path_bytes, created_at) VALUES ('s', '/notes', x'2f', '');
        UPDATE {table} SET {column} = {garbled};
        """,
    )

    [sentence] = storage.examine().damage
    assert f"the table {table} hold text that is none" in sentence
    with storage.catalog.reading() as snapshot, pytest.raises(CatalogDamaged) as told:
        (snapshot.sources(), snapshot.setting("written_by"))
    assert "private" not in told.value.message
    assert "backup" in str(told.value.hint)


# One row in each table; what a person has there is fit for a message in none of them.
FULL = """
INSERT INTO sources (id, path, path_bytes, created_at) VALUES ('s', '/notes', x'2f6e', '2026-01-01T00:00:00+00:00');
INSERT INTO files VALUES ('f', 's', '/n/a', 'a', '', 1, 1.0, 'h', 'indexed', '', '', x'2f6e2f61', 1, 1, 'ok', '', '',
    NULL, 0, 0, '', '{}', NULL);
INSERT INTO index_tables VALUES (1, 'chunks', 'live', 'p', 'm', '', 4, 1, 1, 1);
INSERT INTO index_runs (id, started_at) VALUES ('r', '2026-01-01T00:00:00+00:00');
INSERT INTO index_jobs (id, status) VALUES ('j', 'running');
INSERT INTO changes VALUES (1, 'r', 's', x'2f6e2f61', 'new', 1, 1, NULL, 0, '');
INSERT INTO intents VALUES (9, 1);
INSERT INTO garbage VALUES (1, 8, 0.0, NULL);
INSERT INTO texts VALUES ('h', 'markdown/1', 1, x'00');
INSERT INTO vectors VALUES ('e', x'00', x'00');
"""
IMPOSSIBLE = (
    ("sources", "UPDATE sources SET path_bytes = 5"),
    ("sources", "UPDATE sources SET path_bytes = x'2f6e006e'"),
    ("sources", "UPDATE sources SET device = 'private'"),
    ("files", "UPDATE files SET reason = 'private'"),
    ("files", "UPDATE files SET path_bytes = 5"),
    ("files", "UPDATE files SET size = 'private'"),
    ("file_totals", "UPDATE file_totals SET reason = 'private'"),
    ("text_totals", "DELETE FROM text_totals"),
    ("index_tables", "UPDATE index_tables SET state = 'private'"),
    ("index_tables", "UPDATE index_tables SET dimension = 'private'"),
    ("index_runs", "UPDATE index_runs SET state = 'private'"),
    ("index_runs", "UPDATE index_runs SET pid = 5"),
    ("index_jobs", "UPDATE index_jobs SET status = 'private'"),
    ("index_jobs", "UPDATE index_jobs SET total_files = NULL"),
    ("index_jobs", "UPDATE index_jobs SET updated_at = 'private'"),
    ("index_jobs", "UPDATE index_jobs SET started_at = '2026-01-01T00:00:00'"),
    ("changes", "UPDATE changes SET kind = 'private'"),
    ("changes", "UPDATE changes SET path_bytes = 'private'"),
    ("generations", "UPDATE generations SET last = 'private'"),
    ("generations", "DELETE FROM generations"),
    ("intents", "UPDATE intents SET generation = 'private'"),
    ("garbage", "UPDATE garbage SET generation = 'private'"),
    ("texts", "UPDATE texts SET packed = 'private'"),
    ("vectors", "UPDATE vectors SET vector = 'private'"),
    ("settings", "UPDATE settings SET value = x'70726976617465' WHERE name = 'written_by'"),
)


def read_everything(snapshot: CatalogReader) -> None:
    """Read each table as OpenMind does."""
    snapshot.sources()
    list(snapshot.known_files(SourceId("s")))
    snapshot.counts()
    snapshot.tables()
    snapshot.runs()
    snapshot.latest_job()
    snapshot.next_changes(RunId("r"), after=0, limit=9)
    snapshot.intents()
    snapshot.garbage(died_before=1.0, limit=9)
    snapshot.visibility(1)
    snapshot.text("h", "markdown/1")
    snapshot.vectors("e", [b"\0"])
    snapshot.setting("written_by")


def test_what_may_be_in_a_catalog_is_no_damage(storage: LocalStorage) -> None:
    write(storage.home / "openmind.sqlite", FULL)

    assert storage.examine().damage == ()
    with storage.catalog.reading() as snapshot:
        read_everything(snapshot)


@pytest.mark.parametrize(("table", "change"), IMPOSSIBLE, ids=[change for _, change in IMPOSSIBLE])
def test_a_value_that_cannot_be_there_is_told_without_showing_it(
    storage: LocalStorage, table: str, change: str
) -> None:
    write(storage.home / "openmind.sqlite", f"{FULL} {change};")

    found = storage.examine().damage
    assert f"{storage.home / 'openmind.sqlite'}: records of the table {table} hold values that cannot be there" in found
    assert "private" not in "".join(found)
    with storage.catalog.reading() as snapshot, pytest.raises(CatalogDamaged, match="cannot be there") as told:
        read_everything(snapshot)
    assert "private" not in "".join(traceback.format_exception(told.value))
    assert "backup" in str(told.value.hint)


def test_a_missing_catalog_is_damage(storage: LocalStorage) -> None:
    (storage.home / "openmind.sqlite").unlink()

    assert storage.examine().damage


def test_tables_that_were_moved_aside_are_named(storage: LocalStorage) -> None:
    storage.chunks.create("chunks", dimension=4)
    storage.chunks.quarantine("chunks")

    assert [Path(path).name for path in storage.examine().quarantined] == ["chunks.lance.broken-1"]


def test_our_own_catalog_is_ours_whatever_version_wrote_it(storage: LocalStorage, tmp_path: Path) -> None:
    newer = LocalStorage(tmp_path / "newer")
    shutil.copytree(storage.home, newer.home)
    write(newer.home / "openmind.sqlite", "PRAGMA user_version = 9999")
    legacy = LocalStorage(tmp_path / "legacy")
    write(legacy.home / "openmind.sqlite", LEGACY)

    assert [each.is_ours() for each in (storage, newer, legacy)] == [True, True, True]


def test_a_stranger_s_database_is_not(tmp_path: Path) -> None:
    nothing = LocalStorage(tmp_path / "nothing")
    empty = LocalStorage(tmp_path / "empty")
    write(empty.home / "openmind.sqlite", "CREATE TABLE t (x); DROP TABLE t;")
    other = LocalStorage(tmp_path / "other")
    write(other.home / "openmind.sqlite", "CREATE TABLE photos (id); PRAGMA user_version = 3;")
    alike = LocalStorage(tmp_path / "alike")
    write(alike.home / "openmind.sqlite", "CREATE TABLE sources (id); CREATE TABLE files (id);")

    assert [each.is_ours() for each in (nothing, empty, other, alike)] == [False, False, False, False]
