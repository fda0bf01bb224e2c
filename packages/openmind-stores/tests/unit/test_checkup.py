"""Damage in a catalog is found, and a stranger's database told from our own."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from openmind.domain.errors import CatalogDamaged
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
