"""Connections to the catalog: one for each session, with every failure translated."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen
from openmind.domain.errors import StoreError, StoreFull, StoreReadOnly

from openmind_stores.sqlite.errors import translate

Row = tuple[Any, ...]
Parameters = Sequence[object] | Mapping[str, object]

PATIENCE_S: Final = 5.0
"""How long a connection waits for what another one holds."""

_PRAGMAS = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    # Files are read in order of path and lie in order of work: with 2 MB a large catalog would be read many times over.
    "PRAGMA cache_size = -32000",
)
_WRITER_PRAGMAS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    "PRAGMA wal_autocheckpoint = 0",
)


@frozen
class Link:
    """An open connection; its methods raise only OpenMind's errors."""

    _connection: sqlite3.Connection
    path: Path
    _streams: set[sqlite3.Cursor] = field(factory=set, init=False, repr=False, eq=False)

    def be_patient(self, seconds: float) -> None:
        """Wait so long, from now on, for what another connection holds."""
        self.run(f"PRAGMA busy_timeout = {round(1_000 * seconds)}")

    def run(self, sql: str, parameters: Parameters = ()) -> int:
        """Execute a statement to its end; returns how many rows it changed."""
        try:
            cursor = self._connection.execute(sql, parameters)
            cursor.fetchall()
            return cursor.rowcount
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def run_many(self, sql: str, rows: Iterable[Parameters]) -> int:
        """Execute a statement for each row; returns how many rows they changed together."""
        try:
            return self._connection.executemany(sql, rows).rowcount
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def run_to_the_end(self, sql: str) -> None:
        """Execute a pragma that works row by row without giving any; must not be called in a transaction."""
        try:
            self._connection.executescript(sql)
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def row(self, sql: str, parameters: Parameters = ()) -> Row | None:
        """Fetch the first row."""
        try:
            row: Row | None = self._connection.execute(sql, parameters).fetchone()
            return row
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def rows(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Fetch all rows."""
        try:
            return self._connection.execute(sql, parameters).fetchall()
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def stream(self, sql: str, parameters: Parameters = ()) -> Iterator[Row]:
        """Fetch rows one by one, with one row in memory; ends with the connection at the latest."""
        try:
            cursor = self._connection.execute(sql, parameters)
            self._streams.add(cursor)
            # `yield from` would close the cursor of a stream that outlives its connection.
            for row in cursor:  # noqa: UP028
                yield row
            self._streams.remove(cursor)
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """Fetch the first column of the first row; None when there is no row."""
        row = self.row(sql, parameters)
        return row[0] if row else None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write, all or nothing. The caller holds the catalog lock."""
        self.run("BEGIN IMMEDIATE")
        try:
            yield
            self.run("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # what went wrong before is what is told
                self._connection.rollback()
            raise

    def close(self) -> None:
        """Close; the close of a writable connection belongs under the catalog lock.

        A stream that was not read to its end, and that somebody still holds, would keep the connection open.
        """
        try:
            for cursor in self._streams:
                cursor.close()
            self._connection.close()
        except sqlite3.Error as error:
            raise translate(error, self.path) from error


def wal_of(path: Path) -> Path:
    """Where SQLite keeps the write-ahead log of a database."""
    return path.with_name(path.name + "-wal")


def size_of(path: Path) -> int:
    """Size of a file in bytes; 0 when it is not there or cannot be looked at."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def open_reader(path: Path, *, patience_s: float = PATIENCE_S) -> Link:
    """Open a connection that cannot write, in a transaction that sees one state of the catalog.

    Where nothing can be written, or the disk is full, SQLite cannot make its shared-memory file. Nobody else can write
    there either, so the file is read as one that does not change.
    """
    try:
        return _begun(_open(path, "mode=ro", patience_s))
    except StoreError as error:
        if not _is_refused(error) or not size_of(path):
            raise
        if size_of(wal_of(path)):
            raise _unread_log(path, error) from error.__cause__
    return _begun(_open(path, "immutable=1", patience_s))


def open_writer(path: Path, *, patience_s: float = PATIENCE_S) -> Link:
    """Open a connection that can write. The caller holds the catalog lock until it has closed it."""
    link = _open(path, "mode=rw", patience_s)
    try:
        for pragma in _WRITER_PRAGMAS:
            link.run(pragma)
    except BaseException:
        link.close()
        raise
    return link


def _open(path: Path, query: str, patience_s: float) -> Link:
    uri = f"{path.absolute().as_uri()}?{query}"
    try:
        # Sessions are handed from thread to thread by servers, though never used by two at once.
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise translate(error, path) from error
    link = Link(connection, path)
    try:
        link.be_patient(patience_s)
        for pragma in _PRAGMAS:
            link.run(pragma)
    except BaseException:
        link.close()
        raise
    return link


def _begun(link: Link) -> Link:
    try:
        link.run("BEGIN")
        link.run("SELECT 1 FROM sqlite_master")  # a transaction sees nothing before its first read
    except BaseException:
        link.close()
        raise
    return link


def _is_refused(error: StoreError) -> bool:
    """Whether the reason may be that no shared-memory file can be made."""
    cause = error.__cause__
    cannot_open = isinstance(cause, sqlite3.Error) and cause.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CANTOPEN
    return cannot_open or isinstance(error, StoreReadOnly | StoreFull)


def _unread_log(path: Path, error: StoreError) -> StoreError:
    if isinstance(error, StoreFull):
        return error
    return StoreReadOnly(
        f"{path} was not closed in order, and its last changes can only be read where it can be written",
        hint="Open it once with write access: `openmind status` is enough.",
    )
