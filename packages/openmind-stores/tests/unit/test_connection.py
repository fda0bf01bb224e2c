import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from openmind.domain.errors import CatalogDamaged, StoreBusy, StoreError, StoreFull, StoreReadOnly
from openmind_stores.sqlite.catalog import SqliteCatalog
from openmind_stores.sqlite.connection import Link, open_reader, open_writer
from openmind_stores.sqlite.errors import translate, translate_os


@pytest.fixture
def path(tmp_path: Path) -> Path:
    catalog = SqliteCatalog(tmp_path)
    catalog.initialise(written_by=lambda: "0.1.0")
    return catalog.path


@pytest.fixture
def reader(path: Path) -> Iterator[Link]:
    link = open_reader(path)
    yield link
    link.close()


@pytest.fixture
def writer(path: Path) -> Iterator[Link]:
    link = open_writer(path)
    yield link
    link.close()


def failure(code: int) -> sqlite3.Error:
    """Make an error as SQLite raises it."""
    error = sqlite3.OperationalError("it failed")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_FULL, StoreFull),
        (sqlite3.SQLITE_IOERR_WRITE, StoreFull),
        (sqlite3.SQLITE_IOERR_SHMSIZE, StoreFull),
        (sqlite3.SQLITE_READONLY, StoreReadOnly),
        (sqlite3.SQLITE_READONLY_DBMOVED, StoreReadOnly),
        (sqlite3.SQLITE_BUSY, StoreBusy),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreBusy),
        (sqlite3.SQLITE_LOCKED, StoreBusy),
        (sqlite3.SQLITE_PROTOCOL, StoreBusy),
        (sqlite3.SQLITE_CORRUPT, CatalogDamaged),
        (sqlite3.SQLITE_CORRUPT_VTAB, CatalogDamaged),
        (sqlite3.SQLITE_NOTADB, CatalogDamaged),
        (sqlite3.SQLITE_CANTOPEN, StoreError),
        (sqlite3.SQLITE_IOERR_READ, StoreError),
        (sqlite3.SQLITE_ERROR, StoreError),
    ],
)
def test_each_failure_of_sqlite_has_a_name(code: int, kind: type[StoreError]) -> None:
    told = translate(failure(code), Path("/home/ada/.openmind/openmind.sqlite"))

    assert type(told) is kind
    assert "/home/ada/.openmind/openmind.sqlite" in told.message


def test_a_failure_without_a_code_is_a_store_error() -> None:
    assert type(translate(sqlite3.ProgrammingError("closed"), Path("/x"))) is StoreError


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (errno.EACCES, StoreReadOnly),
        (errno.EROFS, StoreReadOnly),
        (errno.ENOSPC, StoreFull),
        (errno.EFBIG, StoreFull),
        (errno.EIO, StoreError),
    ],
)
def test_each_failure_of_the_file_system_has_a_name(code: int, kind: type[StoreError]) -> None:
    assert type(translate_os(OSError(code, os.strerror(code)), Path("/x"))) is kind


def test_every_method_of_a_connection_translates(reader: Link) -> None:
    attempts = (
        lambda: reader.run("SELECT nowhere FROM sources"),
        lambda: reader.run_many("INSERT INTO nowhere VALUES (?)", [(1,)]),
        lambda: reader.run_to_the_end("SELECT nowhere FROM sources"),
        lambda: reader.row("SELECT nowhere FROM sources"),
        lambda: reader.rows("SELECT nowhere FROM sources"),
        lambda: list(reader.stream("SELECT nowhere FROM sources")),
        lambda: reader.value("SELECT nowhere FROM sources"),
    )
    for attempt in attempts:
        with pytest.raises(StoreError, match="no such"):
            attempt()


def test_a_reader_cannot_write(reader: Link) -> None:
    with pytest.raises(StoreReadOnly):
        reader.run("DELETE FROM sources")


def test_a_reader_begins_with_a_snapshot(reader: Link, writer: Link) -> None:
    writer.run("INSERT INTO settings (name, value) VALUES ('late', '1')")

    assert reader.row("SELECT 1 FROM settings WHERE name = 'late'") is None


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("journal_mode", "wal"),
        ("auto_vacuum", 2),
        ("page_size", 8_192),
        ("secure_delete", 1),
        ("synchronous", 2),
        ("wal_autocheckpoint", 0),
        ("foreign_keys", 1),
        ("busy_timeout", 5_000),
        ("temp_store", 2),
        ("trusted_schema", 0),
    ],
)
def test_writers_are_careful(writer: Link, pragma: str, value: object) -> None:
    assert writer.value(f"PRAGMA {pragma}") == value


def test_a_catalog_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        open_reader(tmp_path / "openmind.sqlite")

    assert caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "openmind.sqlite"
    path.write_bytes(b"this is a letter to my aunt\n" * 500)

    with pytest.raises(CatalogDamaged):
        open_reader(path)


def test_a_database_that_was_cut_off_is_damaged(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(5_000)

    with pytest.raises(CatalogDamaged):
        open_reader(path).value("SELECT COUNT(*) FROM files")


@pytest.mark.parametrize(
    "name", ["a?b", "50%41", "#1", "it's", "a b", "ä", "[x]", "a&mode=memory", os.fsdecode(b"\xff")]
)
def test_a_home_may_have_any_name(tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    home.mkdir()
    catalog = SqliteCatalog(home)
    catalog.initialise(written_by=lambda: "0.1.0")

    with catalog.writing() as session:
        session.set_setting("here", name.encode("utf-8", "replace").decode())

    with catalog.reading() as snapshot:
        assert snapshot.setting("here") is not None
    assert (home / "openmind.sqlite").stat().st_size > 0
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [name]


def test_a_relative_home_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    catalog = SqliteCatalog(Path())
    catalog.initialise(written_by=lambda: "0.1.0")

    assert (tmp_path / "openmind.sqlite").exists()
